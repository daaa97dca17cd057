//! The phases of a shutdown: their order, their names, how long each may take.

use std::time::Duration;

/// The phase in which all actors stop.
pub(crate) const ACTORS: &str = "actors";

/// One step of a shutdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) timeout: Duration,
}

/// The phases in order. Changes that name an unknown phase are found by [`Phases::checked`].
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    phases: Vec<Phase>,
    unknown: Option<String>,
}

impl Default for Phases {
    fn default() -> Self {
        let phase =
            |name: &str, seconds| Phase { name: name.to_owned(), timeout: Duration::from_secs(seconds) };
        let phases = vec![phase("unbind", 5), phase("drain", 10), phase(ACTORS, 10), phase("release", 5)];
        Self { phases, unknown: None }
    }
}

impl Phases {
    pub(crate) fn set_timeout(&mut self, name: String, timeout: Duration) {
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.timeout = timeout,
            None => self.unknown = Some(name),
        }
    }

    pub(crate) fn insert_after(&mut self, earlier: String, name: String, timeout: Duration) {
        match self.phases.iter().position(|phase| phase.name == earlier) {
            Some(at) => self.phases.insert(at + 1, Phase { name, timeout }),
            None => self.unknown = Some(earlier),
        }
    }

    /// The phases, or the name that is none and those that are.
    pub(crate) fn checked(self) -> Result<Vec<Phase>, (String, Vec<String>)> {
        match self.unknown {
            None => Ok(self.phases),
            Some(unknown) => Err((unknown, self.phases.into_iter().map(|phase| phase.name).collect())),
        }
    }
}
