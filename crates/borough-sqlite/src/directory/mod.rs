//! A node's directory: one process at a time, a file of ours in a known format, and an identity.
//!
//! ```text
//! (empty) --open--> open --write fails--> stopped
//!                     |  `--close, crash--> closed --open--> open
//! ```
//! A directory that is stopped takes no more writes, because nobody knows which part of the last one is on the disk. Opening it again tells.

mod files;
mod format;
mod identity;
mod inspect;
mod lock;
mod reset;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub(crate) use self::files::has_no_room;
pub use self::files::{DATABASE_FILE, DataFile, LOCK_FILE};
use self::files::{JOURNAL_FILE, Listing, WAL_FILE, database, make_directory, sync_directory};
pub use self::format::FORMAT;
pub(crate) use self::identity::{DirectoryRow, Holds};
pub use self::identity::{Identity, Stamp};
pub use self::inspect::{Inspection, inspect};
pub use self::lock::Holder;
use self::lock::Lock;
pub use self::reset::Reset;
use crate::error::{OpenError, WriteError};
use crate::failpoints::{Hook, Step, Steps};
use crate::sqlite::Cause;
use crate::voter::{
    Kept, NotApplied, Operation, Payload, ReadError, Record, VoterState, apply, read_pledges, read_record,
    read_voter,
};

/// For how long another program that reads the file may hold up an opening, and one that writes it a write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The write-ahead log is moved into the file when it is larger.
const WAL_BYTES_MAX: u64 = 1 << 20;

/// How a directory is opened.
#[derive(Clone)]
pub struct OpenOptions {
    cluster: String,
    wal_bytes_max: u64,
    pages_max: Option<u32>,
    hook: Option<Hook>,
}

impl OpenOptions {
    /// As that of a node of the cluster of that name.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self { cluster: cluster.into(), wal_bytes_max: WAL_BYTES_MAX, pages_max: None, hook: None }
    }

    /// How large the write-ahead log may become, in bytes, before it is moved into the file. Default 1 MiB: less costs more syncs, more costs room and
    /// a longer opening.
    #[must_use]
    pub fn wal_bytes_max(mut self, bytes: u64) -> Self {
        self.wal_bytes_max = bytes;
        self
    }

    /// For tests: SQLite finds the disk full when the file has so many pages.
    #[doc(hidden)]
    #[must_use]
    pub fn pages_max(mut self, pages: u32) -> Self {
        self.pages_max = Some(pages);
        self
    }

    /// For tests: sees every write and sync.
    #[doc(hidden)]
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }
}

impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// What a directory held when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Which node of which cluster, and which life of it.
    pub identity: Identity,
    /// The cluster the node belongs to; `None` if it is fresh.
    pub record: Option<Record>,
    /// What it resumes with as a voter; `None` if it never was one.
    pub voter: Option<VoterState>,
    /// The promises that the node gave while it was in no cluster; `None` if there are none.
    pub pledges: Option<Payload>,
}

/// The directory of a node, open and locked. Every method may wait for the disk: it belongs on a thread of its own, as a [`Writer`](crate::Writer) is.
#[derive(Debug)]
pub struct DataDirectory {
    sql: Connection,
    path: PathBuf,
    file: PathBuf,
    /// The number of this opening: once there is a later one, nothing is written.
    opening: u64,
    kept: Kept,
    stopped: bool,
    wal_bytes_max: u64,
    steps: Steps,
    // Dropped last: the file is closed before another process may come in.
    lock: Lock,
}

impl DataDirectory {
    /// Opens the directory, makes it if it is missing or empty, and reads what it holds.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<(Self, Loaded), OpenError> {
        let path = path.as_ref();
        let file = database(path);
        format::check_sqlite()?;
        let mut steps = Steps::new(options.hook.clone());
        let mut reach = |step| steps.reach(step).map_err(|fault| OpenError::fault(&file, fault));
        reach(Step::MakeDirectory)?;
        make_directory(path)?;
        refuse_foreign(path)?;
        reach(Step::Lock)?;
        let lock = Lock::take(path)?;
        refuse_lost(path)?;
        let mut sql = connect(&file)?;
        let failed = |error| OpenError::sqlite(&file, &error);
        let format = if let Some(format) = format::check(&sql, &file)? {
            format
        } else {
            format::create(&mut sql, &file, &options.cluster, &mut steps)?;
            FORMAT
        };
        let loaded = load(&sql, &file, format)?;
        if loaded.identity.cluster != options.cluster {
            let (found, expected) = (loaded.identity.cluster, options.cluster.clone());
            return Err(OpenError::OtherCluster { file, found, expected });
        }
        let mut reach = |step| steps.reach(step).map_err(|fault| OpenError::fault(&file, fault));
        reach(Step::EnterWal)?;
        format::enter_wal(&sql, &file)?;
        if let Some(pages) = options.pages_max {
            sql.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).map_err(failed)?;
        }
        // What a process before this one wrote and did not see synced is read back from the system's memory as if it were on the disk. So it is written
        // again, into the file, before anybody acts on it; if a reader prevents that, nobody acts on it.
        reach(Step::Checkpoint)?;
        if !write_again(&sql).map_err(failed)? {
            return Err(OpenError::Read { file });
        }
        reach(Step::CountOpen)?;
        let transaction = sql.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Read once more: until now a process that got past the lock could write. From the commit on it cannot.
        let mut loaded = load(&transaction, &file, format)?;
        if format < FORMAT {
            format::upgrade(&transaction, format).map_err(failed)?;
        }
        let mut kept = Kept::of(&loaded);
        kept.directory.count_open();
        kept.directory.write(&transaction).map_err(failed)?;
        reach(Step::CommitOpen)?;
        transaction.commit().map_err(failed)?;
        // Now that nobody writes but this process, the log is short again.
        move_wal(&sql).map_err(failed)?;
        reach(Step::SyncDirectory)?;
        sync_directory(path)?;
        loaded.identity = kept.directory.identity.clone();
        let (path, opening, wal_bytes_max) = (path.to_owned(), loaded.identity.opens, options.wal_bytes_max);
        let stopped = false;
        Ok((Self { sql, path, file, opening, kept, stopped, wal_bytes_max, steps, lock }, loaded))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of the batch or nothing. It is on the disk when this returns.
    pub fn write(&mut self, batch: &[Operation]) -> Result<(), WriteError> {
        self.write_all(batch)
    }

    /// The same of several batches as one: what waits is synced together.
    pub(crate) fn write_all<'a>(
        &mut self,
        operations: impl IntoIterator<Item = &'a Operation>,
    ) -> Result<(), WriteError> {
        if self.stopped {
            return Err(WriteError::Stopped { file: self.file.clone() });
        }
        let written = self.transact(operations).and_then(|()| self.checkpoint_if_large());
        self.stopped = !matches!(written, Ok(()) | Err(WriteError::Refused { .. }));
        written
    }

    fn transact<'a>(
        &mut self,
        operations: impl IntoIterator<Item = &'a Operation>,
    ) -> Result<(), WriteError> {
        let Self { sql, file, opening, kept, steps, lock, .. } = self;
        let failed = |error| WriteError::sqlite(file, &error);
        let mut reach = |step| steps.reach(step).map_err(|fault| WriteError::fault(file, fault));
        reach(Step::Begin)?;
        let transaction = sql.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Nobody else can write until this transaction ends. Operations are checked against what is known in memory: it must be what the file has.
        let newest = identity::opens(&transaction).map_err(failed)?;
        if newest != *opening {
            return Err(WriteError::OpenedAgain { file: file.clone(), opening: *opening, newest });
        }
        let mut next = kept.clone();
        for operation in operations {
            reach(Step::Operation)?;
            if matches!(operation, Operation::RenewStamp) && !lock.is_held() {
                return Err(WriteError::LockLost { file: lock.path().to_owned() });
            }
            apply(&transaction, &mut next, operation).map_err(|error| match error {
                NotApplied::Refused(refusal) => WriteError::Refused { file: file.clone(), refusal },
                NotApplied::Sqlite(error) => WriteError::sqlite(file, &error),
            })?;
        }
        if next.directory != kept.directory {
            next.directory.write(&transaction).map_err(failed)?;
        }
        reach(Step::Commit)?;
        transaction.commit().map_err(failed)?;
        reach(Step::Committed)?;
        *kept = next;
        Ok(())
    }

    fn checkpoint_if_large(&mut self) -> Result<(), WriteError> {
        let size = fs::metadata(self.path.join(WAL_FILE)).map_or(0, |metadata| metadata.len());
        if size > self.wal_bytes_max { self.checkpoint() } else { Ok(()) }
    }

    fn checkpoint(&mut self) -> Result<(), WriteError> {
        let Self { sql, file, steps, .. } = self;
        let mut reach = |step| steps.reach(step).map_err(|fault| WriteError::fault(file, fault));
        reach(Step::Checkpoint)?;
        move_wal(sql).map_err(|error| WriteError::sqlite(file, &error))?;
        reach(Step::Checkpointed)
    }

    /// The stamp as it was last written.
    pub(crate) fn stamp(&self) -> Stamp {
        self.kept.directory.identity.stamp
    }

    /// Closes the file in order, and gives the directory free. Dropping it does the same without telling of an error; nothing that was written is lost
    /// then, either.
    pub fn close(mut self) -> Result<(), WriteError> {
        if !self.stopped {
            self.checkpoint()?;
        }
        let Self { sql, file, .. } = self;
        sql.close().map_err(|(_, error)| WriteError::sqlite(&file, &error))
    }
}

/// A directory without our file is used for something else if there are other files in it.
fn refuse_foreign(path: &Path) -> Result<(), OpenError> {
    let listing = Listing::of(path)?;
    let found = listing.telling_foreign();
    if listing.has(DATABASE_FILE) || found.is_empty() {
        return Ok(());
    }
    Err(OpenError::ForeignDirectory { path: path.to_owned(), found })
}

/// Newest changes without the file they are of: the file was lost, and the node must not begin as a fresh one in silence.
fn refuse_lost(path: &Path) -> Result<(), OpenError> {
    let listing = Listing::of(path)?;
    let left = [WAL_FILE, JOURNAL_FILE].into_iter().find(|name| listing.has(name));
    match left {
        Some(left) if !listing.has(DATABASE_FILE) => {
            let what = format!("it is missing, while {left} is there");
            Err(OpenError::Corrupt { file: database(path), what })
        }
        Some(_) | None => Ok(()),
    }
}

fn connect(file: &Path) -> Result<Connection, OpenError> {
    // SQLite says of all that it cannot open the file; the system says why.
    let opened = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file);
    opened.map_err(|error| OpenError::io(file, &error))?;
    let failed = |error| OpenError::sqlite(file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = Connection::open_with_flags(file, flags).map_err(failed)?;
    sql.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    Ok(sql)
}

/// Moves all of the write-ahead log into the file, and syncs it; `false` if another program reads an older state for longer than [`BUSY_TIMEOUT`].
fn write_again(sql: &Connection) -> rusqlite::Result<bool> {
    sql.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
        let (in_log, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(in_log == moved)
    })
}

/// Moves the write-ahead log into the file, as far as it can be done without waiting. What another program still reads stays in the log until the next try:
/// that costs room, and nothing else.
fn move_wal(sql: &Connection) -> rusqlite::Result<()> {
    sql.busy_timeout(Duration::ZERO)?;
    let moved = sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    sql.busy_timeout(BUSY_TIMEOUT)?;
    match moved {
        Err(error) if Cause::of(&error) == Cause::Busy => Ok(()),
        other => other,
    }
}

/// Reads everything, and checks it.
fn load(sql: &Connection, file: &Path, format: u32) -> Result<Loaded, OpenError> {
    format::check_pages(sql, file)?;
    let read = || {
        let ((identity, sum), record, voter) = (identity::read(sql)?, read_record(sql)?, read_voter(sql)?);
        let pledges = if format < 2 { None } else { read_pledges(sql)? };
        let loaded = Loaded { identity, record, voter, pledges };
        identity::check(&Kept::of(&loaded).directory, sum)?;
        Ok(loaded)
    };
    read().map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: ReadError) -> OpenError {
    match error {
        ReadError::Sqlite(error) => OpenError::sqlite(file, &error),
        ReadError::Wrong(what) => OpenError::Corrupt { file: file.to_owned(), what },
    }
}
