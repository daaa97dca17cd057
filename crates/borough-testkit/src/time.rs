//! Time that moves only when a test says so.
//!
//! `#[tokio::test(start_paused = true)]` stops the clock of a test: every timer of tokio, and so every timer, timeout and deadline of actors, waits on
//! it. The runtime then moves it by itself, to the next deadline, whenever nobody has anything left to do. [`ManualTime`] is for tests that are about
//! time itself: it moves the clock by a certain span, stopping at every deadline in between so that whoever waits there runs at its own moment.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The smallest step of tokio's clock.
const STEP: Duration = Duration::from_millis(1);
/// How often everybody is let run at the moment where a span ends.
const ROUNDS: usize = 64;

/// Moves the stopped clock of a test.
///
/// ```
/// use std::time::Duration;
/// use borough::prelude::*;
/// use borough_testkit::{ManualTime, Probe};
///
/// /// Ticks every ten seconds, and says so when nobody has spoken to it for a minute.
/// struct Clock(ActorRef<&'static str>);
///
/// enum Said { Hello, Tick, Silence }
///
/// impl Actor for Clock {
///     type Msg = Said;
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         ctx.timers().once("tick", Duration::from_secs(10), Said::Tick);
///         ctx.set_receive_timeout(Duration::from_secs(60), || Said::Silence);
///         Ok(())
///     }
///     async fn receive(&mut self, said: Said, _: &mut Context<Self>) -> Result<(), Fault> {
///         let word = match said {
///             Said::Hello => "hello",
///             Said::Tick => "tick",
///             Said::Silence => "silence",
///         };
///         self.0.tell(word).await?;
///         Ok(())
///     }
/// }
///
/// // In a test: #[tokio::test(start_paused = true)]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = System::new("doc")?;
/// let time = ManualTime::new();
/// let mut probe = Probe::new(&system);
/// let to = probe.actor_ref();
/// let clock = system.spawn(move || Clock(to.clone()));
/// clock.tell(Said::Hello).await?;
/// time.advance(Duration::from_secs(9)).await;
/// assert_eq!(probe.drain(), ["hello"]);
/// time.advance(Duration::from_secs(2)).await;
/// assert_eq!(probe.drain(), ["tick"]);
/// time.advance(Duration::from_secs(61)).await;
/// assert_eq!(probe.drain(), ["silence"]);
/// # Ok(()) }
/// ```
///
/// Between steps the clock stands still unless the test awaits something that is not ready: then it moves to the next deadline, as it always does
/// while it is stopped. A handler that computes, or a task of `spawn_blocking`, holds the clock until it is done.
#[derive(Clone, Copy, Debug)]
pub struct ManualTime {
    began: Instant,
}

impl ManualTime {
    /// Counts from now.
    #[must_use]
    pub fn new() -> Self {
        Self { began: Instant::now() }
    }

    /// Moves the clock by that span. Whoever waits for a moment within it runs at that moment, in order, as far as they can. At the last moment everybody
    /// has had 64 turns when this is ready, which is enough for a chain of thirty messages and answers; [`settle`](Self::settle) goes on to its end.
    ///
    /// # Panics
    /// If the clock runs: the test needs `#[tokio::test(start_paused = true)]`.
    pub async fn advance(&self, span: Duration) {
        // Panics on a clock that runs; it moves nothing.
        tokio::time::advance(Duration::ZERO).await;
        // The clock moves only when nobody can run, so the work of each moment is done before the next; that of the last moment is begun with this wake-up.
        sleep(span).await;
        for _ in 0..ROUNDS {
            tokio::task::yield_now().await;
        }
    }

    /// Lets everybody run as far as they can, however long that takes. The clock moves by a millisecond, which is its smallest step.
    ///
    /// # Panics
    /// If the clock runs: the test needs `#[tokio::test(start_paused = true)]`.
    pub async fn settle(&self) {
        self.advance(STEP).await;
    }

    /// How far the clock has moved since this was made.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Default for ManualTime {
    fn default() -> Self {
        Self::new()
    }
}
