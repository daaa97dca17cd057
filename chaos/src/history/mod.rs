//! What happened to every message, as senders and entities wrote it down, and whether that may be.
//!
//! Senders write what they sent and what came of it, entities each of their turns: straight to a file, so that a process that is killed
//! leaves all it did. The checker lays the files of all processes side by side.

mod check;
mod clock;
mod late;
mod line;
mod of_id;
mod rules;
#[cfg(test)]
mod schedules;
mod silence;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

pub(crate) use self::check::{Expected, Findings, Lives, check};
pub(crate) use self::clock::moment;
pub use self::clock::now;
pub(crate) use self::late::Thaw;
pub use self::line::{Line, Outcome, Page, Sending, Signed, Turn};
#[cfg(test)]
pub(crate) use self::silence::Silence;
pub(crate) use self::silence::{Meanwhile, again, longest_between, meanwhile};

/// How the files of histories end.
pub(crate) const EXTENSION: &str = "history";

/// All that was written down.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) sendings: Vec<Sending>,
    /// With the process it was in, by its place in `processes`.
    pub(crate) turns: Vec<(usize, Turn)>,
    pub(crate) pages: Vec<(u32, Page)>,
    /// What the processes are called.
    pub(crate) processes: Vec<String>,
}

impl History {
    /// Reads all histories in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut history = Self::default();
        let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                let text =
                    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                history.add(&name, &text).map_err(|why| format!("{}: {why}", path.display()))?;
            }
        }
        Ok(history)
    }

    /// Adds what one process wrote. What it was writing when it was killed is left out.
    pub(crate) fn add(&mut self, process: &str, text: &str) -> Result<(), String> {
        let number = self.processes.len();
        self.processes.push(process.to_owned());
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            match line.parse()? {
                Line::Sending(sending) => self.sendings.push(sending),
                Line::Turn(turn) => self.turns.push((number, turn)),
                Line::Page(id, page) => self.pages.push((id, page)),
            }
        }
        Ok(())
    }
}
