//! Writes a history. Each line goes to the file at once and whole: a process that is killed leaves all it wrote.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::history::Line;

/// For entities: they are made again from bytes alone when they have moved.
static SHARED: OnceLock<Arc<Scribe>> = OnceLock::new();

pub(super) struct Scribe {
    /// None: nothing is written down.
    file: Option<File>,
}

impl Scribe {
    pub(super) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { file })
    }

    /// All entities of this process write with this one.
    pub(super) fn share(scribe: &Arc<Self>) {
        // There is one node in a process.
        let _ = SHARED.set(scribe.clone());
    }

    pub(super) fn write_turn(line: &Line) {
        if let Some(scribe) = SHARED.get() {
            scribe.write(line);
        }
    }

    pub(super) fn write(&self, line: &Line) {
        if let Some(mut file) = self.file.as_ref() {
            // Appends of a few bytes are not torn. What cannot be written is missed by the checker.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
