//! A cluster in one line: nodes that leave, crash, are cut off and come back.

use std::time::Duration;

use borough_cluster::Standing;
use borough_testkit::{ManualTime, TestCluster, TestClusterError};
use tokio::time::Instant;

use crate::account::{Account, accounts};

#[tokio::test(start_paused = true)]
async fn what_a_node_had_that_leaves_goes_on_elsewhere() {
    let mut cluster = TestCluster::of(3).start().await.unwrap();
    let regions = cluster.shard_everywhere(accounts).await.unwrap();
    regions[1].tell("alice", Account::Deposit(100)).await.unwrap();
    assert_eq!(regions[1].ask("alice", Account::Balance).await.unwrap(), 100);
    let owner = cluster.owner_of("accounts", "alice").unwrap();
    cluster.leave(owner).await.unwrap();
    cluster.until_formed().await.unwrap();
    let new = cluster.owner_of("accounts", "alice").unwrap();
    assert_ne!(new, owner);
    assert_eq!(regions[(owner + 1) % 3].ask("alice", Account::Balance).await.unwrap(), 100);
}

#[tokio::test(start_paused = true)]
async fn a_fail_over_takes_its_simulated_time_and_the_crashed_node_comes_back() {
    let mut cluster = TestCluster::of(3).seed(2).start().await.unwrap();
    let regions = cluster.shard_everywhere(accounts).await.unwrap();
    regions[0].tell("alice", Account::Deposit(100)).await.unwrap();
    regions[0].ask("alice", Account::Balance).await.unwrap();
    let owner = cluster.owner_of("accounts", "alice").unwrap();
    let crashed = Instant::now();
    cluster.crash(owner);
    assert!(!cluster.living().contains(&owner));
    let other = cluster.living()[0];
    cluster.until_formed().await.unwrap();
    let balance = regions[other].ask("alice", Account::Balance).await.unwrap();
    assert_eq!(balance, 0, "its state was in the process that crashed");
    assert!(crashed.elapsed() > Duration::from_secs(1), "{:?}", crashed.elapsed());
    cluster.restart(owner).await.unwrap();
    cluster.until_formed().await.unwrap();
    assert_eq!(cluster.node(owner).topology().current().voters.now.len(), 3);
    let again = cluster.region::<Account>(owner, "accounts");
    assert_eq!(again.ask("alice", Account::Balance).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_cut_off_is_suspended_and_comes_back_when_the_network_heals() {
    let cluster = TestCluster::of(3).seed(3).start().await.unwrap();
    cluster.partition([0], [1, 2]);
    ManualTime::new().advance(Duration::from_secs(2)).await;
    assert_ne!(cluster.node(0).topology().current().standing, Standing::Member);
    assert_eq!(cluster.node(1).topology().current().standing, Standing::Member);
    cluster.heal();
    cluster.until_formed().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_that_joins_later_has_the_types_of_the_others() {
    let mut cluster = TestCluster::of(1).seed(4).start().await.unwrap();
    cluster.shard_everywhere(accounts).await.unwrap();
    cluster.region(0, "accounts").tell("alice", Account::Deposit(5)).await.unwrap();
    let number = cluster.join().await.unwrap();
    cluster.until_formed().await.unwrap();
    let region = cluster.region::<Account>(number, "accounts");
    assert_eq!(region.ask("alice", Account::Balance).await.unwrap(), 5);
    cluster.leave(0).await.unwrap();
    assert_eq!(region.ask("alice", Account::Balance).await.unwrap(), 5);
}

#[tokio::test(start_paused = true)]
async fn nodes_are_set_one_by_one() {
    let configure = |number, node: borough_cluster::NodeBuilder| node.role(format!("role-{number}"));
    let cluster = TestCluster::of(2).configure(configure).start().await.unwrap();
    cluster.node(0).wait_for_role("role-1", 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nodes_that_do_not_find_each_other_say_who_sees_whom() {
    let mut cluster = TestCluster::of(3).seed(6).start().await.unwrap();
    cluster.partition([0, 1], [2]);
    ManualTime::new().advance(Duration::from_secs(5)).await;
    let failed = cluster.until_formed().await.unwrap_err();
    assert!(matches!(failed, TestClusterError::NotFormed { .. }), "{failed}");
    assert!(failed.to_string().contains("node-"), "{failed}");
    cluster.crash(2);
    let gone = cluster.leave(2).await.unwrap_err();
    assert!(matches!(gone, TestClusterError::NotRunning { node: 2 }), "{gone}");
}
