//! Each policy on each trace, beside the ideal: the known order of them, and a table to look at.
//!
//! `cargo test -p borough-protocol --test passivation -- --nocapture table` prints it.

use std::fmt::Write;

use borough_protocol::sharding::passivation::{Levels, Policy, Window};

use crate::{belady, cache, traces};

const LIMIT: u32 = 500;
const LRU: Policy = Policy::LeastRecentlyUsed;
const MRU: Policy = Policy::MostRecentlyUsed;
const SLRU: Policy = Policy::SEGMENTED;
const LFU: Policy = Policy::LeastFrequentlyUsed { dynamic_aging: false };
const LFU_DA: Policy = Policy::LeastFrequentlyUsed { dynamic_aging: true };
const ADAPTIVE: Policy = Policy::RECOMMENDED;

fn fixed() -> Policy {
    Policy::WindowTinyLfu { window: Window::Percent(1), levels: Levels::default() }
}

/// The share of hits, in thousandths.
fn share(hits: usize, trace: &[u32]) -> usize {
    hits * 1000 / trace.len()
}

fn of(policy: Policy, trace: &[u32]) -> usize {
    share(cache::hits(policy, LIMIT, trace), trace)
}

#[test]
fn no_policy_is_better_than_the_ideal_and_the_table_shows_all() {
    let mut table = String::from("hits of 1000    ideal   LRU  SLRU   MRU   LFU LFU-DA W-1% W-adaptive\n");
    for (name, trace) in [
        ("zipf", traces::zipf()),
        ("scan", traces::scan()),
        ("round", traces::round()),
        ("shift", traces::shift()),
        ("bursts", traces::bursts()),
    ] {
        let ideal = belady::hits(LIMIT, &trace);
        write!(table, "{name:<15}{:>6}", share(ideal, &trace)).expect("a string");
        for policy in [LRU, SLRU, MRU, LFU, LFU_DA, fixed(), ADAPTIVE] {
            let hits = cache::hits(policy, LIMIT, &trace);
            assert!(hits <= ideal, "{name}: {policy:?} has {hits}, the ideal {ideal}");
            write!(table, "{:>6}", share(hits, &trace)).expect("a string");
        }
        table.push('\n');
    }
    println!("{table}");
}

#[test]
fn where_a_few_are_always_wanted_frequency_beats_recency() {
    let trace = traces::zipf();
    assert!(of(LFU, &trace) > of(LRU, &trace) + 50);
    assert!(of(SLRU, &trace) > of(LRU, &trace) + 50);
    assert!(of(fixed(), &trace) > of(SLRU, &trace));
    assert!(of(ADAPTIVE, &trace) > of(LFU_DA, &trace));
    assert!(of(LRU, &trace) > of(MRU, &trace) + 400);
}

#[test]
fn a_scan_drives_out_what_recency_keeps_and_not_what_was_used_again() {
    let trace = traces::scan();
    let lru = of(LRU, &trace);
    for policy in [SLRU, LFU, fixed(), ADAPTIVE] {
        assert!(of(policy, &trace) > lru + 40, "{policy:?}");
    }
    assert!(of(LFU_DA, &trace) > lru);
}

#[test]
fn round_and_round_the_most_recent_is_the_right_one_to_go() {
    let trace = traces::round();
    let ideal = share(belady::hits(LIMIT, &trace), &trace);
    assert_eq!(of(MRU, &trace), ideal);
    assert_eq!(of(LRU, &trace), 0);
    assert!(of(fixed(), &trace) > ideal * 9 / 10);
    assert!(of(ADAPTIVE, &trace) > ideal * 9 / 10);
}

#[test]
fn when_others_become_famous_old_fame_must_fade() {
    let trace = traces::shift();
    let lfu = of(LFU, &trace);
    for policy in [LRU, SLRU, LFU_DA, fixed(), ADAPTIVE] {
        assert!(of(policy, &trace) > lfu + 300, "{policy:?}");
    }
    assert!(of(ADAPTIVE, &trace) > of(LRU, &trace));
}

#[test]
fn in_bursts_recency_is_right_and_only_a_window_that_grows_comes_near() {
    let trace = traces::bursts();
    let lru = of(LRU, &trace);
    assert!(lru > of(LFU, &trace) + 500);
    assert!(lru > of(fixed(), &trace) + 500);
    assert!(of(ADAPTIVE, &trace) > lru * 9 / 10);
}

#[test]
fn the_recommended_policy_is_never_far_from_the_best() {
    for trace in [traces::zipf(), traces::scan(), traces::round(), traces::shift(), traces::bursts()] {
        let best = [LRU, SLRU, MRU, LFU, LFU_DA, fixed()].map(|policy| of(policy, &trace)).into_iter().max();
        assert!(of(Policy::default(), &trace) * 100 > best.expect("some") * 90);
    }
}
