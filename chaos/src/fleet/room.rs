//! What all processes of a fleet said, and who waits for what.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::words::{Answer, Said, View};

/// What was heard of each process, by the number of its start.
#[derive(Debug, Default)]
pub(crate) struct Room {
    heard: Mutex<BTreeMap<usize, Heard>>,
    changed: Condvar,
}

/// What was heard of one process.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) is_listening: bool,
    /// Everything it ever knew of its cluster, with when it said so.
    pub(crate) views: Vec<(Instant, View)>,
    pub(crate) blocked: usize,
    pub(crate) answers: BTreeMap<u64, Answer>,
    pub(crate) is_over: bool,
}

impl Heard {
    /// What it knows now.
    pub(crate) fn view(&self) -> Option<&View> {
        self.views.last().map(|(_, view)| view)
    }
}

impl Room {
    /// A process was started.
    pub(crate) fn enter(&self, start: usize) {
        self.lock().insert(start, Heard::default());
    }

    /// A process said something.
    pub(crate) fn hear(&self, start: usize, said: Said) {
        let mut heard = self.lock();
        let of_it = heard.entry(start).or_default();
        match said {
            Said::Listening { .. } => of_it.is_listening = true,
            Said::Topology(view) => of_it.views.push((Instant::now(), view)),
            Said::Blocked => of_it.blocked += 1,
            Said::Answer { id, answer } => drop(of_it.answers.insert(id, answer)),
            Said::Counts(_) | Said::Ending { .. } => {}
        }
        self.changed.notify_all();
    }

    /// A process will say nothing more.
    pub(crate) fn leave(&self, start: usize) {
        self.lock().entry(start).or_default().is_over = true;
        self.changed.notify_all();
    }

    /// Waits until what was heard is as wanted; if it is not in time, the last reason why not.
    pub(crate) fn wait<T>(
        &self,
        bound: Duration,
        mut wanted: impl FnMut(&mut BTreeMap<usize, Heard>) -> Result<T, String>,
    ) -> Result<T, String> {
        let until = Instant::now() + bound;
        let mut heard = self.lock();
        loop {
            let why = match wanted(&mut heard) {
                Ok(found) => return Ok(found),
                Err(why) => why,
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("not within {bound:?}: {why}"));
            }
            heard = self.changed.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
