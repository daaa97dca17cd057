//! The ideal, which knows the future: whoever is wanted last goes.

use std::collections::BTreeSet;

/// How many messages of a trace find their entity awake at best, if whoever gets a message must be awake.
pub(crate) fn hits(limit: u32, trace: &[u32]) -> usize {
    let ids = trace.iter().max().map_or(0, |&id| id as usize + 1);
    let mut next_use = vec![usize::MAX; trace.len()];
    let mut seen = vec![usize::MAX; ids];
    for (place, &id) in trace.iter().enumerate().rev() {
        next_use[place] = std::mem::replace(&mut seen[id as usize], place);
    }
    let mut awake: BTreeSet<(usize, u32)> = BTreeSet::new();
    let mut hits = 0;
    for (place, &id) in trace.iter().enumerate() {
        if awake.remove(&(place, id)) {
            hits += 1;
        } else if awake.len() == limit as usize {
            awake.pop_last();
        }
        awake.insert((next_use[place], id));
    }
    hits
}

#[test]
fn the_ideal_of_a_short_trace_is_known() {
    // 1 2 3 1 2 3 with two places: 1 and one of the others are hit again; by hand, 2 hits.
    assert_eq!(hits(2, &[1, 2, 3, 1, 2, 3]), 2);
    assert_eq!(hits(3, &[1, 2, 3, 1, 2, 3]), 3);
}
