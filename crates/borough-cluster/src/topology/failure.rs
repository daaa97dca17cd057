//! Why a node gave up its lease by itself.

use std::fmt;

use borough_sqlite::REPLACE;

/// Why a node gave up its lease by itself: it could not run its entities any more, although its process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The tokio runtime that the node was started in was shut down.
    RuntimeGone,
    /// A task of the library ended by a panic: the region driver, or a worker that runs entities.
    WorkerEnded,
    /// A worker did not answer for `wedged_after`, which was set.
    Wedged,
    /// Its data directory does not hold what a node writes.
    DataDirectory,
}

impl Failure {
    /// Whether it ends with the process: a new process can work. Otherwise that one fails in the same way, until somebody does what [`remedy`](Self::remedy)
    /// says.
    pub fn ends_with_process(self) -> bool {
        match self {
            Self::RuntimeGone | Self::WorkerEnded | Self::Wedged => true,
            Self::DataDirectory => false,
        }
    }

    /// What to do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::RuntimeGone | Self::WorkerEnded | Self::Wedged => "start its process again",
            Self::DataDirectory => REPLACE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RuntimeGone => "the tokio runtime it was started in is gone",
            Self::WorkerEnded => "a worker that runs its entities ended by a panic",
            Self::Wedged => "a worker did not answer for `wedged_after`: user code blocks it",
            Self::DataDirectory => "its data directory does not hold the log of a voter",
        })
    }
}
