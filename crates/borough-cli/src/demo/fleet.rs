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

    /// Starts one more, and waits until it is ready. Gives its name, which no other has had.
    pub(super) async fn add(&mut self) -> Result<String> {
        let round = self.started / NAMES.len();
        let mut name = NAMES[self.started % NAMES.len()].to_owned();
        if round > 0 {
            name = format!("{name}-{}", round + 1);
        }
        self.started += 1;
        let process = Process::start(name.clone(), &self.seed, self.max_pause).await?;
        self.processes.push(process);
        Ok(name)
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
        let process = self.processes.iter_mut().find(|process| process.name == name);
        let process = process.with_context(|| format!("no node is called {name}"))?;
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
}
