//! One run of one plan.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;
use std::time::Duration;

use tokio::runtime::Builder;

use super::books::{Books, Tally};
use super::plan::Plan;
use super::trace::{Lines, Trace};
use super::world::World;
use crate::sim::Violation;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The first rule that was broken.
    pub violation: Option<Violation>,
    /// A hash of everything that could be seen, each with its simulated time.
    pub trace_hash: u64,
    /// How much that was.
    pub events: u64,
    /// How long it took until all nodes were in one cluster again.
    pub healed_after: Duration,
    /// How much of everything there was.
    pub tally: Tally,
}

thread_local! {
    /// What a panic on this thread said; none while nothing is run here.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a plan to its end, on this thread, in a runtime of its own. A panic of a node is a violation.
///
/// # Panics
/// If the operating system gives no runtime.
pub fn run(plan: &Plan, lines: Option<Lines>) -> Outcome {
    listen();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    SAID.set(Some(String::new()));
    let mut outcome = runtime.block_on(async {
        let books = Books::new(Trace::new(plan.seed, lines));
        let healed = World::new(plan, books.clone()).run().await;
        let books = books.open();
        let violation = books.violation().or(healed.clone().err());
        Outcome {
            violation,
            trace_hash: books.trace.hash(),
            events: books.trace.events(),
            healed_after: healed.unwrap_or_default(),
            tally: books.tally,
        }
    });
    drop(runtime);
    if let Some(said) = SAID.take().filter(|said| !said.is_empty()) {
        outcome.violation = Some(Violation::Crash(said));
    }
    outcome
}

/// Panics of runs are kept instead of printed; all others go where they went before.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_ours = SAID.with_borrow_mut(|said| {
                said.as_mut().map(|said| *said = info.to_string().replace('\n', " ")).is_some()
            });
            if !is_ours {
                before(info);
            }
        }));
    });
}
