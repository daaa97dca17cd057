//! A node that waits says for what, and what to do.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_cluster::{Address, Discovery, DiscoveryError, FoundWith, Seeds, Standing};

use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

/// A node that has waited for so long warns.
const WARNS: Duration = Duration::from_secs(16);
const SEEKS: &str = "waiting for seeds before a cluster is founded or joined";

fn last(warnings: &Warnings, words: &str) -> String {
    warnings.with(words).pop().unwrap_or_else(|| panic!("nobody said {words:?}"))
}

/// That line has each of these.
fn assert_says(line: &str, all: &[&str]) {
    for words in all {
        assert!(line.contains(words), "not {words:?}: {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_resolve_is_told_apart_from_addresses_that_do_not_answer() {
    let mut rig = Rig::new(110);
    let (warnings, _guard) = Warnings::listen();
    let seeds = ["a:1", "b:1", "seed.invalid:1", "never:1"];
    rig.network.unresolve(&Address::new("seed.invalid:1"));
    let first = rig.node("a:1", &seeds).start().await.unwrap();
    let second = rig.node("b:1", &seeds).start().await.unwrap();
    after(Duration::from_secs(10)).await;
    drop(second);
    after(WARNS).await;
    assert_eq!(first.topology().current().standing, Standing::Seeking);
    let line = last(&warnings, SEEKS);
    assert_says(&line, &["unresolved=[seed.invalid:1] ", " never_answered=[never:1] ", " silent=[b:1] "]);
    assert_says(
        &line,
        &["check how the unresolved names are spelled", "getent hosts", "start the silent nodes"],
    );
    // The name resolves, and nobody listens there.
    rig.network.resolve(&Address::new("seed.invalid:1"));
    after(Duration::from_secs(6)).await;
    let line = last(&warnings, SEEKS);
    assert_says(&line, &["unresolved=[] ", " never_answered=[never:1, seed.invalid:1] "]);
    assert!(!line.contains("getent"), "{line}");
}

#[tokio::test(start_paused = true)]
async fn a_node_joins_once_the_name_of_its_seed_resolves() {
    let mut rig = Rig::new(111);
    let seed = Address::new("seed.invalid:1");
    rig.network.unresolve(&seed);
    let first = rig.node(seed.as_str(), &[]).start().await.unwrap();
    let second = rig.node("b:1", &[seed.as_str()]).start().await.unwrap();
    let (warnings, _guard) = Warnings::listen();
    after(WARNS).await;
    assert_says(
        &last(&warnings, SEEKS),
        &["unresolved=[seed.invalid:1] ", " never_answered=[] ", " silent=[] "],
    );
    rig.network.resolve(&seed);
    within(second.wait_for(2)).await.unwrap();
    within(first.wait_for(2)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_suspended_node_says_which_voter_is_silent_and_whose_name_does_not_resolve() {
    let mut rig = Rig::new(112);
    let [first, second, third] = rig.cluster(["a:1", "b.invalid:1", "c:1"]).await;
    within(first.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let (warnings, _guard) = Warnings::listen();
    rig.network.unresolve(&Address::new("b.invalid:1"));
    drop((second, third));
    after(Duration::from_secs(25)).await;
    assert_eq!(first.topology().current().standing, Standing::Suspended);
    let line = last(&warnings, "waiting for a majority of the voters of this node's cluster");
    assert_says(
        &line,
        &["unresolved=[b.invalid:1] ", " never_answered=[] ", " silent=[c:1] ", "getent hosts"],
    );
}

/// Finds one seed, until its name is gone.
#[derive(Clone, Default)]
struct Fading {
    is_gone: Arc<AtomicBool>,
}

impl Discovery for Fading {
    fn seeds(&self) -> Seeds<'_> {
        let is_gone = self.is_gone.load(Ordering::Relaxed);
        Box::pin(async move {
            if is_gone {
                let (name, source) = ("bank.invalid".to_owned(), io::Error::other("no such name"));
                return Err(DiscoveryError::Name { name, source });
            }
            Ok(vec![Address::new("x:1")])
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_says_that_its_discovery_fails() {
    let mut rig = Rig::new(113);
    let (warnings, _guard) = Warnings::listen();
    let fading = Fading::default();
    let _node = rig.node("a:1", &[]).discovery(fading.clone()).expect(2).start().await.unwrap();
    after(WARNS).await;
    let line = last(&warnings, SEEKS);
    assert!(!line.contains("discovery="), "{line}");
    fading.is_gone.store(true, Ordering::Relaxed);
    after(Duration::from_secs(7)).await;
    let line = last(&warnings, SEEKS);
    assert_says(
        &line,
        &["discovery=\"the seeds' name \\\"bank.invalid\\\" cannot be resolved", "the discovery fails"],
    );
}

/// Four nodes with directories, of which three vote.
#[tokio::test(start_paused = true)]
async fn a_node_whose_directory_names_a_cluster_says_which_voters_it_waits_for() {
    let mut rig = Rig::new(114);
    let disks = tempfile::TempDir::new().unwrap();
    let names = ["a:1", "b:1", "c:1", "d:1"];
    let mut nodes = Vec::new();
    for name in names {
        let builder =
            rig.node(name, &["a:1"]).data_dir(disks.path().join(name)).settings(|said| said.max_voters = 3);
        nodes.push(builder.start().await.unwrap());
    }
    let has_voters = |topology: &borough_cluster::TopologySnapshot| topology.voters.now.len() == 3;
    within(nodes[3].topology().wait_until(has_voters)).await.unwrap();
    within(nodes[3].wait_for(4)).await.unwrap();
    after(Duration::from_secs(3)).await;
    let voters = nodes[3].topology().current().voters.clone();
    let view = nodes[3].topology().current();
    let is_voter = |name: &str| {
        view.members.iter().any(|member| member.address().as_str() == name && voters.names(member.voter()))
    };
    let guest = names.into_iter().find(|name| !is_voter(name)).unwrap();
    drop(nodes);
    after(Duration::from_secs(1)).await;
    let (warnings, _guard) = Warnings::listen();
    // The list names nobody that ever was.
    let builder = rig
        .node(guest, &["nowhere:1"])
        .data_dir(disks.path().join(guest))
        .settings(|said| said.max_voters = 3);
    let _node = builder.start().await.unwrap();
    after(WARNS).await;
    let line = last(&warnings, "waiting for the voters of the cluster that this node's data directory names");
    let awaited: Vec<_> = names.into_iter().filter(|name| *name != guest).collect();
    let never = format!(" never_answered=[{}] ", awaited.join(", "));
    assert_says(&line, &["cluster=", &never, "A majority of the voters is enough", "is lost on every node"]);
    assert!(!line.contains("nowhere") && !line.contains("take it off"), "{line}");
}

#[tokio::test(start_paused = true)]
async fn a_suspended_node_without_a_directory_is_not_told_that_a_restart_brings_the_voter_back() {
    let mut rig = Rig::new(115);
    let [first, second, third] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    within(first.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let (warnings, _guard) = Warnings::listen();
    drop((second, third));
    after(Duration::from_secs(25)).await;
    let line = last(&warnings, "waiting for a majority of the voters of this node's cluster");
    assert_says(&line, &["restore the network", "does not come back by starting it"]);
    let plan = first.recovery_plan().unwrap();
    assert!(!plan.durable, "{plan:?}");
}

#[tokio::test(start_paused = true)]
async fn the_dry_run_of_a_fresh_node_names_the_seeds_that_are_silent() {
    let mut rig = Rig::new(116);
    let node = rig.node("a:1", &["a:1", "b:1", "c:1"]).start().await.unwrap();
    let _other = rig.node("b:1", &["a:1", "b:1", "c:1"]).start().await.unwrap();
    after(WARNS).await;
    let plan = node.recovery_plan().unwrap();
    assert_eq!((plan.cluster, plan.silent), (None, vec![Address::new("c:1")]));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_says_so_every_five_seconds_and_warns_from_the_fifteenth() {
    let mut rig = Rig::new(117);
    let (lines, _guard) = Warnings::listen_to(tracing::Level::INFO);
    let _node = rig.node("a:1", &["a:1", "never:1"]).start().await.unwrap();
    let mut levels = Vec::new();
    for second in 1..=21 {
        after(Duration::from_secs(1)).await;
        let said = lines.with(SEEKS);
        for line in &said[levels.len()..] {
            levels.push((second, line.split(' ').next().unwrap_or_default().to_owned()));
        }
    }
    let times: Vec<_> = levels.iter().map(|(second, level)| (*second / 5 * 5, level.as_str())).collect();
    assert_eq!(times, [(5, "INFO"), (10, "INFO"), (15, "WARN"), (20, "WARN")], "{levels:?}");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_never_founds_says_that_others_must() {
    let mut rig = Rig::new(118);
    let (warnings, _guard) = Warnings::listen();
    let seeds = ["a:1", "b:1"];
    let first = rig.node("a:1", &seeds).found_with(FoundWith::Never).start().await.unwrap();
    let second = rig.node("b:1", &seeds).found_with(FoundWith::Never).start().await.unwrap();
    after(WARNS).await;
    assert_eq!(first.topology().current().standing, Standing::Seeking);
    assert_eq!(second.topology().current().standing, Standing::Seeking);
    let line = last(&warnings, SEEKS);
    assert_says(&line, &[" promised=[] ", " in_no_cluster=[", "found_with = never"]);
    assert!(!line.contains("about to found"), "{line}");
}
