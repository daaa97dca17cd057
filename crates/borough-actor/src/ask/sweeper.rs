//! The one task that ends asks whose time is up.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::system::Core;

/// How often asks are looked at, and so how late a timeout can be.
const SWEEP_EVERY: Duration = Duration::from_millis(10);
/// A pause is this many times as long as the sweep before it took: a table of a million asks is swept less often.
const PAUSE_PER_WORK: u32 = 20;
/// After this many sweeps that found nothing the sweeper sleeps until it is called.
const IDLE_SWEEPS: u32 = 100;

/// Sweeps until the system is gone.
pub(crate) async fn run(core: Weak<Core>) {
    let mut idle_sweeps = 0;
    while let Some(core) = core.upgrade() {
        let begun = Instant::now();
        let left = core.asks.sweep(begun);
        let pause = SWEEP_EVERY.max(begun.elapsed() * PAUSE_PER_WORK);
        idle_sweeps = if left == 0 { idle_sweeps + 1 } else { 0 };
        let asks = core.asks.clone();
        drop(core);
        if left == 0 && asks.is_closed() {
            return;
        }
        if idle_sweeps >= IDLE_SWEEPS && asks.sweeper_may_leave() {
            idle_sweeps = 0;
            asks.call_sweeper.notified().await;
        } else {
            sleep(pause).await;
        }
    }
}
