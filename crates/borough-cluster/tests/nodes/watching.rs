//! How others learn of the topology.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, MailboxKind};
use borough_cluster::{Standing, TopologySnapshot};
use tokio::sync::mpsc;

use crate::rig::{Rig, after, within};

/// Passes on what it is told, and is slow about it.
struct Listener {
    to: mpsc::UnboundedSender<Arc<TopologySnapshot>>,
    takes: Duration,
}

impl Actor for Listener {
    type Msg = Arc<TopologySnapshot>;
    async fn receive(&mut self, snapshot: Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        after(self.takes).await;
        let _ = self.to.send(snapshot);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_actor_gets_the_current_snapshot_first_and_then_each_change() {
    let mut rig = Rig::new(70);
    let node = rig.node("a:1", &[]).start().await.unwrap();
    let current = within(node.wait_for(1)).await.unwrap();
    let (to, mut heard) = mpsc::unbounded_channel();
    let listener = node.spawn(move || Listener { to: to.clone(), takes: Duration::ZERO });
    node.topology().subscribe(listener);
    let first = within(heard.recv()).await.unwrap();
    assert_eq!((first.members.len(), &first.members), (1, &current.members));
    let _second = rig.node("b:1", &["a:1"]).start().await.unwrap();
    within(async { while heard.recv().await.unwrap().up().count() < 2 {} }).await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_actor_with_a_full_mailbox_gets_the_last_state_all_the_same() {
    for kind in [MailboxKind::bounded(1), MailboxKind::rejecting(1)] {
        let mut rig = Rig::new(71);
        let node = rig.node("a:1", &[]).start().await.unwrap();
        let (to, mut heard) = mpsc::unbounded_channel();
        let make = move || Listener { to: to.clone(), takes: Duration::from_secs(2) };
        let listener = node.actor(make).mailbox(kind).spawn().unwrap();
        node.topology().subscribe(listener);
        let _b = rig.node("b:1", &["a:1"]).start().await.unwrap();
        let _c = rig.node("c:1", &["a:1"]).start().await.unwrap();
        within(node.wait_for(3)).await.unwrap();
        within(node.leave()).await.unwrap();
        within(async { while heard.recv().await.unwrap().standing != Standing::Left {} }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_sees_the_last_change_and_then_the_end() {
    let node = Rig::new(72).node("a:1", &[]).start().await.unwrap();
    let mut topology = node.topology();
    within(node.leave()).await.unwrap();
    let last = within(async {
        loop {
            let snapshot = topology.changed().await.unwrap();
            if snapshot.standing.is_final() {
                return snapshot;
            }
        }
    });
    assert_eq!(last.await.standing, Standing::Left);
    within(topology.changed()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn waiting_for_members_can_be_given_up_and_begun_again() {
    let mut rig = Rig::new(73);
    let node = rig.node("a:1", &[]).start().await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(5), node.wait_for(2)).await.is_err());
    let _other = rig.node("b:1", &["a:1"]).start().await.unwrap();
    within(node.wait_for(2)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn suspicions_are_those_of_the_members_that_are_watched_and_are_kept_new() {
    let mut rig = Rig::new(76);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let watched = [b.uid(), c.uid()];
    let topology = a.topology();
    let mut seen = Vec::new();
    within(async {
        while topology.suspicions().len() < watched.len() {
            after(Duration::from_millis(100)).await;
        }
    })
    .await;
    for _ in 0..20 {
        after(Duration::from_millis(300)).await;
        let suspicions = topology.suspicions();
        assert!(suspicions.keys().eq(watched.iter().collect::<BTreeSet<_>>()), "not itself: {suspicions:?}");
        assert!(suspicions.values().all(|phi| *phi < 8.0), "nobody is silent: {suspicions:?}");
        seen.push(suspicions[&b.uid()]);
    }
    assert!(
        seen.windows(2).any(|pair| pair[0].to_bits() != pair[1].to_bits()),
        "it is looked at again: {seen:?}"
    );
    drop(b);
    within(async {
        while topology.suspicions().contains_key(&watched[0]) {
            after(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert!(topology.current().member(watched[0]).is_none_or(|member| !member.is_reachable));
    within(a.leave()).await.unwrap();
    assert!(topology.suspicions().is_empty(), "who has left watches nobody");
}
