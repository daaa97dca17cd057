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

/// The phases in order. A change that cannot be made is found by [`Phases::checked`].
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    phases: Vec<Phase>,
    wrong: Option<PhaseError>,
}

/// What is wrong with the phases a shutdown is to have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhaseError {
    /// There is no such phase.
    #[error("there is no shutdown phase {name:?}; there are: {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// There is a phase of this name already.
    #[error("there is a shutdown phase {name:?} already; choose another name")]
    Twice {
        /// The name.
        name: String,
    },
}

impl Default for Phases {
    fn default() -> Self {
        let phase =
            |name: &str, seconds| Phase { name: name.to_owned(), timeout: Duration::from_secs(seconds) };
        let phases = vec![phase("unbind", 5), phase("drain", 10), phase(ACTORS, 10), phase("release", 5)];
        Self { phases, wrong: None }
    }
}

impl Phases {
    pub(crate) fn set_timeout(&mut self, name: &str, timeout: Duration) {
        match position(&self.phases, name) {
            Ok(at) => self.phases[at].timeout = timeout,
            Err(unknown) => self.wrong = Some(unknown),
        }
    }

    pub(crate) fn insert_after(&mut self, earlier: &str, name: String, timeout: Duration) {
        match position(&self.phases, earlier) {
            Ok(_) if position(&self.phases, &name).is_ok() => self.wrong = Some(PhaseError::Twice { name }),
            Ok(at) => self.phases.insert(at + 1, Phase { name, timeout }),
            Err(unknown) => self.wrong = Some(unknown),
        }
    }

    pub(crate) fn checked(self) -> Result<Vec<Phase>, PhaseError> {
        self.wrong.map_or(Ok(self.phases), Err)
    }
}

/// Where the phase of this name stands.
pub(crate) fn position(phases: &[Phase], name: &str) -> Result<usize, PhaseError> {
    phases.iter().position(|phase| phase.name == name).ok_or_else(|| PhaseError::Unknown {
        name: name.to_owned(),
        known: phases.iter().map(|phase| phase.name.clone()).collect(),
    })
}
