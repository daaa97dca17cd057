//! A look at a directory that changes nothing in it, also while a process uses it.

use std::fmt::Write;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::files::{DATABASE_FILE, DataFile, Listing, WAL_FILE, database};
use super::lock::{Holder, Lock};
use super::{BUSY_TIMEOUT, Loaded, format, load};
use crate::error::OpenError;

/// What is in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The format of its file.
    pub format: u32,
    /// The process that uses it now.
    pub holder: Option<Holder>,
    /// Its files, without those that are not Borough's.
    pub files: Vec<DataFile>,
    /// The names of other files in it.
    pub foreign: Vec<String>,
    /// What a node would load; `opens` does not count this look.
    pub loaded: Loaded,
}

/// Reads a directory, and checks all of it, without changing what it holds. It may be in use.
pub fn inspect(path: impl AsRef<Path>) -> Result<Inspection, OpenError> {
    let path = path.as_ref();
    format::check_sqlite()?;
    let listing = Listing::of(path)?;
    if !listing.has(DATABASE_FILE) {
        return Err(OpenError::NoData { path: path.to_owned() });
    }
    let has_log = listing.ours.iter().any(|file| file.name == WAL_FILE && file.size > 0);
    let (holder, lock) = match Lock::probe(path) {
        Ok(lock) => (None, lock),
        Err(OpenError::Locked { pid, .. }) => (Some(Holder { pid }), None),
        Err(other) => return Err(other),
    };
    // A file that is read alone must not be written meanwhile: no process can begin to while the lock is ours. Nothing else needs it, and a node that
    // starts is refused as long as it is held.
    let _lock = lock.filter(|_| !has_log);
    let file = database(path);
    let failed = |error| OpenError::sqlite(&file, &error);
    let mut sql = connect(&file, holder.is_none() && !has_log).map_err(failed)?;
    sql.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    // One transaction: a process that writes meanwhile does not mix two states.
    let reading = sql.transaction().map_err(failed)?;
    let Some(format) = format::check(&reading, &file)? else {
        return Err(OpenError::NoData { path: path.to_owned() });
    };
    let loaded = load(&reading, &file, format)?;
    let Listing { ours: files, foreign } = listing;
    Ok(Inspection { format, holder, files, foreign, loaded })
}

/// A file that nobody writes and that has no newest changes beside it is read alone; for any other SQLite needs, and may make, files beside it.
fn connect(file: &Path, is_quiet: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match file.to_str() {
        Some(text) if is_quiet => {
            let uri = format!("file:{}?immutable=1", escaped(text));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        Some(_) | None => Connection::open_with_flags(file, flags),
    }
}

/// The path as a part of a URI.
fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                text.push(char::from(byte));
            }
            // Writing into a string does not fail.
            other => drop(write!(text, "%{other:02X}")),
        }
    }
    text
}
