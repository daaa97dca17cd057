//! Removes a node's data from its directory, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{DATABASE_FILE, DataFile, Header, Listing, database, sync_directory};
use super::format::APPLICATION_ID;
use super::lock::Lock;
use crate::error::OpenError;

/// What would be removed from a directory. While this lives, no process can begin to use the directory.
#[derive(Debug)]
pub struct Reset {
    path: PathBuf,
    remove: Vec<DataFile>,
    keep: Vec<String>,
    _lock: Option<Lock>,
}

impl Reset {
    /// Looks, and removes nothing. Fails if a process uses the directory, or if the file in it is not ours.
    ///
    /// A file of ours that is damaged is removed as any other, unless its first bytes are: then nobody can say whose it is.
    pub fn prepare(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        let lock = Lock::probe(&path)?;
        let listing = Listing::of(&path)?;
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
        Ok(Self { path, remove: listing.ours, keep: listing.foreign, _lock: lock })
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
        sync_directory(&self.path)
    }
}
