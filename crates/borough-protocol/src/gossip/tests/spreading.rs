//! Whole clusters of gossiping nodes, stepped in simulated time.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::{NOW, facts, incarnation, uid, version};
use crate::flaws::Flaws;
use crate::gossip::{Change, Gone, Gossip, Message, Settings};
use crate::incarnation::Uid;
use crate::random::Random;
use crate::time::Timestamp;

/// Nodes on a network that delivers at once, except between sides of a cut.
pub(super) struct Cluster {
    pub(super) nodes: BTreeMap<Uid, Gossip>,
    pub(super) now: Timestamp,
    cut: fn(Uid, Uid) -> bool,
    messages: usize,
    bytes: usize,
}

impl Cluster {
    pub(super) fn new(size: u64, flaws: impl Fn(u64) -> Flaws) -> Self {
        let node = |number| {
            let me = uid(number);
            let random = Random::seeded(number);
            let mut gossip =
                Gossip::new(NOW, incarnation(me), facts(me), Settings::default(), random, flaws(number));
            // Each has met the first node.
            gossip.add_joining(NOW, incarnation(uid(1)), facts(uid(1)));
            (me, gossip)
        };
        Self { nodes: (1..=size).map(node).collect(), now: NOW, cut: |_, _| false, messages: 0, bytes: 0 }
    }

    pub(super) fn node(&mut self, number: u64) -> &mut Gossip {
        self.nodes.get_mut(&uid(number)).unwrap()
    }

    /// Runs each deadline in turn until `until`, or until `done`.
    pub(super) fn run(&mut self, duration: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let until = self.now + duration;
        while !done(self) {
            let next = self.nodes.values().map(Gossip::next_deadline).min().unwrap();
            if next > until {
                self.now = until;
                return false;
            }
            self.now = next;
            let due: Vec<Uid> = self
                .nodes
                .iter()
                .filter(|(_, node)| node.next_deadline() <= next)
                .map(|(uid, _)| *uid)
                .collect();
            for me in due {
                let mut out = Vec::new();
                self.nodes.get_mut(&me).unwrap().on_round(next, &mut out);
                self.deliver(me, out);
            }
        }
        true
    }

    fn deliver(&mut self, from: Uid, out: Vec<(Uid, Message)>) {
        for (to, message) in out {
            self.messages += 1;
            self.bytes += message.wire_size();
            if (self.cut)(from, to) {
                continue;
            }
            let mut answers = Vec::new();
            if let Some(node) = self.nodes.get_mut(&to) {
                node.handle(self.now, from, message, &mut answers);
                node.assert_invariants();
            }
            self.deliver(to, answers);
        }
    }

    pub(super) fn agrees(&self) -> bool {
        let mut living = self.nodes.values().filter(|node| node.document().is_member(node.me()));
        let first = living.next().unwrap().document();
        first.member_count() == self.nodes.len()
            && first.is_converged()
            && living.all(|node| {
                node.document().version_hash() == first.version_hash() && node.document().is_converged()
            })
    }
}

#[test]
fn nodes_that_know_one_seed_come_to_know_all() {
    let mut cluster = Cluster::new(40, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(15), Cluster::agrees));
}

#[test]
fn a_change_reaches_all_within_the_time_of_fast_rounds() {
    let mut cluster = Cluster::new(64, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(20), Cluster::agrees));
    let start = cluster.now;
    (cluster.messages, cluster.bytes) = (0, 0);
    cluster.node(7).set_unreachable(start, uid(9), true);
    cluster.node(7).set_unreachable(start, uid(9), false);
    assert!(!cluster.agrees());
    assert!(cluster.run(Duration::from_secs(3), Cluster::agrees));
    let each = cluster.bytes / 64;
    assert!(each < 20_000, "{each} bytes a node, {} messages", cluster.messages);
}

#[test]
fn an_entry_of_the_table_that_all_apply_needs_no_delta() {
    let mut cluster = Cluster::new(10, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(15), Cluster::agrees));
    let now = cluster.now;
    for node in cluster.nodes.values_mut() {
        assert_eq!(node.admit(now, 1, incarnation(uid(3)), facts(uid(3)), version(1)), Change::Content);
    }
    cluster.bytes = 0;
    assert!(cluster.run(Duration::from_secs(3), Cluster::agrees));
    assert!(cluster.bytes < 10 * 300, "{} bytes", cluster.bytes);
}

#[test]
fn a_resting_cluster_sends_one_small_message_a_node_and_interval() {
    let mut cluster = Cluster::new(10, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(15), Cluster::agrees));
    cluster.run(Duration::from_secs(3), |_| false);
    (cluster.messages, cluster.bytes) = (0, 0);
    cluster.run(Duration::from_secs(10), |_| false);
    assert_eq!((cluster.messages, cluster.bytes), (100, 100 * 13));
}

#[test]
fn the_fast_pace_ends_though_nobody_answers() {
    let mut cluster = Cluster::new(3, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(10), Cluster::agrees));
    cluster.cut = |_, _| true;
    let now = cluster.now;
    cluster.node(1).admit(now, 1, incarnation(uid(2)), facts(uid(2)), version(1));
    cluster.run(Duration::from_millis(2300), |_| false);
    let node = cluster.node(1);
    assert!(node.next_deadline().since(now) > Duration::from_millis(2800), "{:?}", node.next_deadline());
}

#[test]
fn the_round_after_a_change_comes_soon() {
    let mut cluster = Cluster::new(2, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(10), Cluster::agrees));
    cluster.run(Duration::from_secs(2), |_| false);
    let now = cluster.now;
    let node = cluster.node(1);
    node.take_changes();
    assert!(!node.take_changes());
    node.set_unreachable(now, uid(2), true);
    assert!(node.next_deadline() <= now + Duration::from_millis(200));
    assert!(node.take_changes());
}

#[test]
fn a_healed_partition_is_found_though_each_side_calls_the_other_unreachable() {
    let mut cluster = Cluster::new(6, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(10), Cluster::agrees));
    cluster.cut = |a, b| (a.get() <= 3) != (b.get() <= 3);
    for (me, other) in [(1, 4), (2, 5), (3, 6), (4, 1), (5, 2), (6, 3)] {
        let now = cluster.now;
        cluster.node(me).set_unreachable(now, uid(other), true);
    }
    cluster.run(Duration::from_secs(20), |_| false);
    assert!(cluster.nodes.values().all(|node| node.document().is_converged()), "each side by itself");
    cluster.cut = |_, _| false;
    assert!(cluster.run(Duration::from_secs(20), |cluster| {
        cluster.nodes.values().all(|node| node.document().unreachable().count() == 6)
    }));
}

#[test]
fn the_buried_are_not_heard_and_a_node_that_learns_of_its_burial_is_silent() {
    let mut cluster = Cluster::new(3, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(10), Cluster::agrees));
    let now = cluster.now;
    let clock = cluster.node(3).document().clock().clone();
    cluster.node(1).bury_by_table(now, 1, uid(3), Gone::Down);
    cluster.node(3).bury_by_table(now, 1, uid(3), Gone::Down);
    let mut out = Vec::new();
    cluster.node(1).handle(now, uid(3), Message::Pull { clock }, &mut out);
    assert_eq!(out, []);
    let later = now + Duration::from_secs(5);
    cluster.node(3).on_round(later, &mut out);
    assert_eq!(out, []);
    assert!(cluster.node(3).next_deadline() > later);
}

#[test]
fn documents_that_differ_though_their_clocks_agree_come_together() {
    let mut cluster = Cluster::new(2, |_| Flaws::default());
    assert!(cluster.run(Duration::from_secs(10), Cluster::agrees));
    let now = cluster.now;
    // One took the table as a snapshot that does not tell of node 9, which is gone; the other still has it.
    cluster.node(1).admit(now, 1, incarnation(uid(9)), facts(uid(9)), version(1));
    cluster.node(2).reflect(now, 1);
    let (a, b) = (cluster.node(1).document().clock().clone(), cluster.node(2).document().clock().clone());
    assert_eq!(a, b);
    assert!(cluster.run(Duration::from_secs(5), |cluster| {
        let [a, b] = [1, 2].map(|number| cluster.nodes[&uid(number)].document().version_hash());
        a == b
    }));
}
