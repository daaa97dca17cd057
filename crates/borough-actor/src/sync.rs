//! The lock this crate uses, and how it is taken.
//!
//! The mailbox takes its lock from here and from nowhere else, so that its race tests can put a
//! scheduler-controlled lock in the same place (see `tests/races`).

use std::hint::spin_loop;
pub(crate) use std::sync::{Mutex, MutexGuard};
use std::sync::{PoisonError, TryLockError};

/// How long to keep away from a contended lock, in pauses of the processor: at first, and at most.
///
/// Two senders on two cores that both want a mailbox pull its cache line back and forth with every message.
/// If one keeps away for a while, the other sends dozens undisturbed: four senders on two cores went
/// from 9.8 to 24 M messages a second (medians of 5; 4 to 32 pauses: 19.5, 64 to 128: 24.7, 256 to 512: 24.4,
/// but threads that never yield fall from 22 to 17).
const PAUSES_FIRST: u32 = 16;
const PAUSES_MAX: u32 = 128;

/// Locks, and goes on if an earlier holder panicked.
///
/// Nothing is left half done under our locks, so a poisoned one means only that a panic passed
/// through; refusing to go on would turn one actor's fault into everybody's.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => lock_contended(mutex),
    }
}

#[cold]
fn lock_contended<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let mut pauses = PAUSES_FIRST;
    while pauses <= PAUSES_MAX {
        (0..pauses).for_each(|_| spin_loop());
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => pauses *= 2,
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
