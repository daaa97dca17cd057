//! What the thread that writes a data directory reports, for the control thread to read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, mem};

use borough_protocol::node::Input;
use borough_sqlite::Report;
use tokio::sync::{mpsc, watch};

/// What is known of the disk, where the thread that writes it says so.
pub(super) struct News {
    path: PathBuf,
    /// To the machine.
    pub(super) inputs: mpsc::UnboundedSender<Input>,
    /// The sequence of the last write before this life: the numbers of the machine start at 1 in each life. Held while a report is sent: it was sent
    /// before the next life begins, or is counted from the beginning of that life.
    base: Mutex<u64>,
    pub(super) progress: watch::Sender<Progress>,
    /// When the disk last said that it can be written; not by the machine's clock, which may be simulated.
    answered: Mutex<Instant>,
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
            path: path.to_owned(),
            inputs,
            base: Mutex::new(0),
            progress: watch::channel(Progress::default()).0,
            answered: Mutex::new(Instant::now()),
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
        self.answered();
    }

    fn base(&self) -> MutexGuard<'_, u64> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn answered(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn failed(&self, error: &(impl fmt::Display + ?Sized)) {
        let is_first =
            self.progress.send_if_modified(|progress| !mem::replace(&mut progress.has_failed, true));
        if is_first {
            tracing::error!(
                path = %self.path.display(),
                %error,
                "the data directory cannot be written: the node answers nobody as a voter; mend the disk and start the process again"
            );
            let _ = self.inputs.send(Input::DiskWorks(false));
        }
    }

    pub(super) fn closed(&self) {
        self.progress.send_modify(|progress| progress.is_closed = true);
    }

    pub(super) fn report(&self, report: Report) {
        match report {
            Report::Written(sequence) => self.written(sequence),
            Report::Stamped(_) => self.answered(),
            Report::Failed(error) => self.failed(&error),
            Report::Closed => self.closed(),
        }
    }

    /// For how long the disk has said nothing, at that moment.
    pub(super) fn silent_at(&self, now: Instant) -> Duration {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        now.saturating_duration_since(*answered)
    }
}
