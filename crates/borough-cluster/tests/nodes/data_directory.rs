//! Data directories: who must choose one, what is said of one that cannot be used, and what is there after a restart, on real sockets, threads and disks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{
    ClusterId, Config, ConfigError, DataError, DurabilityError, Node, NodeBuilder, Standing, StartError,
};
use tempfile::TempDir;

use crate::rig::after;

fn local(cluster: &str, directory: &Path) -> NodeBuilder {
    Node::builder(cluster).listen("127.0.0.1:0").data_dir(directory)
}

async fn refused(builder: NodeBuilder) -> String {
    let error = builder.start().await.unwrap_err();
    assert!(matches!(error, StartError::Data(DataError::Open(_))), "{error:?}");
    error.to_string()
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

/// Starts a node whose last life was dropped: its threads may still be about to give address and directory free.
async fn start_again(builder: impl Fn() -> NodeBuilder) -> Node {
    for _ in 0..600 {
        match builder().start().await {
            Ok(node) => return node,
            Err(StartError::Listen { .. } | StartError::Data(DataError::Open(_))) => {
                after(Duration::from_millis(50)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the node before has not ended");
}

async fn works(node: &Node) -> ClusterId {
    let topology = node.topology();
    let member = topology.wait_until(|topology| topology.standing == Standing::Member);
    let member = tokio::time::timeout(Duration::from_secs(60), member);
    member.await.expect("a minute is enough").unwrap().cluster.unwrap()
}

#[tokio::test]
async fn a_node_that_others_reach_must_choose_what_survives_a_restart() {
    let open = || Node::builder("test").listen("0.0.0.0:0").advertise("127.0.0.1:9").insecure().found_alone();
    let error = open().start().await.unwrap_err();
    assert!(matches!(error, StartError::Durability(DurabilityError::NotChosen { .. })), "{error}");
    says(
        &error.to_string(),
        &["0.0.0.0:0", ".data_dir(path)", ".volatile()", "survives any restart", "two may run"],
    );
    let folder = TempDir::new().unwrap();
    let error = open().volatile().data_dir(folder.path()).start().await.unwrap_err();
    assert!(matches!(error, StartError::Durability(DurabilityError::Both { .. })), "{error}");
    says(&error.to_string(), &["are both set by code"]);
    let _volatile = open().volatile().start().await.unwrap();
    let _durable = open().data_dir(folder.path()).start().await.unwrap();
}

#[tokio::test]
async fn settings_without_the_choice_are_refused_by_the_check_and_by_the_start_with_the_same_error() {
    let text = "[node]\nlisten = \"0.0.0.0:0\"\nadvertise = \"127.0.0.1:9\"\nfound_alone = true\n[security]\ninsecure = true";
    let config = Config::parse("borough.toml", text).unwrap();
    let checked = config.check().unwrap_err();
    assert!(
        matches!(&checked, ConfigError::Durability { error: DurabilityError::NotChosen { .. }, .. }),
        "{checked}"
    );
    let started = Node::builder("test").config(config.clone()).start().await.unwrap_err();
    assert!(matches!(&started, StartError::Config(ConfigError::Durability { .. })), "{started:?}");
    assert_eq!(started.to_string(), checked.to_string());
    says(
        &started.to_string(),
        &["node.listen = 0.0.0.0:0 (borough.toml:2)", ".data_dir(path)", ".volatile()"],
    );
    let _node = Node::builder("test").config(config).volatile().start().await.unwrap();
}

#[tokio::test]
async fn a_data_directory_of_a_higher_layer_wins_over_volatile_of_a_lower_one() {
    let folder = TempDir::new().unwrap();
    let config = Config::parse("borough.toml", "[node]\nlisten = \"127.0.0.1:0\"\nvolatile = true").unwrap();
    let path = folder.path().display().to_string();
    let above = Config::from_vars([("BOROUGH_NODE_DATA_DIR".to_owned(), path.clone())]).unwrap();
    let node = Node::builder("test").config(config).config(above).start().await.unwrap();
    assert_eq!(node.data_directory().unwrap().path, path);
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_said_with_its_path_and_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("node");
    let text = path.display().to_string();

    let first = local("test", &path).start().await.unwrap();
    let pid = std::process::id().to_string();
    says(&refused(local("test", &path)).await, &[&text, &pid]);
    first.shutdown().await;

    says(&refused(local("other", &path)).await, &[&text, "test", "other"]);

    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("photo.jpg"), "not ours").unwrap();
    says(&refused(local("test", &foreign)).await, &[&foreign.display().to_string(), "photo.jpg"]);

    for file in fs::read_dir(&path).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|extension| extension != "lock") {
            let mut bytes = fs::read(&file).unwrap();
            let half = bytes.len() / 2;
            bytes[half..].fill(0xa5);
            fs::write(&file, bytes).unwrap();
        }
    }
    says(&refused(local("test", &path)).await, &[&text]);
}

#[tokio::test]
async fn a_node_alone_is_the_same_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let builder = || local("test", folder.path());
    let node = builder().start().await.unwrap();
    let before = works(&node).await;
    // Dropped: the others, had it any, would see a crash.
    drop(node);
    let node = start_again(builder).await;
    assert_eq!(works(&node).await, before);
    node.leave().await.unwrap();
    node.shutdown().await;
    // It was the last: the next one is another cluster, in a later era.
    let node = builder().start().await.unwrap();
    let after = works(&node).await;
    assert!(after.era > before.era && after.founder != before.founder, "{before:?} {after:?}");
}

/// Listeners that take fixed ports, so that the nodes find each other again.
async fn three(ports: [u16; 3], folder: &TempDir) -> Vec<Node> {
    let seeds = ports.map(|port| format!("127.0.0.1:{port}"));
    let mut nodes = Vec::new();
    for (place, seed) in seeds.iter().enumerate() {
        let builder = || {
            let builder = Node::builder("test").listen(seed).seeds(seeds.clone());
            builder.data_dir(folder.path().join(place.to_string()))
        };
        nodes.push(start_again(builder).await);
    }
    nodes
}

fn free_ports() -> [u16; 3] {
    let taken = [0; 3].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    taken.map(|listener| listener.local_addr().unwrap().port())
}

#[tokio::test]
async fn three_nodes_are_the_same_cluster_after_all_of_them_stopped() {
    let (folder, ports) = (TempDir::new().unwrap(), free_ports());
    let nodes = three(ports, &folder).await;
    let mut clusters = Vec::new();
    for node in &nodes {
        clusters.push(works(node).await);
    }
    let all_vote = |node: &Node| {
        let topology = node.topology();
        async move { topology.wait_until(|topology| topology.voters.now.len() == 3).await.unwrap() }
    };
    let voters =
        tokio::time::timeout(Duration::from_secs(60), all_vote(&nodes[0])).await.unwrap().voters.now.clone();
    drop(nodes);
    let nodes = three(ports, &folder).await;
    for node in &nodes {
        clusters.push(works(node).await);
    }
    clusters.dedup();
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(nodes[0].topology().current().voters.now, voters, "the voters are those that they were");
}

/// Where a directory of the first version is kept.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/data-v1")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
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

/// Writes the golden directory, if it is told to: a node alone, with a type and a shard that has an owner.
#[tokio::test]
async fn a_directory_of_this_version_is_written_on_demand() {
    if std::env::var("BOROUGH_GOLDEN").is_ok_and(|value| value == "write") {
        let folder = TempDir::new().unwrap();
        let node = local("golden", folder.path()).start().await.unwrap();
        let cluster = works(&node).await;
        let region = node.shard("echoes", |_| Echo).start().await.unwrap();
        assert_eq!(region.ask("one", |reply| reply).await.unwrap(), 7);
        // Stopped, not left: it belongs to its cluster still.
        drop((region, node));
        drop(start_again(|| local("golden", folder.path())).await);
        after(Duration::from_secs(3)).await;
        fs::remove_dir_all(golden()).ok();
        copy(folder.path(), &golden());
        fs::write(golden().join("cluster.txt"), format!("{} {}", cluster.era, cluster.founder)).unwrap();
    }
}

#[tokio::test]
async fn a_directory_of_the_first_version_is_gone_on_with() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("node");
    copy(&golden(), &path);
    let expected = fs::read_to_string(path.join("cluster.txt")).unwrap();
    fs::remove_file(path.join("cluster.txt")).unwrap();
    let node = local("golden", &path).start().await.unwrap();
    let cluster = works(&node).await;
    assert_eq!(format!("{} {}", cluster.era, cluster.founder), expected);
    let region = node.shard("echoes", |_| Echo).start().await.unwrap();
    assert_eq!(region.ask("one", |reply| reply).await.unwrap(), 7);
}
