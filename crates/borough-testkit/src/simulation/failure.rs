//! How a broken promise is told: the seed, what broke, what had happened, and how to see it again.

use std::any::Any;
use std::fmt;

use super::SEED_VARIABLE;
use crate::cluster::TestClusterError;

/// A promise that was broken in a simulated run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationFailure {
    /// The seed that shows it, every time.
    pub seed: u64,
    /// What was broken, and how.
    pub broken: String,
    /// What had struck before, each with its simulated time.
    pub events: Vec<String>,
}

/// What was broken in a run, in words.
pub(super) struct Broken(pub(super) String);

impl From<TestClusterError> for Broken {
    fn from(error: TestClusterError) -> Self {
        Self(format!("cluster: {error}"))
    }
}

impl SimulationFailure {
    pub(super) fn of_panic(seed: u64, panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Self { seed, broken: format!("panic: {text}"), events: Vec::new() }
    }

    /// The command that repeats it, if it is run from a test.
    pub fn replay(&self) -> String {
        let thread = std::thread::current();
        match thread.name().filter(|name| *name != "main") {
            Some(test) => format!("{SEED_VARIABLE}={} cargo test {test} -- --exact", self.seed),
            None => format!("{SEED_VARIABLE}={} with the same command", self.seed),
        }
    }
}

impl fmt::Display for SimulationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} breaks a promise: {}", self.seed, self.broken)?;
        for event in &self.events {
            writeln!(f, "  {event}")?;
        }
        write!(f, "replay: {}, or `.seeds({1}..={1})`", self.replay(), self.seed)
    }
}

impl std::error::Error for SimulationFailure {}
