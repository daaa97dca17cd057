//! Each planted flaw breaks what it names, and the checks here would notice.

use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::spreading::Cluster;
use super::{LIFE, NOW, admit, document, tell, uid};
use crate::flaws::{Flaw, Flaws};
use crate::gossip::{Document, Gone, Status};

fn breaks_invariants(document: &Document) -> bool {
    catch_unwind(AssertUnwindSafe(|| document.assert_invariants())).is_err()
}

#[test]
fn reachability_is_not_merged() {
    let mut a = document(1, &[2], Flaws::default());
    let mut b = Document::new(LIFE, Flaws::only(Flaw::MergeForgetsReachability));
    a.set_unreachable(uid(1), uid(2), true);
    tell(&a, &mut b, NOW);
    assert!(!b.is_unreachable(uid(2)));
    assert_ne!(a.version_hash(), b.version_hash());
}

#[test]
fn an_older_status_wins() {
    let mut a = document(1, &[2], Flaws::default());
    let mut b = Document::new(LIFE, Flaws::only(Flaw::MergeTakesOlderStatus));
    tell(&a, &mut b, NOW);
    admit(&mut a, 1, 2);
    tell(&a, &mut b, NOW);
    assert_eq!(b.member(uid(2)).unwrap().status, Status::Joining);
}

#[test]
fn a_changed_document_counts_as_seen() {
    let mut a = document(1, &[2], Flaws::only(Flaw::SeenSetForgotten));
    a.see(uid(2));
    admit(&mut a, 1, 2);
    assert!(a.is_converged());
}

#[test]
fn the_buried_come_back() {
    let mut a = document(1, &[2], Flaws::default());
    let mut b = Document::new(LIFE, Flaws::only(Flaw::StaleIncarnationAccepted));
    b.bury_by_table(1, uid(2), Gone::Down, NOW);
    tell(&a, &mut b, NOW);
    assert!(b.is_member(uid(2)));
    assert!(breaks_invariants(&b));
    tell(&b, &mut a, NOW);
    assert!(!a.is_member(uid(2)));
}

#[test]
fn a_tombstone_lives_a_second() {
    let mut a = document(1, &[2], Flaws::only(Flaw::TombstoneDroppedEarly));
    a.bury(uid(1), uid(2), Gone::Vanished, NOW);
    a.expire(NOW + Duration::from_secs(1));
    assert!(!a.is_buried(uid(2)));
}

#[test]
fn changes_without_a_count_do_not_spread() {
    let mut cluster =
        Cluster::new(
            5,
            |number| if number == 2 { Flaws::only(Flaw::ClockNotAdvanced) } else { Flaws::default() },
        );
    let agreed = cluster.run(Duration::from_secs(20), Cluster::agrees);
    let mut now = cluster.now;
    cluster.node(2).set_unreachable(now, uid(3), true);
    cluster.run(Duration::from_secs(20), Cluster::agrees);
    now = cluster.now;
    cluster.node(2).set_unreachable(now, uid(3), false);
    let healed = cluster.run(Duration::from_secs(60), |cluster| {
        cluster.nodes.values().all(|node| !node.document().is_unreachable(uid(3))) && cluster.agrees()
    });
    assert!(!(agreed && healed));
}

#[test]
fn the_clock_keeps_the_dead() {
    let mut a = document(1, &[2], Flaws::only(Flaw::ClockNotPruned));
    a.set_unreachable(uid(2), uid(1), true);
    a.bury_by_table(1, uid(2), Gone::Down, NOW);
    assert_eq!(a.clock().len(), 3);
    assert!(breaks_invariants(&a));
}
