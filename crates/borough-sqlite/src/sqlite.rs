//! What SQLite's errors mean to a data directory, and numbers as SQLite has them.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::directory::has_no_room;

/// What an error of SQLite comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Full,
    ReadOnly,
    Forbidden,
    NotADatabase,
    Corrupt,
    Busy,
    /// The disk did not do it, for a reason that SQLite does not tell.
    Disk,
    Other,
}

impl Cause {
    /// The cause of an error at that file.
    pub(crate) fn at(file: &Path, error: &rusqlite::Error) -> Self {
        match Self::of(error) {
            // A quota that is used up, and no room for the shared memory, reach us as any failure of the disk.
            Self::Disk if file.parent().is_some_and(has_no_room) => Self::Full,
            cause => cause,
        }
    }

    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::PermissionDenied) => Self::Forbidden,
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            // `Unknown` is an error of SQL: a table or column is missing. None is one of reading: a column is not what the format says, or a row is
            // missing.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) | None => Self::Corrupt,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::SystemIoFailure) => Self::Disk,
            // The codes are open-ended: every other one is said as SQLite says it.
            Some(_) => Self::Other,
        }
    }
}

/// The largest place or term: SQLite's numbers are signed, and compared so.
pub(crate) const NUMBER_MAX: u64 = i64::MAX.unsigned_abs();
