//! What single changes do to a document.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::{LIFE, NOW, admit, document, facts, incarnation, tell, uid, version};
use crate::flaws::Flaws;
use crate::gossip::{Change, Document, Gone, Shown, Status};
use crate::incarnation::Uid;
use crate::version::Version;

fn numbers(uids: impl Iterator<Item = Uid>) -> Vec<u64> {
    uids.map(Uid::get).collect()
}

#[test]
fn a_change_is_seen_by_its_maker_alone() {
    let mut a = document(1, &[2, 3], Flaws::default());
    a.see(uid(2));
    a.see(uid(3));
    assert!(a.is_converged());
    assert_eq!(a.set_unreachable(uid(1), uid(3), true), Change::Content);
    assert_eq!(numbers(a.seen()), [1]);
    assert!(!a.is_converged());
}

#[test]
fn what_is_known_already_changes_nothing() {
    let mut a = document(1, &[2], Flaws::default());
    let version = a.version_hash();
    assert_eq!(a.add_joining(uid(1), incarnation(uid(2)), facts(uid(2))), Change::Nothing);
    assert_eq!(a.set_unreachable(uid(1), uid(2), false), Change::Nothing);
    assert_eq!(a.set_unreachable(uid(1), uid(9), true), Change::Nothing);
    assert_eq!(a.version_hash(), version);
}

#[test]
fn one_entry_of_the_table_makes_the_same_document_on_every_node() {
    let mut a = document(1, &[2, 3], Flaws::default());
    let mut b = Document::new(LIFE, Flaws::default());
    tell(&a, &mut b, NOW);
    for replica in [&mut a, &mut b] {
        assert_eq!(admit(replica, 1, 3), Change::Content);
        assert_eq!(replica.mark_leaving(2, uid(3)), Change::Content);
        assert_eq!(replica.bury_by_table(3, uid(2), Gone::Down, NOW), Change::Content);
        assert_eq!(replica.reflect(5), Change::Clock);
    }
    assert_eq!(a.version_hash(), b.version_hash());
    assert_eq!(admit(&mut a, 1, 3), Change::Nothing);
}

#[test]
fn the_admitted_are_members_before_gossip_has_heard_of_them() {
    let mut a = document(1, &[], Flaws::default());
    admit(&mut a, 4, 2);
    let member = a.member(uid(2)).unwrap();
    assert_eq!((member.status, member.admission), (Status::Up, version(4)));
}

#[test]
fn a_status_never_sinks() {
    let mut a = document(1, &[], Flaws::default());
    a.mark_exiting(uid(1));
    a.mark_leaving(3, uid(1));
    admit(&mut a, 4, 1);
    let member = a.member(uid(1)).unwrap();
    assert_eq!((member.status, member.admission), (Status::Exiting, version(4)));
}

#[test]
fn an_admission_reaches_one_who_knows_only_the_exit() {
    let mut a = document(1, &[], Flaws::default());
    a.mark_exiting(uid(1));
    let mut b = Document::new(LIFE, Flaws::default());
    tell(&a, &mut b, NOW);
    admit(&mut a, 4, 1);
    tell(&a, &mut b, NOW);
    assert_eq!(b.member(uid(1)).unwrap().admission, version(4));
    assert_eq!(a.version_hash(), b.version_hash());
}

#[test]
fn the_buried_leave_no_trace_but_the_tombstone() {
    let mut a = document(1, &[], Flaws::default());
    let mut b = document(2, &[], Flaws::default());
    tell(&b, &mut a, NOW);
    tell(&a, &mut b, NOW);
    b.set_unreachable(uid(2), uid(1), true);
    tell(&b, &mut a, NOW);
    a.set_unreachable(uid(1), uid(2), true);
    a.bury_by_table(1, uid(2), Gone::Down, NOW);
    a.assert_invariants();
    assert_eq!(numbers(a.members().map(|member| member.uid())), [1]);
    assert_eq!(a.unreachable().count(), 0);
    assert_eq!(a.reports().map(|(observer, _)| observer).collect::<Vec<_>>(), [uid(1)]);
    assert_eq!(a.clock().len(), 2);
}

#[test]
fn the_buried_are_not_taken_back_and_their_friends_are_told() {
    let mut a = document(1, &[2, 3], Flaws::default());
    let mut stale = Document::new(LIFE, Flaws::default());
    tell(&a, &mut stale, NOW);
    a.bury_by_table(1, uid(2), Gone::Left, NOW);
    assert_eq!(a.add_joining(uid(1), incarnation(uid(2)), facts(uid(2))), Change::Nothing);
    assert_eq!(admit(&mut a, 1, 2), Change::Nothing);
    tell(&stale, &mut a, NOW);
    assert!(!a.is_member(uid(2)));
    tell(&a, &mut stale, NOW);
    assert!(!stale.is_member(uid(2)));
    assert_eq!(a.version_hash(), stale.version_hash());
}

/// Seed 494898 of the simulator: a coordinator that was cut off took a guest for gone, and the next one admitted it. The tombstone came afterwards.
#[test]
fn a_tombstone_of_gossip_does_not_beat_an_admission() {
    let mut a = document(1, &[2, 3], Flaws::default());
    let mut b = Document::new(LIFE, Flaws::default());
    tell(&a, &mut b, NOW);
    a.bury(uid(1), uid(2), Gone::Vanished, NOW);
    admit(&mut b, 1, 2);
    tell(&a, &mut b, NOW);
    tell(&b, &mut a, NOW);
    assert!([&a, &b].iter().all(|told| told.is_member(uid(2)) && !told.is_buried(uid(2))));
    assert_eq!(a.version_hash(), b.version_hash());
    // The node that laid it hears of the admission by the table.
    let mut c = document(1, &[2], Flaws::default());
    c.bury(uid(1), uid(2), Gone::Vanished, NOW);
    admit(&mut c, 1, 2);
    assert!(c.is_member(uid(2)));
    c.bury_by_table(2, uid(2), Gone::Down, NOW);
    assert!(!c.is_member(uid(2)));
    assert_eq!(admit(&mut c, 1, 2), Change::Nothing);
}

#[test]
fn who_is_buried_in_its_own_document_changes_nothing() {
    let mut a = document(1, &[2], Flaws::default());
    a.bury_by_table(1, uid(1), Gone::Down, NOW);
    assert_eq!(a.set_unreachable(uid(1), uid(2), true), Change::Nothing);
    assert_eq!(a.bury(uid(1), uid(2), Gone::Vanished, NOW), Change::Nothing);
    assert_eq!(a.add_joining(uid(1), incarnation(uid(1)), facts(uid(1))), Change::Nothing);
    assert_eq!(a.add_joining(uid(1), incarnation(uid(3)), facts(uid(3))), Change::Nothing);
}

#[test]
fn a_report_of_all_reachable_replaces_the_one_before() {
    let mut a = document(1, &[2], Flaws::default());
    a.set_unreachable(uid(1), uid(2), true);
    let mut b = Document::new(LIFE, Flaws::default());
    tell(&a, &mut b, NOW);
    let old = b.clone();
    a.set_unreachable(uid(1), uid(2), false);
    tell(&a, &mut b, NOW);
    b.merge(&old, NOW);
    assert!(!b.is_unreachable(uid(2)));
}

#[test]
fn an_unreachable_node_that_has_seen_it_stands_for_no_other() {
    let mut a = document(1, &[2, 3], Flaws::default());
    a.set_unreachable(uid(1), uid(3), true);
    assert!(!a.is_converged());
    a.see(uid(3));
    assert!(!a.is_converged(), "one that is reachable has not seen it");
    a.see(uid(2));
    assert!(a.is_converged());
    assert_eq!(numbers(a.unreachable()), [3]);
}

#[test]
fn a_document_converges_without_those_who_cannot_be_reached() {
    let mut a = document(1, &[2, 3], Flaws::default());
    a.set_unreachable(uid(1), uid(3), true);
    a.see(uid(2));
    assert!(a.is_converged());
}

#[test]
fn a_tombstone_told_on_ends_with_the_one_it_was_copied_from() {
    let mut a = document(1, &[2], Flaws::default());
    a.bury(uid(1), uid(2), Gone::Vanished, NOW);
    let half = NOW + LIFE / 2;
    let mut b = document(3, &[], Flaws::default());
    tell(&a, &mut b, half);
    assert_eq!(b.tombstone(uid(2)), a.tombstone(uid(2)));
    b.expire(NOW + LIFE - Duration::from_nanos(1));
    assert!(b.is_buried(uid(2)));
    b.expire(NOW + LIFE);
    assert!(!b.is_buried(uid(2)));
}

#[test]
fn of_two_tombstones_the_shorter_life_counts() {
    let [mut a, mut b] = [1, 3].map(|me| document(me, &[2], Flaws::default()));
    a.bury(uid(1), uid(2), Gone::Vanished, NOW);
    let later = NOW + Duration::from_secs(60);
    b.bury(uid(3), uid(2), Gone::Vanished, later);
    tell(&a, &mut b, later);
    tell(&b, &mut a, later);
    assert_eq!([&a, &b].map(|document| document.tombstone(uid(2)).unwrap().expires_at), [NOW + LIFE; 2]);
}

#[test]
fn two_nodes_do_not_keep_a_tombstone_alive_between_them() {
    let mut a = document(1, &[2], Flaws::default());
    let mut b = document(3, &[], Flaws::default());
    // Its author goes, so that the tombstone is told in every delta.
    a.bury(uid(1), uid(2), Gone::Vanished, NOW);
    tell(&a, &mut b, NOW + Duration::from_secs(1));
    a.bury_by_table(1, uid(1), Gone::Left, NOW);
    b.bury_by_table(1, uid(1), Gone::Left, NOW);
    // The worst moments: each tells at the end of its stone's life, and the other has just forgotten when it hears.
    let way = Duration::from_secs(30);
    for _ in 0..10 {
        let Some(end) = b.tombstone(uid(2)).map(|stone| stone.expires_at) else { break };
        let delta = b.delta_for(a.clock(), end - Duration::from_nanos(1), false);
        a.expire(end + way);
        a.merge_delta(&delta, end + way);
        b.expire(end + way);
        core::mem::swap(&mut a, &mut b);
    }
    assert!(!a.is_buried(uid(2)) && !b.is_buried(uid(2)));
}

#[test]
fn who_still_counts_a_buried_author_is_told_though_the_burial_is_covered() {
    let mut a = document(1, &[], Flaws::default());
    tell(&document(2, &[], Flaws::default()), &mut a, NOW);
    // One that took the table as a snapshot, in which node 2 is not, and then heard of it from somebody behind.
    let mut b = Document::new(LIFE, Flaws::default());
    tell(&a, &mut b, NOW);
    b.reflect(1);
    a.bury_by_table(1, uid(2), Gone::Left, NOW);
    tell(&a, &mut b, NOW);
    assert!(b.is_buried(uid(2)));
    assert_eq!(a.version_hash(), b.version_hash());
}

#[test]
fn reports_of_one_dot_are_joined_when_a_subject_has_outlived_its_tombstone() {
    let mut b = document(1, &[2], Flaws::default());
    b.set_unreachable(uid(1), uid(2), true);
    let mut a = Document::new(LIFE, Flaws::default());
    a.merge(&b, NOW);
    a.bury_by_table(1, uid(2), Gone::Left, NOW);
    let later = NOW + LIFE;
    a.expire(later);
    b.reflect(1);
    let old = a.clone();
    a.merge(&b, later);
    b.merge(&old, later);
    assert!(a.is_unreachable(uid(2)));
    assert_eq!(a.version_hash(), b.version_hash());
}

#[test]
fn members_are_shown_as_far_as_they_have_come() {
    let mut a = document(1, &[2, 3, 4, 5, 6], Flaws::default());
    let shown = |a: &Document, has_coordinator| {
        a.view(has_coordinator).iter().map(|line| (line.member.uid().get(), line.shown)).collect::<Vec<_>>()
    };
    assert_eq!(a.shown(uid(1), false), Some(Shown::Joining), "not converged");
    for number in 2..=6 {
        a.see(uid(number));
    }
    assert_eq!(a.shown(uid(1), false), Some(Shown::WeaklyUp));
    assert_eq!(a.shown(uid(1), true), Some(Shown::Joining));
    admit(&mut a, 1, 3);
    a.mark_leaving(2, uid(4));
    a.bury_by_table(3, uid(5), Gone::Down, NOW);
    a.bury_by_table(4, uid(6), Gone::Left, NOW);
    let lines = vec![(1, Shown::Joining), (2, Shown::Joining), (3, Shown::Up), (4, Shown::Leaving)];
    let with_down: Vec<_> = lines.iter().copied().chain([(5, Shown::Down)]).collect();
    assert!(!a.settle());
    assert_eq!(shown(&a, true), with_down);
    for number in 1..=4 {
        a.see(uid(number));
    }
    assert!(a.settle());
    assert_eq!(shown(&a, true), lines);
    assert_eq!([5, 6, 7].map(|n| a.shown(uid(n), true)), [Some(Shown::Removed), Some(Shown::Removed), None]);
}

#[test]
fn not_admitted_is_version_zero() {
    let a = document(1, &[], Flaws::default());
    let member = a.member(uid(1)).unwrap();
    assert_eq!((member.admission, member.is_admitted()), (Version::ZERO, false));
}
