//! What SQLite's errors mean to a data directory, and numbers as SQLite has them.

use rusqlite::ErrorCode;

/// What an error of SQLite comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Full,
    ReadOnly,
    Forbidden,
    NotADatabase,
    Corrupt,
    Busy,
    Other,
}

impl Cause {
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
            // The codes are open-ended: every other one is said as SQLite says it.
            Some(_) => Self::Other,
        }
    }
}

/// The largest place or term: SQLite's numbers are signed, and compared so.
pub(crate) const NUMBER_MAX: u64 = i64::MAX.unsigned_abs();
