//! The node processes of the demo: started, told, paused, killed; none outlives the demo.

use std::time::Duration;

use anyhow::{Context, Result};

use super::process::Process;

/// Districts, as nodes are called.
const NAMES: [&str; 12] = [
    "uptown", "midtown", "downtown", "harbour", "garden", "market", "castle", "mill", "bridge", "forest",
    "island", "station",
];

/// All that run.
#[derive(Debug)]
pub(super) struct Fleet {
    seed: String,
    max_pause: Duration,
    started: usize,
    processes: Vec<Process>,
}

impl Fleet {
    /// None yet; those to come look for the cluster there.
    pub(super) fn new(seed: String, max_pause: Duration) -> Self {
        Self { seed, max_pause, started: 0, processes: Vec::new() }
    }

    /// Starts one more, and waits until it is ready. Gives its name.
    pub(super) async fn add(&mut self) -> Result<String> {
        let (name, started) = self.start_one();
        self.take_in(started.await?);
        Ok(name)
    }

    /// The name of one more, which no other has had, and its start, which waits until it is ready and holds up nothing else.
    pub(super) fn start_one(&mut self) -> (String, impl Future<Output = Result<Process>> + Send + use<>) {
        let round = self.started / NAMES.len();
        let mut name = NAMES[self.started % NAMES.len()].to_owned();
        if round > 0 {
            name = format!("{name}-{}", round + 1);
        }
        self.started += 1;
        let (of, seed, max_pause) = (name.clone(), self.seed.clone(), self.max_pause);
        (name, async move { Process::start(of, &seed, max_pause).await })
    }

    /// One that has started is of the fleet from now on.
    pub(super) fn take_in(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// Has it give its shards away and go on without.
    pub(super) async fn drain(&mut self, name: &str) -> Result<()> {
        self.named(name)?.drain().await
    }

    /// `kill -9`; ready when it is gone.
    pub(super) async fn kill(&mut self, name: &str) -> Result<()> {
        self.take(name)?.kill().await
    }

    /// Gives it away, to be told to leave.
    pub(super) fn take(&mut self, name: &str) -> Result<Process> {
        let place = self.processes.iter().position(|process| process.name == name);
        Ok(self.processes.remove(place.with_context(|| format!("no node is called {name}"))?))
    }

    /// Takes a process off the processors if it runs, and gives it back to them otherwise. Says whether it is paused now.
    pub(super) fn toggle_pause(&mut self, name: &str) -> Result<bool> {
        let process = self.named(name)?;
        process.pause(!process.is_paused)?;
        Ok(process.is_paused)
    }

    /// Those that are paused go on.
    pub(super) fn resume_all(&mut self) -> Result<()> {
        let mut paused = self.processes.iter_mut().filter(|process| process.is_paused);
        paused.try_for_each(|process| process.pause(false))
    }

    /// The names of all, in the order of their start, and whether they are paused.
    pub(super) fn roll(&self) -> Vec<(String, bool)> {
        self.processes.iter().map(|process| (process.name.clone(), process.is_paused)).collect()
    }

    /// The names of all, in the order of their start.
    pub(super) fn names(&self) -> Vec<String> {
        self.processes.iter().map(|process| process.name.clone()).collect()
    }

    /// Those that have ended by themselves, or by somebody else's hand, and whether in order.
    pub(super) fn ended(&mut self) -> Vec<(String, bool)> {
        let mut ended = Vec::new();
        self.processes.retain_mut(|process| match process.ended() {
            Some(in_order) => {
                ended.push((process.name.clone(), in_order));
                false
            }
            None => true,
        });
        ended
    }

    fn named(&mut self, name: &str) -> Result<&mut Process> {
        let process = self.processes.iter_mut().find(|process| process.name == name);
        process.with_context(|| format!("no node is called {name}"))
    }
}
