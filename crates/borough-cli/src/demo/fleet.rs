//! The node processes of the demo: started, told, paused, killed; none outlives the demo.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Districts, as nodes are called.
const NAMES: [&str; 12] = [
    "uptown", "midtown", "downtown", "harbour", "garden", "market", "castle", "mill", "bridge", "forest",
    "island", "station",
];
/// How long a process may take to say where it is.
const START: Duration = Duration::from_secs(20);
/// How long a node may take to leave.
const LEAVE: Duration = Duration::from_secs(60);

/// A node in a process of its own. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) name: String,
    /// Where its management listens.
    pub(super) management: String,
    pub(super) is_paused: bool,
    child: Child,
    orders: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
}

/// All that run.
#[derive(Debug)]
pub(super) struct Fleet {
    seed: String,
    started: usize,
    pub(super) processes: Vec<Process>,
}

impl Fleet {
    /// None yet; those to come look for the cluster there.
    pub(super) fn new(seed: String) -> Self {
        Self { seed, started: 0, processes: Vec::new() }
    }

    /// Starts one more, and waits until it has said where it is. Gives its name.
    pub(super) async fn add(&mut self) -> Result<String> {
        let round = self.started / NAMES.len();
        let mut name = NAMES[self.started % NAMES.len()].to_owned();
        if round > 0 {
            name = format!("{name}-{}", round + 1);
        }
        self.started += 1;
        let process = Process::start(name.clone(), &self.seed).await?;
        self.processes.push(process);
        Ok(name)
    }

    /// `kill -9`.
    pub(super) async fn kill(&mut self, name: &str) -> Result<()> {
        let mut process = self.take(name)?;
        process.child.kill().await.with_context(|| format!("{name} cannot be killed"))
    }

    /// Has it leave in order, and waits until its process has ended.
    pub(super) async fn leave(&mut self, name: &str) -> Result<()> {
        let mut process = self.take(name)?;
        process.orders.write_all(b"leave\n").await.with_context(|| format!("{name} does not listen"))?;
        match timeout(LEAVE, process.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(ended) => bail!("{name} was to leave and ended with {}", ended?),
            Err(_) => bail!("{name} has not left within {} s", LEAVE.as_secs()),
        }
    }

    /// Takes the process off the processors, or gives it back to them.
    pub(super) fn pause(&mut self, name: &str, pause: bool) -> Result<()> {
        let process = self.processes.iter_mut().find(|process| process.name == name);
        let process = process.with_context(|| format!("no node is called {name}"))?;
        let id = process.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        let id = id.with_context(|| format!("{name} has ended"))?;
        let signal = if pause { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        rustix::process::kill_process(id, signal).with_context(|| format!("{name} cannot be paused"))?;
        process.is_paused = pause;
        Ok(())
    }

    /// The names of all, in the order of their start.
    pub(super) fn names(&self) -> Vec<String> {
        self.processes.iter().map(|process| process.name.clone()).collect()
    }

    fn take(&mut self, name: &str) -> Result<Process> {
        let place = self.processes.iter().position(|process| process.name == name);
        Ok(self.processes.remove(place.with_context(|| format!("no node is called {name}"))?))
    }
}

impl Process {
    async fn start(name: String, seed: &str) -> Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let mut child = Command::new(program)
            .args(["node", "--name", &name, "--seed", seed])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{name} does not start"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (orders, printed) = pipes.context("a process without pipes")?;
        let mut said = BufReader::new(printed).lines();
        let line = timeout(START, said.next_line()).await;
        let line = line.with_context(|| format!("{name} says nothing for {} s", START.as_secs()))??;
        let words: Vec<_> = line.as_deref().unwrap_or_default().split(' ').collect();
        let ["ready", _, management] = words[..] else {
            bail!("{name} ended before it was ready; its own words are above")
        };
        Ok(Self { management: management.to_owned(), name, is_paused: false, child, orders, said })
    }
}
