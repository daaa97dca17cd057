//! Most voters are lost for good, and the node that is left recovers the cluster because an operator says so.

use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_cluster::{
    Address, Discovery, NoRecovery, Node, NodeId, RecoverError, RecoveryMember, Seeds, Standing,
    TopologySnapshot,
};

use crate::rig::{Rig, after, within};

const SEEDS: [&str; 3] = ["a:1", "b:1", "c:1"];

/// The third of three voters.
async fn third(rig: &mut Rig) -> Node {
    let [a, b, c] = rig.cluster(SEEDS).await;
    within(c.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    assert_eq!(why_not(&c), NoRecovery::Runs);
    drop((a, b));
    c
}

/// Why that node would not begin anew.
fn why_not(node: &Node) -> NoRecovery {
    match node.recovery_plan() {
        Err(RecoverError::Refused { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

async fn is(node: &Node, standing: Standing) -> std::sync::Arc<TopologySnapshot> {
    within(node.topology().wait_until(|topology| topology.standing == standing)).await.unwrap()
}

fn names(members: &[RecoveryMember]) -> Vec<&str> {
    let mut names: Vec<_> = members.iter().map(|member| member.node_id.as_str()).collect();
    names.sort_unstable();
    names
}

#[tokio::test(start_paused = true)]
async fn the_last_of_three_voters_begins_the_cluster_anew_and_others_join_it() {
    let mut rig = Rig::new(50);
    let c = third(&mut rig).await;
    let suspended = is(&c, Standing::Suspended).await;
    let before = suspended.cluster.unwrap();
    let plan = c.recovery_plan().unwrap();
    assert_eq!((plan.standing.clone(), plan.cluster), (Standing::Suspended, Some(before)));
    assert_eq!((plan.voters, plan.voters_lost), (3, 2));
    assert_eq!((names(&plan.given_up), names(&plan.kept)), (vec!["a:1", "b:1"], vec![]));
    assert!(plan.era > before.era && plan.given_up.iter().all(|member| member.is_voter), "{plan:?}");

    let unvouched = c.recover(&["a:1"]).await.unwrap_err();
    assert_eq!(unvouched, RecoverError::Unvouched { node_id: NodeId::new("b:1") });
    assert_eq!(c.topology().current().standing, Standing::Suspended, "nothing was changed");

    within(c.recover(&["a:1", "b:1"])).await.unwrap();
    let begun = c.topology().current();
    assert!(begun.incarnation.uid != suspended.incarnation.uid && begun.up().count() == 0, "{begun:?}");
    let works = is(&c, Standing::Member).await;
    assert!(works.cluster.unwrap().era >= plan.era && works.voters.now.len() == 1, "{works:?}");
    assert_eq!(why_not(&c), NoRecovery::Runs);

    let a = rig.node("a:1", &SEEDS).start().await.unwrap();
    let d = rig.node("d:1", &SEEDS).start().await.unwrap();
    for node in [&a, &c, &d] {
        within(node.wait_for(3)).await.unwrap();
        assert_eq!(node.topology().current().cluster, works.cluster);
    }
}

/// Nothing is given up however long it takes; and the node that was told to recover works again.
#[tokio::test(start_paused = true)]
async fn a_node_that_waited_for_long_remembers_which_nodes_it_lost() {
    let mut rig = Rig::new(51);
    let c = third(&mut rig).await;
    let suspended = is(&c, Standing::Suspended).await;
    let (before, uid) = (suspended.cluster.unwrap(), suspended.incarnation.uid);
    after(Duration::from_secs(300)).await;
    let now = c.topology().current();
    assert_eq!((now.standing.clone(), now.incarnation.uid), (Standing::Suspended, uid));
    let plan = c.recovery_plan().unwrap();
    assert_eq!((plan.standing.clone(), plan.cluster), (Standing::Suspended, Some(before)));
    assert_eq!((plan.voters, plan.voters_lost), (3, 2));
    within(c.recover(&names(&plan.given_up))).await.unwrap();
    is(&c, Standing::Member).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_never_was_a_member_founds_alone_when_it_is_told_to() {
    let mut rig = Rig::new(52);
    let c = rig.node("c:1", &SEEDS).rejoin(false).start().await.unwrap();
    after(Duration::from_secs(6)).await;
    let plan = c.recovery_plan().unwrap();
    assert_eq!((plan.cluster, plan.voters, plan.given_up.len()), (None, 0, 0));
    within(c.recover::<&str>(&[])).await.unwrap();
    is(&c, Standing::Member).await;
}

#[tokio::test(start_paused = true)]
async fn the_era_rises_though_the_clock_of_the_one_that_is_left_is_behind() {
    const FAR: u32 = 1_000_000;
    let mut rig = Rig::new(53);
    let a = rig.node("a:1", &["a:1"]).simulated(&rig.network, 7, FAR).start().await.unwrap();
    let b = rig.node("b:1", &["a:1"]).start().await.unwrap();
    is(&b, Standing::Member).await;
    drop(a);
    let before = is(&b, Standing::Suspended).await.cluster.unwrap();
    assert!(before.era >= FAR);
    within(b.recover(&["a:1"])).await.unwrap();
    assert!(is(&b, Standing::Member).await.cluster.unwrap().era > before.era);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_can_be_reached_after_all_is_joined_and_not_replaced() {
    let mut rig = Rig::new(54);
    let [a, b, c] = rig.cluster(SEEDS).await;
    within(c.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let cluster = a.topology().current().cluster;
    let uid = c.topology().current().incarnation.uid;
    for other in ["a:1", "b:1"] {
        rig.part("c:1", other);
    }
    is(&c, Standing::Suspended).await;
    rig.network.heal_all();
    // Whether the order is seen to begin before it yields is chance; what becomes of the cluster is not.
    let _ = within(c.recover(&["a:1", "b:1"])).await;
    within(c.topology().wait_until(|topology| topology.up().count() == 3)).await.unwrap();
    assert_eq!(c.topology().current().cluster, cluster);
    assert_ne!(c.topology().current().incarnation.uid, uid, "the order ended its life");
    assert!([&a, &b].iter().all(|node| node.topology().current().standing == Standing::Member));
}

#[tokio::test(start_paused = true)]
async fn who_fell_out_of_a_cluster_that_went_on_has_all_of_it_to_vouch_for() {
    let mut rig = Rig::new(55);
    let [a, _b, c] = rig.cluster(SEEDS).await;
    within(c.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let before = c.topology().current();
    a.down("c:1").await.unwrap();
    let returns = |topology: &TopologySnapshot| matches!(topology.standing, Standing::Returning(_));
    within(c.topology().wait_until(returns)).await.unwrap();
    for other in ["a:1", "b:1"] {
        rig.part("c:1", other);
    }
    is(&c, Standing::Seeking).await;
    after(Duration::from_secs(6)).await;
    let plan = c.recovery_plan().unwrap();
    assert_eq!((plan.cluster, plan.voters), (before.cluster, 3));
    assert!(plan.era > before.cluster.unwrap().era);
    assert_eq!(names(&plan.given_up), ["a:1", "b:1"]);
    let unvouched = c.recover::<&str>(&[]).await.unwrap_err();
    assert!(matches!(unvouched, RecoverError::Unvouched { .. }), "{unvouched}");
}

/// Finds the first seed once, and answers no more.
#[derive(Default)]
struct Dies(AtomicBool);

impl Discovery for Dies {
    fn seeds(&self) -> Seeds<'_> {
        if self.0.swap(true, Ordering::Relaxed) {
            return Box::pin(pending());
        }
        Box::pin(ready(Ok(vec![Address::new("a:1")])))
    }
}

#[tokio::test(start_paused = true)]
async fn a_discovery_that_died_with_the_others_holds_up_nobody() {
    let mut rig = Rig::new(56);
    let a = rig.node("a:1", &["a:1"]).start().await.unwrap();
    let b = rig.node("b:1", &[]).discovery(Dies::default()).expect(2).start().await.unwrap();
    is(&b, Standing::Member).await;
    drop(a);
    is(&b, Standing::Suspended).await;
    b.recover(&["a:1"]).await.unwrap();
    is(&b, Standing::Member).await;
}
