//! Data directories that nodes of released formats wrote. Nodes of every later version go on with them: three members are their cluster again, one that left and the last of
//! its cluster found another one together, and one that promised waits for the founder that has its promise.
//!
//! A set of directories is written once, by the version that has its format first, and never again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{ClusterId, Node, Region, Standing};
use borough_sqlite::{FORMAT, RecordState, inspect};
use tempfile::TempDir;

use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

/// The sets, the newest last.
const SETS: [&str; 1] = ["nodes-v3"];

const MEMBERS: [&str; 3] = ["a", "b", "c"];
const MEMBERS_LISTEN: [&str; 3] = ["a:1", "b:1", "c:1"];
/// One left, the other was the last to leave.
const PARTED_LISTEN: [&str; 2] = ["left:1", "ended:1"];
/// The lesser address has the promise of the other.
const PROMISED_LISTEN: [&str; 2] = ["founder:1", "giver:1"];

/// Longer than a founding takes, and than a node looks for its cluster before it does anything else.
const LONG: Duration = Duration::from_secs(60);

fn golden(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(set)
}

/// Every data directory of a set.
const DIRECTORIES: [&str; 7] = ["a", "b", "c", "left", "ended", "founder", "giver"];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(|file| file.unwrap().path()) {
        // What other files hold was taken into this one when the directory was closed.
        if file.extension().is_some_and(|extension| extension == "sqlite") {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

/// A copy of that set, to be changed.
fn copy_of(set: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in DIRECTORIES {
        copy(&golden(set).join(name), &folder.path().join(name));
    }
    folder
}

/// What is said of a cluster in the file of that name beside the directories.
fn said_of(cluster: ClusterId) -> String {
    format!("{} {}", cluster.era, cluster.founder)
}

fn noted(set: &str, name: &str) -> String {
    fs::read_to_string(golden(set).join(name)).unwrap()
}

#[derive(Default)]
struct Echo;

impl Actor for Echo {
    type Msg = Reply<u64>;
    async fn receive(&mut self, reply: Reply<u64>, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(7);
        Ok(())
    }
}

async fn echoes(node: &Node) -> Region<Reply<u64>> {
    node.shard("echoes", |_| Echo).shards(16).start().await.unwrap()
}

/// The directory of a node is called as the address begins.
async fn start(rig: &mut Rig, folder: &Path, address: &str, seeds: &[&str]) -> Node {
    let name = address.split(':').next().unwrap();
    rig.node(address, seeds).data_dir(folder.join(name)).start().await.unwrap()
}

async fn works(node: &Node) -> ClusterId {
    let topology = node.topology();
    let member = topology.wait_until(|topology| topology.standing == Standing::Member);
    within(member).await.unwrap().cluster.unwrap()
}

fn is_member(node: &Node) -> bool {
    node.topology().current().standing == Standing::Member
}

/// Writes the newest set, if it is told to and there is none yet.
#[tokio::test(start_paused = true)]
async fn a_set_of_this_version_is_written_on_demand() {
    let newest = golden(SETS[SETS.len() - 1]);
    if std::env::var("BOROUGH_GOLDEN").is_ok_and(|value| value == "write") && !newest.exists() {
        let folder = TempDir::new().unwrap();
        let said = [
            ("cluster.txt", write_members(folder.path()).await),
            ("parted.txt", write_parted(folder.path()).await),
        ];
        write_promised(folder.path()).await;
        after(Duration::from_secs(1)).await;
        for name in DIRECTORIES {
            copy(&folder.path().join(name), &newest.join(name));
        }
        for (name, cluster) in said {
            fs::write(newest.join(name), said_of(cluster)).unwrap();
        }
    }
}

/// Three voters with a type whose shards have owners. They crash.
async fn write_members(folder: &Path) -> ClusterId {
    let mut rig = Rig::new(300);
    let mut nodes = Vec::new();
    for address in MEMBERS_LISTEN {
        nodes.push(start(&mut rig, folder, address, &MEMBERS_LISTEN).await);
    }
    let voters = nodes[0].topology();
    within(voters.wait_until(|topology| topology.voters.now.len() == 3 && topology.voters.next.is_empty()))
        .await
        .unwrap();
    for node in &nodes {
        let region = echoes(node).await;
        assert_eq!(within(region.ask("one", |reply| reply)).await.unwrap(), 7);
    }
    after(LONG).await;
    works(&nodes[0]).await
}

/// Two of which one leaves, and then the other.
async fn write_parted(folder: &Path) -> ClusterId {
    let mut rig = Rig::new(301);
    let [left, ended] = PARTED_LISTEN;
    let left = start(&mut rig, folder, left, &PARTED_LISTEN).await;
    let ended = start(&mut rig, folder, ended, &PARTED_LISTEN).await;
    within(ended.wait_for(2)).await.unwrap();
    let cluster = works(&ended).await;
    within(left.leave()).await.unwrap();
    within(ended.leave()).await.unwrap();
    cluster
}

/// One that promised to another, which crashes in that moment, as does the first.
async fn write_promised(folder: &Path) {
    let mut rig = Rig::new(302);
    let [founder, giver] = PROMISED_LISTEN;
    let founder = start(&mut rig, folder, founder, &PROMISED_LISTEN).await;
    let giver = start(&mut rig, folder, giver, &PROMISED_LISTEN).await;
    for _ in 0..1000 {
        if inspect(folder.join("giver")).unwrap().loaded.pledges.is_some() {
            break;
        }
        after(Duration::from_millis(1)).await;
    }
    drop((founder, giver));
}

#[test]
fn the_newest_set_is_of_the_present_format() {
    let newest = SETS[SETS.len() - 1];
    let folder = copy_of(newest);
    for name in DIRECTORIES {
        let found = inspect(folder.path().join(name)).unwrap();
        assert_eq!(found.format, FORMAT, "{name}: write a set of this format, and keep those that there are");
    }
}

#[test]
fn the_sets_have_each_kind_of_directory() {
    for set in SETS {
        let folder = copy_of(set);
        let found = DIRECTORIES.map(|name| inspect(folder.path().join(name)).unwrap().loaded);
        let states = found.each_ref().map(|loaded| loaded.record.as_ref().map(|record| record.state));
        let [member, left, ended] = [RecordState::Member, RecordState::Left, RecordState::Ended].map(Some);
        assert_eq!(states, [member, member, member, left, ended, None, None], "{set}");
        let promised = found.each_ref().map(|loaded| loaded.pledges.is_some());
        assert!(promised[6], "{set}: nothing was promised");
        assert!(found[..3].iter().all(|loaded| loaded.voter.is_some()), "{set}");
    }
}

#[tokio::test(start_paused = true)]
async fn three_members_are_the_cluster_that_they_were() {
    for set in SETS {
        let folder = copy_of(set);
        let mut rig = Rig::new(310);
        let mut nodes = vec![start(&mut rig, folder.path(), MEMBERS_LISTEN[0], &[]).await];
        after(LONG).await;
        assert!(!is_member(&nodes[0]), "{set}: one of three works alone");
        for address in &MEMBERS_LISTEN[1..] {
            nodes.push(start(&mut rig, folder.path(), address, &[]).await);
        }
        for (node, name) in nodes.iter().zip(MEMBERS) {
            assert_eq!(said_of(works(node).await), noted(set, "cluster.txt"), "{set}: {name}");
            within(node.wait_for(3)).await.unwrap();
        }
        assert_eq!(nodes[0].topology().current().voters.now.len(), 3, "{set}");
        for node in &nodes {
            let region = echoes(node).await;
            assert_eq!(within(region.ask("one", |reply| reply)).await.unwrap(), 7, "{set}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_left_founds_nothing_alone() {
    for set in SETS {
        let folder = copy_of(set);
        let left = start(&mut Rig::new(311), folder.path(), "left:1", &[]).await;
        after(LONG).await;
        assert!(!is_member(&left), "{set}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_of_a_cluster_founds_one_of_a_later_era() {
    for set in SETS {
        let folder = copy_of(set);
        let ended = start(&mut Rig::new(312), folder.path(), "ended:1", &[]).await;
        let cluster = works(&ended).await;
        let before: u32 = noted(set, "parted.txt").split(' ').next().unwrap().parse().unwrap();
        assert!(cluster.era > before, "{set}: {} after {before}", cluster.era);
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_left_and_the_last_of_its_cluster_found_one_together() {
    for set in SETS {
        let folder = copy_of(set);
        let mut rig = Rig::new(313);
        let mut nodes = Vec::new();
        for address in PARTED_LISTEN {
            nodes.push(start(&mut rig, folder.path(), address, &PARTED_LISTEN).await);
        }
        within(nodes[0].wait_for(2)).await.unwrap();
        let (one, other) = (works(&nodes[0]).await, works(&nodes[1]).await);
        assert_eq!(one, other, "{set}");
        assert_ne!(said_of(one), noted(set, "parted.txt"), "{set}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_promised_waits_for_the_founder_that_has_its_promise() {
    for set in SETS {
        let folder = copy_of(set);
        let mut rig = Rig::new(314);
        let (warnings, _guard) = Warnings::listen();
        // Its list does not name the founder any more.
        let giver = start(&mut rig, folder.path(), "giver:1", &["giver:1"]).await;
        after(LONG).await;
        assert!(!is_member(&giver), "{set}");
        let lines = warnings.with("founders=[founder:1]");
        assert!(!lines.is_empty(), "{set}: the log does not name the founder");
        let founder = start(&mut rig, folder.path(), "founder:1", &PROMISED_LISTEN).await;
        within(founder.wait_for(2)).await.unwrap();
        assert_eq!(works(&founder).await, works(&giver).await, "{set}");
    }
}
