//! The format of the file: by what it is known as ours, its version, its tables.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::identity::{self, DirectoryRow, Holds, Identity, Stamp};
use crate::error::OpenError;
use crate::failpoints::{Step, Steps};

/// The newest format that is known here. Later versions of Borough read it.
///
/// | format | what it has |
/// |---|---|
/// | 1 | identity, record, term, vote and log |
/// | 2 | the promises of a node that is in no cluster, too; the checksum of the directory's row is also over which other rows there are |
pub const FORMAT: u32 = 2;

/// In the header of the file: `Boro`.
pub(super) const APPLICATION_ID: u32 = u32::from_be_bytes(*b"Boro");

/// Older ones can damage a write-ahead log that is written while another connection moves it into the file.
const SQLITE_MIN: i32 = 3_051_003;

const TABLES: &str = "
CREATE TABLE directory (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    cluster TEXT NOT NULL, node INTEGER NOT NULL, checksum INTEGER NOT NULL,
    opens INTEGER NOT NULL, stamp INTEGER NOT NULL, stamped_at INTEGER NOT NULL
) STRICT;
CREATE TABLE record (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    state INTEGER NOT NULL, era INTEGER NOT NULL,
    codec INTEGER NOT NULL, bytes BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE voter (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    term INTEGER NOT NULL, vote INTEGER,
    snapshot_position INTEGER NOT NULL, last_position INTEGER NOT NULL, last_term INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE snapshot (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    position INTEGER NOT NULL, term INTEGER NOT NULL,
    codec INTEGER NOT NULL, bytes BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE entries (
    position INTEGER PRIMARY KEY, term INTEGER NOT NULL,
    codec INTEGER NOT NULL, bytes BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
";

/// What format 2 adds to format 1.
const TABLES_2: &str = "
CREATE TABLE pledges (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    codec INTEGER NOT NULL, bytes BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
";

pub(super) fn check_sqlite() -> Result<(), OpenError> {
    let is_sound = rusqlite::version_number() >= SQLITE_MIN;
    if is_sound { Ok(()) } else { Err(OpenError::SqliteTooOld { found: rusqlite::version() }) }
}

/// The format of the file, if it is ours and its format is known; `None` if it is empty.
pub(super) fn check(sql: &Connection, file: &Path) -> Result<Option<u32>, OpenError> {
    let failed = |error| OpenError::sqlite(file, &error);
    let number = |name: &str| sql.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let id = number("application_id")?;
    if id == 0 && number("page_count")? == 0 {
        return Ok(None);
    }
    if id != i64::from(APPLICATION_ID) {
        let what = format!("an SQLite file of application id {id:#x}");
        return Err(OpenError::ForeignFile { file: file.to_owned(), what });
    }
    match u32::try_from(number("user_version")?) {
        Ok(found @ 1..=FORMAT) => Ok(Some(found)),
        Ok(found) if found > FORMAT => Err(OpenError::Newer { file: file.to_owned(), found, known: FORMAT }),
        Ok(_) | Err(_) => {
            Err(OpenError::Corrupt { file: file.to_owned(), what: "it has no known format".to_owned() })
        }
    }
}

/// Makes the tables and the identity in one transaction, before the file has a write-ahead log: so its header tells from the first moment whose it is.
pub(super) fn create(
    sql: &mut Connection,
    file: &Path,
    cluster: &str,
    steps: &mut Steps,
) -> Result<(), OpenError> {
    let failed = |error| OpenError::sqlite(file, &error);
    let node = identity::draw()?;
    steps.reach(Step::Format).map_err(|fault| OpenError::fault(file, fault))?;
    sql.pragma_update(None, "synchronous", "EXTRA").map_err(failed)?;
    let transaction = sql.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    transaction.execute_batch(TABLES).map_err(failed)?;
    transaction.execute_batch(TABLES_2).map_err(failed)?;
    let identity = Identity { cluster: cluster.to_owned(), node, opens: 0, stamp: Stamp::default() };
    let row = DirectoryRow { identity, holds: Holds::default() };
    row.write(&transaction).map_err(failed)?;
    steps.reach(Step::CommitFormat).map_err(|fault| OpenError::fault(file, fault))?;
    transaction.commit().map_err(failed)
}

/// Brings a file of an older format to the newest one, in one transaction.
pub(super) fn upgrade(sql: &Transaction<'_>, found: u32) -> rusqlite::Result<()> {
    if found < 2 {
        sql.execute_batch(TABLES_2)?;
    }
    sql.pragma_update(None, "user_version", FORMAT)
}

/// Whether SQLite finds its file whole: rows that a damaged page no longer shows are missed by nobody who reads the others.
pub(super) fn check_pages(sql: &Connection, file: &Path) -> Result<(), OpenError> {
    let check = || {
        let mut query = sql.prepare("PRAGMA quick_check")?;
        let found = query.query_map([], |row| row.get(0))?;
        found.collect::<rusqlite::Result<Vec<String>>>()
    };
    let found = check().map_err(|error| OpenError::sqlite(file, &error))?;
    match found.into_iter().find(|found| found != "ok") {
        None => Ok(()),
        Some(what) => Err(OpenError::Corrupt { file: file.to_owned(), what: what.replace('\n', " ") }),
    }
}

/// Has every commit be one append to the write-ahead log and one sync; when that log is moved into the file is said by us.
pub(super) fn enter_wal(sql: &Connection, file: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::sqlite(file, &error);
    let mode: String =
        sql.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        let what = format!("the file system has no room for a write-ahead log (mode {mode})");
        return Err(OpenError::Io { path: file.to_owned(), what });
    }
    // After a check of its pages SQLite leaves the file locked by the switch, until something is read.
    identity::opens(sql).map_err(failed)?;
    sql.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    // On macOS a sync alone leaves data in the disk's own memory.
    sql.pragma_update(None, "fullfsync", true).map_err(failed)?;
    sql.pragma_update(None, "checkpoint_fullfsync", true).map_err(failed)?;
    sql.pragma_update(None, "cell_size_check", true).map_err(failed)?;
    sql.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(())).map_err(failed)
}
