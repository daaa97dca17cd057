//! Removes what a harness that was killed has left: frozen processes, network namespaces.
//!
//! It is a process of its own, in a group of its own, so that Ctrl-C does not reach it. It waits for the end of its standard
//! input, which comes with the end of the harness, however that ends.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::ground;

/// What the processes are called that it may end.
const PROGRAM: &str = "chaos-node";

/// The harness's end.
pub(crate) struct Janitor {
    process: Child,
}

impl Janitor {
    /// Starts one. `program` is the harness's own.
    pub(crate) fn hire(program: &Path) -> Result<Self, String> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(program);
        command.arg("janitor").stdin(Stdio::piped()).process_group(0);
        let process = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self { process })
    }

    pub(crate) fn note_process(&self, id: u32) {
        self.note(&format!("process {id}"));
    }

    pub(crate) fn note_namespaces(&self, prefix: &str) {
        self.note(&format!("namespaces {prefix}"));
    }

    /// Without a janitor the next run cleans up.
    fn note(&self, line: &str) {
        if let Some(mut orders) = self.process.stdin.as_ref() {
            writeln!(orders, "{line}").ok();
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}

/// The janitor itself.
pub fn main() {
    let notes: Vec<String> = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    for note in &notes {
        if let Some(id) = note.strip_prefix("process ").and_then(|id| id.parse().ok()) {
            end(id);
        }
    }
    for note in &notes {
        if let Some(prefix) = note.strip_prefix("namespaces ") {
            ground::remove_all(prefix);
        }
    }
}

/// Ends a process of a fleet; another that has its number by now is left alone.
fn end(id: i32) {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    if name.trim() == PROGRAM
        && let Some(pid) = Pid::from_raw(id)
    {
        // It may end by itself at this moment.
        kill_process(pid, Signal::KILL).ok();
    }
}
