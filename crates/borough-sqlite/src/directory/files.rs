//! The files of a data directory: which are ours, what each holds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// The file that holds a node's data.
pub const DATABASE_FILE: &str = "borough.sqlite";

/// The file that a process locks while it uses the directory. It holds the number of the process.
pub const LOCK_FILE: &str = "borough.lock";

pub(super) const WAL_FILE: &str = "borough.sqlite-wal";
const SHARED_MEMORY_FILE: &str = "borough.sqlite-shm";
pub(super) const JOURNAL_FILE: &str = "borough.sqlite-journal";

/// Our files in the order in which they are removed: the data first, so that what is left of a removal that was broken off never opens as an older
/// state; the lock last, so that no process comes in between.
const OURS: [(&str, &str); 5] = [
    (DATABASE_FILE, "identity, record of the cluster, term, vote and log"),
    (WAL_FILE, "its newest changes (write-ahead log)"),
    (SHARED_MEMORY_FILE, "an index of those (shared memory)"),
    (JOURNAL_FILE, "a change that was under way (rollback journal)"),
    (LOCK_FILE, "the lock: the number of the process that uses the directory"),
];

/// A file of a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its name in the directory.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// What is in it.
    pub holds: &'static str,
}

/// What is in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Files of ours by name, in the order in which they are removed.
    pub(super) ours: Vec<DataFile>,
    /// The names of all others, sorted.
    pub(super) foreign: Vec<String>,
}

impl Listing {
    pub(super) fn of(path: &Path) -> Result<Self, OpenError> {
        let mut listing = Self::default();
        let entries = fs::read_dir(path).map_err(|error| OpenError::io(path, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| OpenError::io(path, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let metadata = entry.metadata();
            let is_file = metadata.as_ref().is_ok_and(fs::Metadata::is_file);
            match OURS.iter().find(|(ours, _)| *ours == name && is_file) {
                Some((_, holds)) => {
                    listing.ours.push(DataFile { name, size: metadata.map_or(0, |data| data.len()), holds });
                }
                None => listing.foreign.push(name),
            }
        }
        listing.ours.sort_by_key(|file| OURS.iter().position(|(name, _)| *name == file.name));
        listing.foreign.sort();
        Ok(listing)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.ours.iter().any(|file| file.name == name)
    }

    /// The foreign files that say that the directory is used for something else. Hidden ones and that of a file system's own check do not.
    pub(super) fn telling_foreign(&self) -> Vec<String> {
        const SHOWN: usize = 5;
        let is_telling = |name: &&String| !name.starts_with('.') && *name != "lost+found";
        self.foreign.iter().filter(is_telling).take(SHOWN).cloned().collect()
    }
}

/// Makes the directory if it is missing, with those above it.
pub(super) fn make_directory(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => return Err(OpenError::NotADirectory { path: path.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(OpenError::io(path, &error)),
    }
    fs::create_dir_all(path).map_err(|error| OpenError::io(path, &error))?;
    // The entry of the new directory is in the one above it.
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_directory(parent),
        Some(_) | None => Ok(()),
    }
}

/// Has the names in a directory survive a loss of power.
pub(super) fn sync_directory(path: &Path) -> Result<(), OpenError> {
    // Only Unix has directories that are opened and synced as files are.
    if cfg!(unix) {
        let synced = File::open(path).and_then(|directory| directory.sync_all());
        synced.map_err(|error| OpenError::io(path, &error))?;
    }
    Ok(())
}

/// Whether there is no room for a few more pages: it is tried out. Only the system tells a disk that is full, or a quota, from one that fails.
pub(crate) fn has_no_room(directory: &Path) -> bool {
    use std::io::{ErrorKind, Write};
    const PAGES: usize = 1 << 16;
    // Hidden, so that a directory in which it is left behind is taken as empty.
    let file = directory.join(".borough.room");
    let written = File::create(&file).and_then(|mut file| {
        file.write_all(&vec![1; PAGES])?;
        file.sync_all()
    });
    let _ = fs::remove_file(&file);
    matches!(written, Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// What the first bytes of the file say about it, without SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// Nothing was written yet.
    Empty,
    /// An SQLite file of this application id.
    Sqlite(u32),
    /// Something else.
    Other,
}

impl Header {
    pub(super) fn of(file: &Path) -> Result<Self, OpenError> {
        use std::io::Read;
        const LENGTH: u64 = 100;
        const APPLICATION_ID: usize = 68;
        let mut bytes = Vec::new();
        let read = File::open(file).and_then(|file| file.take(LENGTH).read_to_end(&mut bytes));
        read.map_err(|error| OpenError::io(file, &error))?;
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(Self::Empty);
        }
        let id = bytes.get(APPLICATION_ID..APPLICATION_ID + 4).and_then(|id| id.try_into().ok());
        match id {
            Some(id) if bytes.starts_with(b"SQLite format 3\0") => Ok(Self::Sqlite(u32::from_be_bytes(id))),
            Some(_) | None => Ok(Self::Other),
        }
    }
}

pub(super) fn database(path: &Path) -> PathBuf {
    path.join(DATABASE_FILE)
}
