//! The merge is the join of a semilattice, on documents as random histories make them.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::history::{History, REPLICAS, said, steps, whole};
use crate::gossip::Document;
use crate::incarnation::Uid;
use crate::time::Timestamp;

fn joined(a: &Document, b: &Document, now: Timestamp) -> Document {
    let mut both = a.clone();
    both.merge(b, now);
    both.assert_invariants();
    both
}

fn seen(document: &Document) -> Vec<Uid> {
    document.seen().collect()
}

fn documents(history: &History) -> impl Iterator<Item = &Document> {
    history.replicas.iter().chain(history.past.iter().rev().take(3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn merging_twice_is_merging_once(steps in steps(200..400)) {
        let history = History::run(&steps);
        for a in documents(&history) {
            prop_assert_eq!(whole(&joined(a, a, history.now)), whole(a));
            prop_assert_eq!(seen(&joined(a, a, history.now)), seen(a));
            for b in documents(&history) {
                let once = joined(a, b, history.now);
                let twice = joined(&once, b, history.now);
                prop_assert_eq!(whole(&twice), whole(&once));
                prop_assert_eq!(seen(&twice), seen(&once));
            }
        }
    }

    #[test]
    fn it_does_not_matter_who_merges_whom(steps in steps(200..400)) {
        let history = History::run(&steps);
        for a in documents(&history) {
            for b in documents(&history) {
                let (one, other) = (joined(a, b, history.now), joined(b, a, history.now));
                prop_assert_eq!(whole(&one), whole(&other));
                prop_assert_eq!(seen(&one), seen(&other));
            }
        }
    }

    #[test]
    fn it_does_not_matter_in_what_order_three_are_merged(steps in steps(200..400)) {
        let history = History::run(&steps);
        for a in documents(&history) {
            for b in documents(&history) {
                for c in documents(&history) {
                    let left = joined(&joined(a, b, history.now), c, history.now);
                    let right = joined(a, &joined(b, c, history.now), history.now);
                    prop_assert_eq!(whole(&left), whole(&right));
                    prop_assert_eq!(seen(&left), seen(&right));
                }
            }
        }
    }

    #[test]
    fn a_delta_does_what_the_whole_document_would(steps in steps(200..400)) {
        let history = History::run(&steps);
        for a in documents(&history) {
            for b in documents(&history) {
                let mut told = a.clone();
                super::tell(b, &mut told, history.now);
                told.assert_invariants();
                let merged = joined(a, b, history.now);
                prop_assert_eq!(said(&told), said(&merged));
                prop_assert_eq!(told.version_hash(), merged.version_hash());
                prop_assert_eq!(seen(&told), seen(&merged));
            }
        }
    }

    #[test]
    fn all_are_equal_once_all_have_told_each_other(steps in steps(200..400)) {
        let mut history = History::run(&steps);
        history.exchange();
        let first = &history.replicas[0];
        for replica in &history.replicas {
            prop_assert_eq!(said(replica), said(first));
            prop_assert_eq!(replica.version_hash(), first.version_hash());
            prop_assert_eq!(seen(replica), seen(first));
        }
        let living = (0..REPLICAS).filter(|at| first.is_member(History::owner(*at)));
        prop_assert_eq!(seen(first).len(), living.count());
    }

    #[test]
    fn once_in_the_seen_set_a_node_has_that_version(steps in steps(200..400)) {
        let history = History::run(&steps);
        for replica in &history.replicas {
            for (at, other) in history.replicas.iter().enumerate() {
                let has = !replica.has_seen(History::owner(at)) || other.version_hash() == replica.version_hash();
                // A node may have gone on since; then it knows more.
                let ahead = other.clock().compare(replica.clock()) != Some(core::cmp::Ordering::Less);
                prop_assert!(has || ahead);
            }
        }
    }
}
