//! How many tells the entities of this process have handled, and the sum of their numbers.
//!
//! Entities run on many threads; each has counters of its own, so that to count costs about as much as an addition.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(1);

#[derive(Default)]
#[repr(align(128))]
struct Stripe {
    count: AtomicU64,
    sum: AtomicU64,
}

static STRIPES: Mutex<Vec<&'static Stripe>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: &'static Stripe = {
        // One a thread of the runtime, for the life of the process.
        let stripe: &Stripe = Box::leak(Box::default());
        STRIPES.lock().unwrap_or_else(PoisonError::into_inner).push(stripe);
        stripe
    };
}

/// To be called for each tell that is handled.
pub(super) fn handled(number: u64) {
    MINE.with(|mine| {
        // Only this thread writes here, so no exchange is needed.
        mine.sum.store(mine.sum.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
        mine.count.store(mine.count.load(Ordering::Relaxed) + 1, Ordering::Release);
    });
}

/// Tells handled so far, and the sum of their numbers.
pub(super) fn so_far() -> (u64, u64) {
    let stripes = STRIPES.lock().unwrap_or_else(PoisonError::into_inner);
    stripes.iter().fold((0, 0), |(count, sum), stripe| {
        let counted = stripe.count.load(Ordering::Acquire);
        (count + counted, sum.wrapping_add(stripe.sum.load(Ordering::Relaxed)))
    })
}

/// Waits until so many tells have been handled, and no longer than two minutes: lost ones never are. The sum of their numbers.
pub(super) async fn until(count: u64) -> u64 {
    let limit = Instant::now() + LIMIT;
    loop {
        let (handled, sum) = so_far();
        if handled >= count || Instant::now() > limit {
            return sum;
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_handle_adds_up() {
        let before = so_far();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..1000).for_each(handled))).collect();
        for thread in threads {
            thread.join().expect("ends");
        }
        let after = so_far();
        assert_eq!((after.0 - before.0, after.1 - before.1), (4000, 4 * 499_500));
    }
}
