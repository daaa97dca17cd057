//! Runs whose machines may panic: a broken machine is a finding, not the end of the search.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::plan::Plan;
use super::rare::Met;
use super::run::{Outcome, run};
use super::sharding::Situations;
use super::trace::Lines;
use super::violation::Violation;

thread_local! {
    /// What the panic of a guarded run on this thread said; none while no run is guarded here.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a plan; a panic becomes [`Violation::Crash`] with its text and place.
pub fn guarded(plan: &Plan, lines: Option<Lines>) -> Outcome {
    listen();
    SAID.set(Some(String::new()));
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| run(plan, lines)));
    let said = SAID.take().unwrap_or_default();
    outcome.unwrap_or_else(|_| Outcome {
        violation: Some(Violation::Crash(said)),
        trace_hash: 0,
        handled: 0,
        turned_wild: false,
        healed_after: 0,
        met: Met::default(),
        tally: [0; 4],
        situations: Situations::default(),
        struck: Vec::new(),
    })
}

/// Panics of guarded runs are kept instead of printed; all others go where they went before.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_guarded = SAID.with_borrow_mut(|said| {
                said.as_mut().map(|said| *said = info.to_string().replace('\n', " ")).is_some()
            });
            if !is_guarded {
                before(info);
            }
        }));
    });
}
