//! One process uses a directory at a time: a lock of the operating system, which ends with the process.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::LOCK_FILE;
use crate::error::OpenError;

/// A look at the lock holds it for a moment; a process that starts then must not be turned away.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The process that uses a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number, if the lock file says it.
    pub pid: Option<u32>,
}

/// The lock, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Makes the lock file if it is missing, locks it, and writes the number of this process into it.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let file = path.join(LOCK_FILE);
        for _ in 0..TRIES {
            let mut options = fs::OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let opened = system::open(&mut options, &file).map_err(|error| OpenError::io(&file, &error))?;
            match opened {
                Some(opened) if system::is_at(&opened, &file) => {
                    let mut lock = Self { file: opened, path: file.clone() };
                    lock.write_pid().map_err(|error| OpenError::io(&file, &error))?;
                    return Ok(lock);
                }
                // The file was removed between opening and locking: a lock on it would lock nobody out.
                Some(_) => {}
                None => std::thread::sleep(BETWEEN_TRIES),
            }
        }
        Err(OpenError::Locked { path: path.to_owned(), pid: read_pid(&file) })
    }

    /// Locks the directory against processes that want to use it, without writing anything; `None` if there is no lock file: then nobody
    /// is locked out, and a look may see a process that begins.
    pub(super) fn probe(path: &Path) -> Result<Option<Self>, OpenError> {
        let file = path.join(LOCK_FILE);
        if !file.exists() {
            return Ok(None);
        }
        match system::open(fs::OpenOptions::new().read(true), &file) {
            // One that was removed meanwhile locks nobody out.
            Ok(Some(opened)) if !system::is_at(&opened, &file) => Ok(None),
            Ok(Some(opened)) => Ok(Some(Self { file: opened, path: file })),
            Ok(None) => Err(OpenError::Locked { path: path.to_owned(), pid: read_pid(&file) }),
            Err(error) => Err(OpenError::io(&file, &error)),
        }
    }

    /// Whether the file of the lock is still there: without it another process could lock another file of that name.
    pub(super) fn is_held(&self) -> bool {
        system::is_at(&self.file, &self.path)
    }

    /// The lock file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn write_pid(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        writeln!(self.file, "{}", std::process::id())
    }
}

fn read_pid(file: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(file).ok()?.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(unix)]
mod system {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    /// The file, locked; `None` if somebody else has the lock.
    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<Option<File>> {
        let file = options.open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the file of that path is still this one.
    pub(super) fn is_at(file: &File, path: &Path) -> bool {
        let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match (file.metadata(), fs::metadata(path)) {
            (Ok(opened), Ok(there)) => number(opened) == number(there),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::path::Path;

    const SHARE_READ: u32 = 1;
    const SHARING_VIOLATION: i32 = 32;

    /// The file, opened so that nobody else can open it for writing; `None` if somebody else has it so.
    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<Option<File>> {
        match options.share_mode(SHARE_READ).open(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A file that is open so cannot be removed.
    pub(super) fn is_at(_: &File, _: &Path) -> bool {
        true
    }
}
