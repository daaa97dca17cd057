//! One process of a fleet. It is killed, and waited for, when it is dropped, whatever state it is in.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::room::Room;
use crate::words::Status;

pub(crate) struct Process {
    /// Which start of the fleet it was.
    pub(crate) start: usize,
    /// Where its log is.
    pub(crate) log: PathBuf,
    /// How it was when it had settled for the first time.
    pub(crate) at_first: Option<Status>,
    /// Since when it runs.
    pub(crate) since: Instant,
    child: Child,
    orders: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it. What it says goes to the room and to `<name>.out`, what it logs to `<name>.log`.
    pub(crate) fn start(
        mut command: Command,
        start: usize,
        room: &Arc<Room>,
        folder: &Path,
        name: &str,
    ) -> Result<Self, String> {
        let log = folder.join(format!("{name}.log"));
        let complaints = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let out = folder.join(format!("{name}.out"));
        let mut said = File::create(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(complaints);
        let mut child = command.spawn().map_err(|error| format!("{name} does not start: {error}"))?;
        room.enter(start);
        let reader = child.stdout.take().map(|stdout| {
            let room = room.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    // The file is for people; the test goes on without it.
                    writeln!(said, "{line}").ok();
                    if let Ok(said) = serde_json::from_str(&line) {
                        room.hear(start, said);
                    }
                }
                room.leave(start);
            })
        });
        let orders = child.stdin.take();
        Ok(Self { start, log, at_first: None, since: Instant::now(), child, orders, reader })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Gives it an order.
    pub(crate) fn order(&mut self, line: &str) -> Result<(), String> {
        let orders = self.orders.as_mut().ok_or("it takes no orders any more")?;
        orders
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|error| format!("it takes no orders: {error}"))
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<(), String> {
        kill_process(Pid::from_child(&self.child), signal)
            .map_err(|error| format!("{signal:?} cannot be sent: {error}"))
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(&mut self, bound: Duration) -> Result<ExitStatus, String> {
        let until = Instant::now() + bound;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() >= until => {
                    return Err(format!("the process has not ended within {bound:?}"));
                }
                // There is no bounded wait for a child without signals.
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
        if let Some(reader) = self.reader.take() {
            reader.join().ok();
        }
    }
}
