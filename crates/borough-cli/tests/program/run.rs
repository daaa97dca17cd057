//! Starts the program, and ends it whatever happens.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything may take on a machine that has much else to do.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_borough"));
    command.args(arguments).stdin(Stdio::null());
    for name in ["", "_TOKEN", "_TLS_AUTHORITY", "_TLS_CERTIFICATE", "_TLS_KEY"] {
        command.env_remove(format!("BOROUGH_MANAGEMENT{name}"));
    }
    command
}

/// Runs it to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// What it printed, if it ended well; otherwise fails with what it said.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}: {words}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON it printed.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

/// How a small demo is started. A machine that has much else to do must not cost it a node.
pub(crate) const SMALL: [&str; 9] =
    ["demo", "--entities", "4000", "--rate", "1000", "--max-pause", "2s", "--dashboard", "127.0.0.1:0"];

/// A demo that runs until this is dropped.
pub(crate) struct Demo {
    pub(crate) child: Child,
    pub(crate) address: String,
    words: Receiver<String>,
}

impl Demo {
    /// Ready when its cluster stands.
    pub(crate) fn start() -> Self {
        let mut child = program(&SMALL).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let (sender, words) = channel();
        std::thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        // From here on it is ended if this fails.
        let demo = Self { child, address: String::new(), words };
        let stands = demo.hears("its dashboard is at http://");
        demo.at(stands.rsplit_once("http://").unwrap().1)
    }

    fn at(mut self, address: &str) -> Self {
        self.address.push_str(address);
        self
    }

    /// Waits until it says a line with these words in it.
    fn hears(&self, wanted: &str) -> String {
        let until = Instant::now() + BOUND;
        loop {
            let line = self.words.recv_timeout(until.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|error| panic!("{wanted:?} was not said: {error}"));
            if line.contains(wanted) {
                return line;
            }
        }
    }

    /// Asks it with the program.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        json(&[arguments, &["--json", "--address", &self.address]].concat())
    }

    pub(crate) fn printed(&self, arguments: &[&str]) -> String {
        printed(&[arguments, &["--address", &self.address]].concat())
    }

    /// Asks again until the answer is as wanted.
    pub(crate) fn until(&self, arguments: &[&str], mut wanted: impl FnMut(&serde_json::Value) -> bool) {
        let until = Instant::now() + BOUND;
        loop {
            let answer = self.json(arguments);
            if wanted(&answer) {
                return;
            }
            assert!(Instant::now() < until, "{arguments:?} still answers {answer}");
        }
    }

    /// Its node processes.
    #[cfg(target_os = "linux")]
    pub(crate) fn children(&self) -> Vec<u32> {
        children(self.child.id())
    }
}

/// The processes that this one has started.
#[cfg(target_os = "linux")]
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let of = |thread: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap_or_default()
    };
    threads.map(of).collect::<String>().split_whitespace().map(|id| id.parse().unwrap()).collect()
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
