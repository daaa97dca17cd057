//! Estimates beside true counts, and how they age.

use std::vec::Vec;

use super::{Sketch, WORDS};

/// Ids as hashes, spread as those of real ids are.
fn hashes(count: u32) -> Vec<u32> {
    (1..=count).map(|n| n.wrapping_mul(0x9E37_79B9) ^ n >> 3).collect()
}

#[test]
fn an_estimate_is_never_below_the_truth_while_nothing_has_aged() {
    let mut sketch = Sketch::new(1000);
    let hashes = hashes(20);
    // Few enough uses that the first word is not yet halved.
    assert!(sketch.interval > 18);
    for &hash in &hashes[..18] {
        sketch.count(hash);
    }
    assert!(hashes[..18].iter().all(|&hash| sketch.estimate(hash) >= 1));
}

#[test]
fn counters_stop_at_fifteen_and_spill_into_no_other() {
    let mut sketch = Sketch::new(100_000);
    for _ in 0..1000 {
        sketch.count(77);
    }
    assert!(sketch.estimate(77) >= 7, "halved once at most");
    let set: u32 = sketch.lines.iter().flat_map(|line| line.0).map(u64::count_ones).sum();
    assert!(set <= 4 * 4, "four counters of four bits, not {set} bits");
}

#[test]
fn ids_that_were_not_used_are_hardly_ever_thought_to_be() {
    let mut sketch = Sketch::new(1024);
    let hashes = hashes(3072);
    for &hash in &hashes[..1024] {
        sketch.count(hash);
    }
    let mistaken = hashes[1024..].iter().filter(|&&hash| sketch.estimate(hash) > 0).count();
    assert!(mistaken < 2048 / 20, "{mistaken} of 2048");
}

#[test]
fn one_period_of_other_uses_halves_a_count() {
    let mut sketch = Sketch::new(160);
    let words = sketch.lines.len() * WORDS;
    for _ in 0..12 {
        sketch.count(77);
    }
    let before = sketch.estimate(77);
    for _ in 0..words {
        sketch.age();
    }
    assert_eq!(sketch.estimate(77), before / 2);
}

#[test]
fn all_words_are_halved_once_in_ten_times_the_limit() {
    for limit in [1, 10, 100, 1000, 12_345] {
        let sketch = Sketch::new(limit);
        let period = sketch.interval * (sketch.lines.len() * WORDS) as u64;
        let wanted = 10 * u64::from(limit);
        assert!(period <= wanted.max(8) && period * 10 >= wanted * 8, "{limit}: {period}");
    }
}
