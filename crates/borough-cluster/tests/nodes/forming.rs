//! How clusters come to be.

use std::time::Duration;

use borough_cluster::{MemberState, Node, NodeBuilder, Standing};
use tempfile::TempDir;

use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn a_node_without_seeds_founds_a_cluster_by_itself() {
    let node = Rig::new(1).node("a:1", &[]).start().await.unwrap();
    let topology = within(node.wait_for(1)).await.unwrap();
    assert_eq!((topology.standing.clone(), topology.tolerates()), (Standing::Member, 0));
    assert_eq!(topology.members[0].incarnation, node.incarnation());
}

#[tokio::test(start_paused = true)]
async fn three_nodes_started_at_once_form_one_cluster() {
    let mut rig = Rig::new(2);
    let seeds = ["a:1", "b:1", "c:1"];
    let starts = seeds.map(|address| rig.node(address, &seeds).start());
    let [a, b, c] = starts;
    let (a, b, c) = tokio::join!(a, b, c);
    let nodes = [a.unwrap(), b.unwrap(), c.unwrap()];
    let mut clusters = Vec::new();
    for node in &nodes {
        clusters.push(within(node.wait_for(3)).await.unwrap().cluster);
    }
    assert!(clusters[0].is_some() && clusters.iter().all(|cluster| *cluster == clusters[0]), "{clusters:?}");
}

#[tokio::test(start_paused = true)]
async fn a_node_joins_by_one_seed_and_all_see_it() {
    let mut rig = Rig::new(3);
    let first = rig.node("a:1", &[]).start().await.unwrap();
    let second = rig
        .node("b:1", &["a:1"])
        .node_id("second")
        .roles(["front", "back", "front"])
        .app_version("7")
        .zone("north")
        .start()
        .await
        .unwrap();
    within(second.wait_for_role("back", 1)).await.unwrap();
    let seen = within(first.wait_for(2)).await.unwrap();
    let member = seen.named("second").next().unwrap();
    assert_eq!(member.incarnation, second.incarnation());
    assert_eq!(
        (member.roles(), member.app_version(), member.zone()),
        (&["back".into(), "front".into()][..], "7", "north")
    );
    assert_eq!((member.state, member.is_reachable), (MemberState::Up, true));
}

#[tokio::test(start_paused = true)]
async fn three_voters_survive_one_loss() {
    let [a, _b, _c] = Rig::new(4).cluster(["a:1", "b:1", "c:1"]).await;
    within(a.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    assert_eq!(a.topology().current().tolerates(), 1);
}

#[tokio::test(start_paused = true)]
async fn nodes_of_other_settings_are_told_which_and_both_values() {
    let mut rig = Rig::new(5);
    let _first = rig.node("a:1", &[]).start().await.unwrap();
    let other = rig.node("b:1", &["a:1"]).max_pause(Duration::from_millis(300)).start().await.unwrap();
    let error = within(other.wait_for(2)).await.unwrap_err().to_string();
    for words in ["max_pause", "300 ms", "400 ms"] {
        assert!(error.contains(words), "{error}");
    }
    assert!(matches!(other.topology().current().standing, Standing::Refused(_)));
    within(other.leave()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_settings_the_cluster_refuses_ends_with_an_error_that_has_both_values() {
    let mut rig = Rig::new(9);
    let _first = rig.node("a:1", &[]).start().await.unwrap();
    let other = rig.node("b:1", &["a:1"]).max_pause(Duration::from_millis(300)).start().await.unwrap();
    let why = within(other.run_until_signal()).await.unwrap_err().to_string();
    assert!(
        why.contains("does not take this node: max_pause is 300 ms here and 400 ms there; it must be"),
        "{why}"
    );
    assert!(other.terminated().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_for_members_is_one_itself_afterwards() {
    let mut rig = Rig::new(10);
    let first = rig.node("a:1", &[]).role("back").start().await.unwrap();
    within(first.wait_for(1)).await.unwrap();
    for address in ["b:1", "c:1"] {
        let joins = rig.node(address, &["a:1"]).start().await.unwrap();
        let (all, of_role) = (joins.wait_for(1), joins.wait_for_role("back", 1));
        let (all, of_role) = within(async { tokio::join!(all, of_role) }).await;
        let standings = (&all.unwrap().standing, &of_role.unwrap().standing);
        assert_eq!(standings, (&Standing::Member, &Standing::Member));
        within(joins.leave()).await.unwrap();
    }
}

/// Three nodes are a cluster, and a further one that is set otherwise is refused: it names the setting, its own value and that of the cluster.
async fn other_is_refused(
    seed: u64,
    cluster: impl Fn(NodeBuilder) -> NodeBuilder,
    other: impl Fn(NodeBuilder) -> NodeBuilder,
    words: &str,
) {
    let mut rig = Rig::new(seed);
    let nodes = rig.cluster_with(["a:1", "b:1", "c:1"], cluster).await;
    let other = other(rig.node("d:1", &["a:1"])).start().await.unwrap();
    let error = within(other.wait_for(4)).await.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
    assert!(!error.contains("durable"), "the name inside of the code: {error}");
    assert!(matches!(other.topology().current().standing, Standing::Refused(_)));
    after(Duration::from_secs(5)).await;
    for node in &nodes {
        let topology = node.topology().current();
        assert_eq!((&topology.standing, topology.members.len()), (&Standing::Member, 3));
    }
}

/// Each builder gets a directory of its own.
fn durable(folder: &TempDir) -> impl Fn(NodeBuilder) -> NodeBuilder {
    let count = std::cell::Cell::new(0);
    move |builder| {
        count.set(count.get() + 1);
        builder.data_dir(folder.path().join(format!("{}", count.get())))
    }
}

#[tokio::test(start_paused = true)]
async fn a_volatile_node_is_refused_by_a_cluster_with_data_directories() {
    let folder = TempDir::new().unwrap();
    let words = "data_dir is not set (volatile) here and set there";
    other_is_refused(6, durable(&folder), NodeBuilder::volatile, words).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_with_a_data_directory_is_refused_by_a_volatile_cluster() {
    let folder = TempDir::new().unwrap();
    let words = "data_dir is set here and not set (volatile) there";
    other_is_refused(7, NodeBuilder::volatile, durable(&folder), words).await;
}

#[tokio::test]
async fn nodes_form_a_cluster_over_tcp() {
    let first = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let seed = first.address().to_string();
    let second = Node::builder("test").listen("127.0.0.1:0").seed(seed).start().await.unwrap();
    within(first.wait_for(2)).await.unwrap();
    within(second.wait_for(2)).await.unwrap();
    within(second.leave()).await.unwrap();
    within(first.leave()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nobody_is_admitted_before_enough_nodes_of_a_role_are_there() {
    let mut rig = Rig::new(77);
    let mut start = |address: &'static str, role: &'static str| {
        rig.node(address, &["a:1"]).role(role).minimum_members_of("back", 2).start()
    };
    let front = start("a:1", "front").await.unwrap();
    let first = start("b:1", "back").await.unwrap();
    after(Duration::from_secs(30)).await;
    assert_eq!(first.topology().current().up().count(), 0);
    let second = start("c:1", "back").await.unwrap();
    for node in [&front, &first, &second] {
        within(node.wait_for(3)).await.unwrap();
    }
}
