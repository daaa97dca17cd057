//! What the thread that writes a data directory reports, for the control thread to read.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_protocol::node::Input;
use borough_sqlite::Report;
use tokio::sync::{mpsc, watch};

use super::condition::Condition;

/// What is known of the disk, where the thread that writes it says so.
pub(super) struct News {
    /// What everybody may know of it.
    pub(super) condition: Arc<Condition>,
    /// To the machine.
    pub(super) inputs: mpsc::UnboundedSender<Input>,
    /// The sequence of the last write before this life: the numbers of the machine start at 1 in each life. Held while a report is sent: it was sent
    /// before the next life begins, or is counted from the beginning of that life.
    base: Mutex<u64>,
    pub(super) progress: watch::Sender<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) written: u64,
    pub(super) has_failed: bool,
    /// The directory is free for others.
    pub(super) is_closed: bool,
}

impl News {
    pub(super) fn new(path: &Path, inputs: mpsc::UnboundedSender<Input>) -> Self {
        Self {
            condition: Arc::new(Condition::new(path)),
            inputs,
            base: Mutex::new(0),
            progress: watch::channel(Progress::default()).0,
        }
    }

    /// The writes of the next life come after that one.
    pub(super) fn begin_life(&self, base: u64) {
        *self.base() = base;
    }

    /// The sequence of a write that has that number in the present life.
    pub(super) fn sequence(&self, number: u64) -> u64 {
        *self.base() + number
    }

    pub(super) fn written(&self, sequence: u64) {
        let base = self.base();
        if let Some(number) = sequence.checked_sub(*base).filter(|it| *it > 0) {
            // Who does not listen any more has ended.
            let _ = self.inputs.send(Input::Written(number));
        }
        drop(base);
        // Last: a wait for the disk ends here, and the next life then discards what was sent before.
        self.progress.send_modify(|progress| progress.written = sequence);
        self.condition.answered();
    }

    fn base(&self) -> MutexGuard<'_, u64> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed(&self, error: &(impl fmt::Display + ?Sized)) {
        if self.condition.fail(error.to_string()) {
            self.progress.send_modify(|progress| progress.has_failed = true);
            tracing::error!(
                path = %self.condition.path().display(),
                %error,
                "the data directory cannot be written: the node does not vote; repair the disk and start the process again"
            );
            let _ = self.inputs.send(Input::DiskWorks(false));
        }
    }

    pub(super) fn closed(&self) {
        self.condition.close();
        self.progress.send_modify(|progress| progress.is_closed = true);
    }

    pub(super) fn report(&self, report: Report) {
        match report {
            Report::Written(sequence) => self.written(sequence),
            Report::Stamped(_) => self.condition.answered(),
            Report::Failed(error) => self.failed(&error),
            Report::Closed => self.closed(),
        }
    }
}
