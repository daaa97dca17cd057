//! How the data directory of a node does, where anybody can read it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use borough_sqlite::WriteTimes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Whether the data directory of a node takes writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DataDirectoryState {
    /// It does.
    Works,
    /// The disk neither answers nor fails. The node answers nobody as a voter until the disk answers again.
    Stuck,
    /// A write failed. The node answers nobody as a voter until its process is started again.
    Failed {
        /// Which file, what went wrong, and what to do.
        error: String,
    },
}

/// The data directory of a node, as its disk was seen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DataDirectoryStats {
    /// The directory.
    pub path: String,
    /// Whether it takes writes.
    pub state: DataDirectoryState,
    /// How long ago the disk last took a write. A disk that works takes one every 2 s. Zero once the directory is closed.
    pub silent: Duration,
    /// How long the last write took, with its sync.
    pub last_write: Duration,
    /// How long the longest write took, with its sync, since the process started.
    pub longest_write: Duration,
    /// How often the disk was stuck since the process started.
    pub stalls: u64,
}

impl DataDirectoryStats {
    /// What is wrong with the disk, and what to do; `None` if it works.
    pub fn trouble(&self) -> Option<String> {
        let Self { path, state, silent, .. } = self;
        match state {
            DataDirectoryState::Works => None,
            DataDirectoryState::Stuck => Some(format!(
                "the data directory {path} has taken no write for {} s, and the node does not vote until it does: look at the disk of that directory; \
                 a disk that works again needs no restart of the process",
                silent.as_secs()
            )),
            DataDirectoryState::Failed { error } => Some(format!(
                "the data directory {path} cannot be written, and the node does not vote: {error}; repair the disk of that directory, then start the \
                 process again"
            )),
        }
    }
}

/// What is known of the disk. The disk's side writes it, everybody reads it.
pub(crate) struct Condition {
    path: PathBuf,
    state: watch::Sender<DataDirectoryState>,
    /// When the disk last said that it can be written; not by the machine's clock, which may be simulated.
    answered: Mutex<Instant>,
    is_closed: AtomicBool,
    stalls: AtomicU64,
    /// How long writes take; not set while no thread waits for the disk.
    times: OnceLock<Arc<WriteTimes>>,
}

impl Condition {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            state: watch::Sender::new(DataDirectoryState::Works),
            answered: Mutex::new(Instant::now()),
            is_closed: AtomicBool::new(false),
            stalls: AtomicU64::new(0),
            times: OnceLock::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A thread waits for the disk, and says how long writes take.
    pub(super) fn time_by(&self, times: Arc<WriteTimes>) {
        let _ = self.times.set(times);
    }

    /// The disk can be written.
    pub(super) fn answered(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// For how long the disk has said nothing, at that moment.
    pub(super) fn silent_at(&self, now: Instant) -> Duration {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        now.saturating_duration_since(*answered)
    }

    /// A write failed; says whether it is the first.
    pub(super) fn fail(&self, error: String) -> bool {
        self.state.send_if_modified(|state| {
            let is_first = !matches!(state, DataDirectoryState::Failed { .. });
            if is_first {
                *state = DataDirectoryState::Failed { error };
            }
            is_first
        })
    }

    /// The disk is stuck, or no longer is; says whether that is new. A disk that failed stays failed.
    pub(super) fn set_stuck(&self, is_stuck: bool) -> bool {
        let is_new = self.state.send_if_modified(|state| {
            let (from, to) = if is_stuck {
                (DataDirectoryState::Works, DataDirectoryState::Stuck)
            } else {
                (DataDirectoryState::Stuck, DataDirectoryState::Works)
            };
            let is_new = *state == from;
            if is_new {
                *state = to;
            }
            is_new
        });
        if is_new && is_stuck {
            self.stalls.fetch_add(1, Ordering::Relaxed);
        }
        is_new
    }

    /// The directory is closed: nothing is to be heard of the disk any more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Whether the disk takes writes.
    pub(crate) fn works(&self) -> bool {
        *self.state.borrow() == DataDirectoryState::Works
    }

    /// Whether it does, now and as it changes.
    pub(crate) fn states(&self) -> watch::Receiver<DataDirectoryState> {
        self.state.subscribe()
    }

    /// What is known now.
    pub(crate) fn stats(&self) -> DataDirectoryStats {
        let times = self.times.get();
        let is_timed = times.is_some() && !self.is_closed.load(Ordering::Relaxed);
        DataDirectoryStats {
            path: self.path.display().to_string(),
            state: self.state.borrow().clone(),
            silent: if is_timed { self.silent_at(Instant::now()) } else { Duration::ZERO },
            last_write: times.map_or(Duration::ZERO, |times| times.last()),
            longest_write: times.map_or(Duration::ZERO, |times| times.longest()),
            stalls: self.stalls.load(Ordering::Relaxed),
        }
    }
}
