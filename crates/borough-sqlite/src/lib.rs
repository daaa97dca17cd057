//! What a node keeps on disk: its identity, and as a voter its term, its vote and the log of the table.
//!
//! The promise: what [`DataDirectory::write`] or a [`Writer`] reported as written is there after any crash, and what is read is exactly what was
//! written, or an error says which file is wrong and what to do. One process uses a directory at a time. Payloads are opaque: bytes and the number
//! of their codec.
//!
//! ```text
//! control thread -- batch, sequence --> Writer: one thread, groups what waits --> DataDirectory: one transaction, synced --> Report::Written
//! ```
//! What cannot be known here: a directory that was restored from a backup, or whose disk lost synced writes, looks like an older one that is whole.
//! The coordinator detects it: the voter's log is shorter than what that voter had confirmed.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod checksum;
mod directory;
mod error;
#[doc(hidden)]
pub mod failpoints;
mod sqlite;
mod voter;
mod writer;

pub use self::directory::{
    DATABASE_FILE, DataDirectory, DataFile, FORMAT, Holder, Identity, Inspection, LOCK_FILE, Loaded,
    OpenOptions, Reset, Stamp, inspect,
};
pub use self::error::{OpenError, REPLACE, Refusal, WriteError};
pub use self::voter::{Entry, Operation, Payload, Position, Record, RecordState, Snapshot, VoterState};
pub use self::writer::{Batch, Report, SubmitError, WriteTimes, Writer, WriterOptions};
