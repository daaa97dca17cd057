//! Every write and every sync of a directory, numbered in the order in which they are reached.
//!
//! For tests and simulators: a hook sees each step before it is done, and may end the process there or have the step fail as a disk would. Without a
//! hook a step costs a comparison.

use std::fmt;
use std::sync::Arc;

/// What is about to be done, or has just been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The directory is about to be made.
    MakeDirectory,
    /// The lock file is about to be made and locked.
    Lock,
    /// The transaction that makes the file's tables is about to begin.
    Format,
    /// It is about to be committed and synced.
    CommitFormat,
    /// The file is about to be switched to a write-ahead log.
    EnterWal,
    /// The directory's own entries are about to be synced.
    SyncDirectory,
    /// The transaction that counts this opening is about to begin.
    CountOpen,
    /// It is about to be committed and synced.
    CommitOpen,
    /// A transaction is about to begin.
    Begin,
    /// An operation is about to be written into the transaction.
    Operation,
    /// The transaction is about to be committed and synced.
    Commit,
    /// It was committed and synced, and nobody was told yet.
    Committed,
    /// The write-ahead log is about to be moved into the file.
    Checkpoint,
    /// It was moved.
    Checkpointed,
}

/// How a step is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// As on a full disk.
    Full,
    /// As on a disk that does not write.
    Io,
}

/// What sees each step, with its number from 1.
pub type Hook = Arc<dyn Fn(u64, Step) -> Result<(), Fault> + Send + Sync>;

/// The count, and the hook if there is one.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    reached: u64,
    hook: Option<Hook>,
}

impl Steps {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { reached: 0, hook }
    }

    pub(crate) fn reach(&mut self, step: Step) -> Result<(), Fault> {
        self.reached += 1;
        match &self.hook {
            Some(hook) => hook(self.reached, step),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.reached)
    }
}
