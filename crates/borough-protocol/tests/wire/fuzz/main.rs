//! Bytes that nobody wrote: reading them never panics, takes no more memory than a small multiple of them, and what is read does a
//! live node no harm.
//!
//! A run is made by its seed alone. `BOROUGH_WIRE_SEED` says with which seed to begin, `BOROUGH_WIRE_SEEDS` how many to run.
//!
//! `body` is what a fuzzer of any kind calls; `mutate` makes bytes of other bytes; `dense` has the lists that grow most when read.

mod body;
#[path = "../codec.rs"]
mod codec;
mod dense;
#[path = "../files.rs"]
mod files;
mod mutate;
#[path = "../../hostile/net.rs"]
#[expect(dead_code, reason = "others use the rest")]
mod net;
mod trial;

use std::alloc::System;
use std::env;
use std::sync::{Mutex, MutexGuard, PoisonError};

use peakmem_alloc::PeakMemAlloc;

#[global_allocator]
static MEMORY: PeakMemAlloc<System> = PeakMemAlloc::new(System);

/// One test at a time: what another one takes would be counted too.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    // A test that failed leaves nothing behind.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(name: &str, ordinary: u64) -> u64 {
    env::var(name).ok().map_or(ordinary, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_comes_is_read_within_bounds_and_harms_no_node() {
    let _alone = alone();
    let (first, count) = (number(trial::FIRST, 1), number(trial::COUNT, 300));
    let (mut read, mut told) = (0, 0);
    for seed in first..first + count {
        let mut trial = trial::Trial::new(seed);
        trial.run();
        read += trial.read;
        told += trial.told;
    }
    println!("{count} runs: {read} pieces of bytes, {told} of which were messages");
    assert!(told > read / 10 && told < read, "{told} of {read} were messages");
}

#[test]
fn the_densest_lists_take_no_more_memory_than_is_allowed() {
    let _alone = alone();
    for (name, bytes) in dense::lists() {
        assert!(body::read(&bytes).is_some(), "{name} is a message");
        println!("{name}: {} times as much memory", body::memory(&bytes) / bytes.len());
    }
}

#[test]
fn a_count_that_lies_takes_no_more_memory_than_is_allowed() {
    let _alone = alone();
    let mut lies = 0;
    for (name, bytes) in dense::lists() {
        for lie in dense::lies(&bytes) {
            assert!(body::read(&lie).is_none(), "{name} is longer than it is");
            lies += 1;
        }
    }
    assert!(lies >= 3 * dense::lists().len(), "only {lies} lies");
}
