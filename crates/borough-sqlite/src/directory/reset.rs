//! Removes a node's data from its directory, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{DATABASE_FILE, DataFile, Header, LOCK_FILE, Listing, database, sync_directory};
use super::format::APPLICATION_ID;
use super::lock::Lock;
use crate::error::OpenError;

/// What would be removed from a directory. While this lives, no process can begin to use the directory.
#[derive(Debug)]
pub struct Reset {
    path: PathBuf,
    remove: Vec<DataFile>,
    keep: Vec<String>,
    lock: Option<ResetLock>,
}

/// The lock of a reset.
#[derive(Debug)]
struct ResetLock {
    lock: Lock,
    /// There was no lock file before.
    is_new: bool,
}

impl Drop for ResetLock {
    fn drop(&mut self) {
        if self.is_new {
            // Left behind, it would lock nobody out.
            let _ = fs::remove_file(self.lock.path());
        }
    }
}

impl Reset {
    /// Looks, and removes nothing. Fails if a process uses the directory, or if the file in it is not ours.
    ///
    /// A file of ours that is damaged is removed as any other, unless its first bytes are: then nobody can say whose it is.
    pub fn prepare(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        let before = Listing::of(&path)?;
        let lock = if before.ours.is_empty() {
            None
        } else {
            Some(ResetLock { lock: Lock::take(&path)?, is_new: !before.has(LOCK_FILE) })
        };
        // Once more: until it was locked, a process could use it.
        let mut listing = Listing::of(&path)?;
        if lock.as_ref().is_some_and(|lock| lock.is_new) {
            listing.ours.retain(|file| file.name != LOCK_FILE);
        }
        if listing.has(DATABASE_FILE) {
            let file = database(&path);
            let what = match Header::of(&file)? {
                Header::Empty | Header::Sqlite(APPLICATION_ID) => None,
                Header::Sqlite(id) => Some(format!("an SQLite file of application id {id:#x}")),
                Header::Other => Some("no SQLite file".to_owned()),
            };
            if let Some(what) = what {
                return Err(OpenError::ForeignFile { file, what });
            }
        }
        Ok(Self { path, remove: listing.ours, keep: listing.foreign, lock })
    }

    /// The files that would be removed, and what they hold.
    pub fn remove(&self) -> &[DataFile] {
        &self.remove
    }

    /// The names of the files that are not Borough's. They stay.
    pub fn keep(&self) -> &[String] {
        &self.keep
    }

    /// Removes the files. The directory itself stays.
    pub fn carry_out(self) -> Result<(), OpenError> {
        for DataFile { name, .. } in &self.remove {
            let file = self.path.join(name);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(OpenError::io(&file, &error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        drop(self.lock);
        sync_directory(&self.path)
    }
}
