//! The disk of a data directory fails, does not answer, or holds what no voter writes: the node says so, and is not ready.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use borough_cluster::{Node, Standing};
use borough_management::Management;
use borough_management::view::{ClusterEvent, DataDirectory, EventKind, Health, Stats};
use borough_sqlite::failpoints::{Fault, Hook, Step};
use borough_sqlite::{DataDirectory as Directory, OpenOptions, Operation};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::client::{BOUND, Listener, get};
use crate::fleet::until;
use crate::openapi::check;

/// After so long without an answer the disk of the second test counts as stuck.
const STUCK_AFTER: Duration = Duration::from_millis(600);

/// What the disk does with the transactions that come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Works,
    Fails(Fault),
    /// It neither answers nor fails.
    Stuck,
}

/// A disk whose mood a test sets.
#[derive(Clone)]
struct Moody(Arc<(Mutex<Mood>, Condvar)>);

impl Moody {
    fn new() -> Self {
        Self(Arc::new((Mutex::new(Mood::Works), Condvar::new())))
    }

    fn set(&self, mood: Mood) {
        *self.0.0.lock().unwrap() = mood;
        self.0.1.notify_all();
    }

    fn hook(&self) -> Hook {
        let disk = self.clone();
        Arc::new(move |_, step| {
            let (mood, changed) = &*disk.0;
            let mood = mood.lock().unwrap();
            match *changed.wait_while(mood, |mood| step == Step::Begin && *mood == Mood::Stuck).unwrap() {
                Mood::Fails(fault) if step == Step::Commit => Err(fault),
                Mood::Works | Mood::Stuck | Mood::Fails(_) => Ok(()),
            }
        })
    }
}

/// The next event about a data directory.
async fn next_about_disk(listener: &mut Listener) -> (ClusterEvent, Value) {
    let told = async {
        loop {
            let (_, data) = listener.next().await.expect("the stream has ended");
            let event: ClusterEvent = serde_json::from_str(&data).unwrap();
            if event.what == EventKind::DataDirectory {
                return (event, serde_json::from_str(&data).unwrap());
            }
        }
    };
    timeout(BOUND, told).await.expect("no event about the data directory")
}

fn directory(stats: &Stats, node: &str) -> Option<DataDirectory> {
    stats.nodes.iter().find(|one| one.node == node)?.data_directory.clone()
}

fn has(metrics: &str, sample: &str) {
    assert!(metrics.lines().any(|line| line == sample), "{sample}: {metrics}");
}

#[tokio::test]
async fn a_node_whose_disk_is_full_or_fails_is_not_ready_and_says_which_directory_and_what_to_do() {
    for (fault, cause) in
        [(Fault::Full, "there is no room on the disk of"), (Fault::Io, "could not be written")]
    {
        let (folder, moody) = (TempDir::new().unwrap(), Moody::new());
        let path = folder.path().display().to_string();
        let node = Node::builder("fleet").listen("127.0.0.1:0").node_id("a").data_dir(folder.path());
        let node = node.data_hook(moody.hook()).start().await.unwrap();
        let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
        let address = management.address();
        until(address, "/health/ready", |health: &Health| health.ok).await;
        assert!(node.is_ready_for(&[]));
        let metrics = get(address, "/metrics").await.body;
        has(&metrics, "borough_data_directory_is_working 1");
        has(&metrics, "borough_data_directory_failures_total{what=\"failed\"} 0");
        let whole: Value = get(address, "/openapi.json").await.of();
        let (_, mut listener) = Listener::open(address, "/api/events?after=0", None).await;

        moody.set(Mood::Fails(fault));
        let health: Health = until(address, "/health/ready", |health: &Health| !health.ok).await;
        let why = health.why.unwrap();
        let words = format!("the data directory {path} cannot be written, and the node does not vote: ");
        assert!(why.starts_with(&words) && why.contains(cause), "{why}");
        assert!(why.ends_with("; repair the disk of that directory, then start the process again"), "{why}");
        assert!(!node.is_ready_for(&[]));
        assert_eq!(get(address, "/health/live").await.status, 200, "a restart on a full disk helps nobody");

        let (event, written) = next_about_disk(&mut listener).await;
        check(&whole, &whole["components"]["schemas"]["ClusterEvent"], &written, "ClusterEvent");
        assert_eq!((event.node.as_deref(), event.seen_by.as_str()), (Some("a"), "a"));
        assert_eq!(event.text, format!("a: {why}"));

        let metrics = get(address, "/metrics").await.body;
        has(&metrics, "borough_data_directory_is_working 0");
        has(&metrics, "borough_data_directory_failures_total{what=\"failed\"} 1");
        has(&metrics, "borough_data_directory_failures_total{what=\"stuck\"} 0");
        let stats: Value = get(address, "/api/stats").await.of();
        check(&whole, &whole["components"]["schemas"]["Stats"], &stats, "Stats");
        let data = directory(&serde_json::from_value(stats).unwrap(), "a").unwrap();
        assert_eq!((data.path, data.state.as_str(), data.trouble), (path, "failed", Some(why)));
        assert!(data.longest_write_nanos >= data.last_write_nanos && data.last_write_nanos > 0);
    }
}

#[tokio::test]
async fn a_node_whose_disk_is_stuck_stays_a_member_and_is_ready_again_once_the_disk_answers() {
    let (folders, moody) = ([(); 3].map(|()| TempDir::new().unwrap()), Moody::new());
    let mut nodes: Vec<Node> = Vec::new();
    for (name, folder) in ["a", "b", "c"].into_iter().zip(&folders) {
        let mut builder = Node::builder("fleet").listen("127.0.0.1:0").node_id(name).data_dir(folder.path());
        builder = builder.seeds(nodes.first().map(|first| first.address().to_string()));
        if name == "c" {
            builder = builder.data_hook(moody.hook()).data_stuck_after(STUCK_AFTER);
        }
        nodes.push(builder.start().await.unwrap());
    }
    for node in &nodes {
        let topology = node.topology();
        let whole = topology.wait_until(|topology| topology.voters.now.len() == 3);
        timeout(BOUND, whole).await.unwrap().unwrap();
    }
    let path = folders[2].path().display().to_string();
    let mut managements = Vec::new();
    for node in &nodes {
        managements.push(Management::builder(node).listen("127.0.0.1:0").start().await.unwrap());
    }
    let [a, _, c] = [0, 1, 2].map(|at| managements[at].address());
    until(c, "/health/ready", |health: &Health| health.ok).await;
    let (_, mut listener) = Listener::open(c, "/api/events", None).await;

    moody.set(Mood::Stuck);
    let health: Health = until(c, "/health/ready", |health: &Health| !health.ok).await;
    let why = health.why.unwrap();
    let words = format!("the data directory {path} has taken no write for ");
    assert!(why.starts_with(&words) && why.contains("look at the disk of that directory"), "{why}");
    assert_eq!(health.standing, "member", "the others renew its lease");
    let (event, _) = next_about_disk(&mut listener).await;
    assert!(event.text.starts_with(&format!("c: {words}")), "{}", event.text);
    has(&get(c, "/metrics").await.body, "borough_data_directory_is_working 0");
    let is_told = |stats: &Stats| directory(stats, "c").is_some_and(|data| data.state == "stuck");
    let stats: Stats = until(a, "/api/stats", is_told).await;
    assert!(directory(&stats, "c").unwrap().silent_millis >= 600);
    assert_eq!(directory(&stats, "a").unwrap().state, "works");
    assert!(until(a, "/health/ready", |health: &Health| health.ok).await.why.is_none());

    moody.set(Mood::Works);
    until(c, "/health/ready", |health: &Health| health.ok).await;
    let (event, _) = next_about_disk(&mut listener).await;
    assert_eq!(event.text, format!("c: the data directory {path} takes writes again, and the node votes"));
    let data = nodes[2].data_directory().unwrap();
    assert!(data.stalls >= 1 && data.longest_write >= STUCK_AFTER / 3, "{data:?}");
}

/// No voter reaches that term.
const NO_TERM: u64 = 1 << 62;

#[tokio::test]
async fn a_node_whose_directory_holds_no_log_of_a_voter_is_not_ready_and_no_restart_is_asked_for() {
    let folder = TempDir::new().unwrap();
    let start = || Node::builder("fleet").listen("127.0.0.1:0").node_id("a").data_dir(folder.path());
    let node = start().start().await.unwrap();
    timeout(BOUND, node.wait_for(1)).await.unwrap().unwrap();
    // Alone, so its directory stays that of a voter.
    let topology = node.topology();
    drop(node);
    while topology.current().standing != Standing::Stopped {
        timeout(BOUND, topology.clone().changed()).await.unwrap().unwrap();
    }
    let (mut directory, _) = Directory::open(folder.path(), &OpenOptions::new("fleet")).unwrap();
    directory.write(&[Operation::SetTermAndVote { term: NO_TERM, vote: None }]).unwrap();
    directory.close().unwrap();

    let node = start().start().await.unwrap();
    let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let address = management.address();
    let is_over = |health: &Health| health.standing.starts_with("failed: ");
    let health: Health = until(address, "/health/ready", is_over).await;
    let why = health.why.unwrap();
    assert!(why.contains("does not hold the log of a voter") && why.contains("does not help"), "{why}");
    let live = get(address, "/health/live").await;
    assert_eq!((live.status, live.of::<Health>().ok), (200, true), "a restart would fail in the same way");
}
