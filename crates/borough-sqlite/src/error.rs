//! Errors: what failed, in which file, what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::failpoints::Fault;
use crate::sqlite::Cause;

/// How a node goes on whose directory is of no use: without the seeds it could found a cluster of its own, and without a majority its vote may be needed.
pub const REPLACE: &str = "give the node the addresses of the others as seeds, and, while a majority of the voters runs, start it on an empty directory (`borough data reset` makes it so): it joins as a new node and gets the table from the others";

/// Why a data directory could not be opened, inspected or reset. Nothing was lost by it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such directory.
    #[error("{path} does not exist: name the directory that `data_dir` of the node names")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// There is a file of that name.
    #[error("{path} is not a directory: name a directory, or a path where one can be made")]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// The directory has no data of a node.
    #[error("{path} holds no data of a Borough node: no {} is in it", crate::DATABASE_FILE)]
    NoData {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has files of something else, and no data of a node.
    #[error(
        "{path} holds files that are not Borough's ({}): name a new or empty directory for the data of this node alone",
        .found.join(", ")
    )]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
        /// Some of the files.
        found: Vec<String>,
    },
    /// The file was not made by Borough.
    #[error(
        "{file} is not a file of Borough ({what}): name another directory. If it was Borough's, it is damaged: {REPLACE}"
    )]
    ForeignFile {
        /// The file.
        file: PathBuf,
        /// By what that was seen.
        what: String,
    },
    /// The directory is that of another cluster.
    #[error(
        "{file} is of the cluster {found:?}, and this node is to be of {expected:?}: name the directory of {expected:?}, or correct the cluster's name"
    )]
    OtherCluster {
        /// The file.
        file: PathBuf,
        /// The cluster it was made for.
        found: String,
        /// The cluster that was given.
        expected: String,
    },
    /// A later version of Borough wrote it.
    #[error(
        "{file} has format {found}, and this version of Borough reads up to {known}: use the version that wrote it, or a later one"
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },
    /// A process uses the directory.
    #[error(
        "{path} is in use by {}: one process uses a directory at a time; end that process (a `borough data inspect` that was suspended counts, too), or give this node a directory of its own",
        process(.pid.as_ref())
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process, as far as the lock file says.
        pid: Option<u32>,
    },
    /// Another program reads an older state of the file, so that what the last process wrote cannot be moved into it.
    #[error(
        "{file} is read by another program, and has been for seconds: end that program (sqlite3, or a `borough data inspect` that was suspended), and start the node again"
    )]
    Read {
        /// The file.
        file: PathBuf,
    },
    /// What is read is not what was written.
    #[error("{file} is damaged: {what}. Do not restore an older copy of it: {REPLACE}")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The user of this process may not use it.
    #[error("{path} may not be read and written by this process: give its user the right to")]
    NoPermission {
        /// The directory or file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("{path} can only be read: mount its file system for writing, or name another directory")]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
    },
    /// There is no room.
    #[error("there is no room on the disk of {path}: free some, and start the node again")]
    Full {
        /// The directory or file.
        path: PathBuf,
    },
    /// The linked SQLite has a known fault.
    #[error(
        "SQLite {found} can damage a write-ahead log: build with SQLite 3.51.3 or later (the feature `bundled` of rusqlite brings one)"
    )]
    SqliteTooOld {
        /// Its version.
        found: &'static str,
    },
    /// The system gave no randomness for a new identity.
    #[error("the system gave no random number for the identity of a new node: {what}")]
    NoRandomness {
        /// What it said.
        what: String,
    },
    /// The system could not do it.
    #[error("{path} could not be used: {what}: see to the disk, and start the node again")]
    Io {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        what: String,
    },
}

/// Why a batch was not written. Unless it was [refused](WriteError::Refused), the directory takes no more batches: what of the last one is on the disk
/// is known only after it was opened again. A voter stops answering then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The batch does not fit to what is there. None of it was written; the directory goes on.
    #[error("{file}: a batch was refused, and none of it was written: {refusal}")]
    Refused {
        /// The file.
        file: PathBuf,
        /// What does not fit.
        refusal: Refusal,
    },
    /// There is no room.
    #[error("there is no room on the disk of {file}: free some, and start the node again")]
    Full {
        /// The file.
        file: PathBuf,
    },
    /// The file system can only be read any more.
    #[error("{file} can only be read: see to the disk, mount it for writing, and start the node again")]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// The file is damaged.
    #[error("{file} is damaged: {what}. Do not restore an older copy of it: {REPLACE}")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        what: String,
    },
    /// The disk did not write.
    #[error("{file} could not be written: {what}: see to the disk, and start the node again")]
    Io {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        what: String,
    },
    /// Another process has opened the directory since, although this one has the lock: the file of the lock was removed, or the file system does not
    /// keep locks. None of the batch was written; the newest opening goes on.
    #[error(
        "{file} was opened by another process (opening {newest}, and this is opening {opening}): one process uses a directory at a time; this one writes nothing more. End one of the two, keep the directory on a local disk, and do not remove its lock file"
    )]
    OpenedAgain {
        /// The file.
        file: PathBuf,
        /// The number of this opening.
        opening: u64,
        /// The number of the newest one.
        newest: u64,
    },
    /// The lock file is not the one that this process has locked. None of the batch was written.
    #[error(
        "{file} was removed or replaced while this process had locked it: another process could use the directory, so this one writes nothing more. End all processes that use the directory, and start the node again"
    )]
    LockLost {
        /// The lock file.
        file: PathBuf,
    },
    /// An earlier write failed.
    #[error("{file} takes no more writes, because an earlier one failed: start the node again")]
    Stopped {
        /// The file.
        file: PathBuf,
    },
}

/// What of a batch does not fit to what is there: a mistake of the program that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// An entry that does not follow the last one.
    #[error("an entry at {index} where {expected} is next")]
    NotNext {
        /// The place of the entry.
        index: u64,
        /// The only place where one can be appended.
        expected: u64,
    },
    /// An entry of an older term than the one before it.
    #[error("an entry of term {term} behind one of term {last}")]
    TermFalls {
        /// The term of the entry.
        term: u64,
        /// The term of the last entry.
        last: u64,
    },
    /// An entry or a snapshot of a term that was not written.
    #[error("an entry or snapshot of term {term}, while the written term is {written:?}")]
    TermNotWritten {
        /// The term of the entry or snapshot.
        term: u64,
        /// The term of the voter, if one was written.
        written: Option<u64>,
    },
    /// A term below the one that was written.
    #[error("term {term} after term {written}")]
    TermGoesBack {
        /// The term.
        term: u64,
        /// The one that was written.
        written: u64,
    },
    /// Entries that a snapshot stands for cannot be cut off.
    #[error("a cut above {above}, below the snapshot at {snapshot}")]
    CutsSnapshot {
        /// Everything above this place was to go.
        above: u64,
        /// The place of the snapshot.
        snapshot: u64,
    },
    /// An older snapshot than the one that is there.
    #[error("a snapshot at {index} after one at {written}")]
    SnapshotGoesBack {
        /// The place of the snapshot.
        index: u64,
        /// The place of the one that is there.
        written: u64,
    },
    /// The log has an entry of another term at the place of the snapshot: the log has to be cut first.
    #[error("a snapshot of term {term} at {index}, where the log has term {in_log}")]
    SnapshotDisagrees {
        /// The place of the snapshot.
        index: u64,
        /// Its term.
        term: u64,
        /// The term that the log has there.
        in_log: u64,
    },
    /// A place or term that no log reaches.
    #[error("{number} is no place or term of a log")]
    OutOfRange {
        /// The number.
        number: u64,
    },
}

fn process(pid: Option<&u32>) -> String {
    match pid {
        Some(pid) if *pid == std::process::id() => format!("this process ({pid})"),
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}

impl OpenError {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::PermissionDenied => Self::NoPermission { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            // The kinds are open-ended: every other one is said as the system says it.
            _ => Self::Io { path, what: error.to_string() },
        }
    }

    pub(crate) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let what = error.to_string();
        let path = file.to_owned();
        match Cause::at(file, error) {
            Cause::Full => Self::Full { path },
            Cause::ReadOnly => Self::ReadOnly { path },
            Cause::Forbidden => Self::NoPermission { path },
            Cause::NotADatabase => Self::ForeignFile { file: path, what },
            Cause::Corrupt => Self::Corrupt { file: path, what },
            Cause::Busy => Self::Locked { path, pid: None },
            Cause::Disk | Cause::Other => Self::Io { path, what },
        }
    }

    pub(crate) fn fault(path: &Path, fault: Fault) -> Self {
        let path = path.to_owned();
        match fault {
            Fault::Full => Self::Full { path },
            Fault::Io => Self::Io { path, what: "a failpoint was set".to_owned() },
        }
    }
}

impl WriteError {
    pub(crate) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let (what, cause) = (error.to_string(), Cause::at(file, error));
        let file = file.to_owned();
        match cause {
            Cause::Full => Self::Full { file },
            Cause::ReadOnly => Self::ReadOnly { file },
            Cause::Corrupt | Cause::NotADatabase => Self::Corrupt { file, what },
            Cause::Busy | Cause::Forbidden | Cause::Disk | Cause::Other => Self::Io { file, what },
        }
    }

    pub(crate) fn fault(file: &Path, fault: Fault) -> Self {
        let file = file.to_owned();
        match fault {
            Fault::Full => Self::Full { file },
            Fault::Io => Self::Io { file, what: "a failpoint was set".to_owned() },
        }
    }
}
