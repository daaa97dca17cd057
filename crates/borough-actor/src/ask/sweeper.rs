//! The one task that ends asks whose time is up.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::system::Core;

/// How often asks are looked at, and so how late a timeout can be.
const SWEEP_EVERY: Duration = Duration::from_millis(10);
/// A pause is this many times as long as the sweep before it took, within the bounds: with hundreds of thousands
/// of asks under way they are looked at less often.
const PAUSE_PER_WORK: u32 = 10;
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// After this many sweeps that found nothing the sweeper sleeps until it is called.
const IDLE_SWEEPS: u32 = 100;

/// Sweeps until the system is gone, and whoever could still be asked.
pub(crate) async fn run(core: Weak<Core>) {
    let mut idle_sweeps = 0;
    while let Some(core) = core.upgrade() {
        let begun = Instant::now();
        let left = core.asks.sweep(begun);
        let pause = (begun.elapsed() * PAUSE_PER_WORK).clamp(SWEEP_EVERY, PAUSE_MAX);
        idle_sweeps = if left == 0 { idle_sweeps + 1 } else { 0 };
        let closed = core.asks.is_closed();
        if closed && left == 0 && core.registry.len() == 0 {
            return;
        }
        let asks = core.asks.clone();
        drop(core);
        if !closed && idle_sweeps >= IDLE_SWEEPS && asks.sweeper_may_leave() {
            idle_sweeps = 0;
            asks.call_sweeper.notified().await;
        } else {
            sleep(pause).await;
        }
    }
}
