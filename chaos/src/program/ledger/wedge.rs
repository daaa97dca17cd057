//! Handlers that block the threads they run on, in the middle of a turn, until they are released.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::program::say;
use crate::words::Said;

/// For all entities of the process: they are made again from bytes alone when they have moved.
static GATE: Gate = Gate { is_shut: AtomicBool::new(false), to_block: Mutex::new(0), opened: Condvar::new() };

struct Gate {
    is_shut: AtomicBool,
    /// How many more turns are to block.
    to_block: Mutex<usize>,
    opened: Condvar,
}

/// The next turns block, as many as that.
pub(in crate::program) fn wedge(turns: usize) {
    *GATE.to_block.lock().unwrap_or_else(PoisonError::into_inner) = turns;
    GATE.is_shut.store(true, Ordering::SeqCst);
}

/// They go on, and no more block.
pub(in crate::program) fn release() {
    let mut to_block = GATE.to_block.lock().unwrap_or_else(PoisonError::into_inner);
    *to_block = 0;
    GATE.is_shut.store(false, Ordering::SeqCst);
    GATE.opened.notify_all();
}

/// Blocks, if this turn is to.
pub(super) fn pass() {
    if !GATE.is_shut.load(Ordering::SeqCst) {
        return;
    }
    let mut to_block = GATE.to_block.lock().unwrap_or_else(PoisonError::into_inner);
    if *to_block == 0 {
        return;
    }
    *to_block -= 1;
    if *to_block == 0 {
        say(&Said::Blocked);
    }
    while GATE.is_shut.load(Ordering::SeqCst) {
        to_block = GATE.opened.wait(to_block).unwrap_or_else(PoisonError::into_inner);
    }
}
