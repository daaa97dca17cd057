//! An example that runs as a process of its own: what it prints is awaited with a bound, and whatever happens it does not outlive its test.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long an example may take, on a machine that is busy with other tests.
const LIMIT: Duration = Duration::from_secs(180);

pub(crate) struct Program {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    printed: Vec<String>,
    deadline: Instant,
}

impl Program {
    pub(crate) fn start(name: &'static str, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary(name));
        let mut child = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (say, lines) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        Self { name, child, lines, printed: Vec::new(), deadline: Instant::now() + LIMIT }
    }

    /// Waits for a line that begins so, and gives it; those before it are passed over.
    pub(crate) fn prints(&mut self, beginning: &str) -> String {
        loop {
            let Some(line) = self.next() else {
                panic!("{} ended without {beginning:?}; it printed:\n{}", self.name, self.printed.join("\n"));
            };
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Waits for a line that begins so, unless it has printed one.
    pub(crate) fn has_printed(&mut self, beginning: &str) {
        if !self.printed.iter().any(|line| line.starts_with(beginning)) {
            self.prints(beginning);
        }
    }

    /// Waits until it has ended, as it should; gives what it printed.
    pub(crate) fn ends(&mut self) -> String {
        while self.next().is_some() {}
        let status = self.child.wait().unwrap();
        let printed = self.printed.join("\n") + "\n";
        assert!(status.success(), "{} ended with {status}; it printed:\n{printed}", self.name);
        printed
    }

    /// As `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The signal of Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let told = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    fn next(&mut self) -> Option<String> {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.printed.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("{} takes more than {LIMIT:?}; it printed:\n{}", self.name, self.printed.join("\n"))
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What an example prints that ends by itself.
pub(crate) fn output(name: &'static str) -> String {
    Program::start(name, &[]).ends()
}

/// Cargo puts examples beside the folder of test binaries.
fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
