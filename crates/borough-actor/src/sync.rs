//! The locks this crate uses, named in one place.
//!
//! The mailbox takes its lock from here and from nowhere else, so that its race tests can put a
//! scheduler-controlled lock in the same place (see `tests/races`).

use std::sync::PoisonError;
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Locks, and goes on if an earlier holder panicked.
///
/// No user code runs under our locks, so a poisoned one means only that a panic passed through
/// with the data intact; refusing to go on would turn one actor's fault into everybody's.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
