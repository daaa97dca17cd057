//! The end of a node is on its disk before anybody hears of it: what a directory says after `leave()` and `close_cluster()` were `Ok`.

use std::path::Path;
use std::time::Duration;

use borough_cluster::{Node, Standing};
use borough_sqlite::{DataDirectory, OpenOptions, RecordState};
use tempfile::TempDir;
use tokio::time::timeout;

/// How long anything may take on a machine that has much else to do.
const BOUND: Duration = Duration::from_secs(60);

async fn member(directory: &Path, seeds: &[String]) -> Node {
    let builder = Node::builder("test").data_dir(directory);
    let builder = match seeds {
        [] => builder.listen("127.0.0.1:0"),
        [first, ..] => builder.listen("127.0.0.1:0").seeds([first.clone()]),
    };
    let node = builder.start().await.unwrap();
    let topology = node.topology();
    let member = topology.wait_until(|topology| topology.standing == Standing::Member);
    timeout(BOUND, member).await.expect("a minute is enough").unwrap();
    node
}

/// What the record says, of a directory that is opened now.
fn says(directory: &Path) -> RecordState {
    let (_, loaded) = DataDirectory::open(directory, &OpenOptions::new("test")).unwrap();
    loaded.record.unwrap().state
}

#[tokio::test]
async fn who_left_finds_it_in_its_directory_at_once() {
    let [first, second] = [(); 2].map(|()| TempDir::new().unwrap());
    let one = member(first.path(), &[]).await;
    let two = member(second.path(), &[one.address().as_str().to_owned()]).await;
    timeout(BOUND, two.leave()).await.unwrap().unwrap();
    assert_eq!(says(second.path()), RecordState::Left);
    // The last to leave ends the cluster.
    timeout(BOUND, one.leave()).await.unwrap().unwrap();
    assert_eq!(says(first.path()), RecordState::Ended);
}

#[tokio::test]
async fn who_closed_the_cluster_finds_it_in_its_directory_at_once() {
    let [first, second] = [(); 2].map(|()| TempDir::new().unwrap());
    let one = member(first.path(), &[]).await;
    let two = member(second.path(), &[one.address().as_str().to_owned()]).await;
    timeout(BOUND, two.close_cluster()).await.unwrap().unwrap();
    assert_eq!(says(second.path()), RecordState::Ended);
    let over = one.topology();
    timeout(BOUND, over.wait_until(|_| false)).await.unwrap().unwrap_err();
    assert_eq!(says(first.path()), RecordState::Ended);
}
