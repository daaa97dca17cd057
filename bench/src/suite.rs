//! What one command measures: its workloads, who runs under them, and the goals they are held to.

use crate::cluster::Measurement;
use crate::goals::{self, Goal};
use crate::programs::{LIMITS, PEERS, REMOTE_LIMITS, REMOTE_PEERS, SHARDED_LIMITS, SHARDED_PEERS};
use crate::workloads::Workload;

/// One command of the harness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suite {
    /// The command, and the name of the report's files.
    pub(crate) name: &'static str,
    pub(crate) workloads: &'static [Workload],
    pub(crate) peers: &'static [&'static str],
    pub(crate) limits: &'static [&'static str],
    pub(crate) goals: &'static [Goal],
    /// What is done to clusters besides.
    pub(crate) measurements: &'static [Measurement],
}

/// What can be chosen to be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Workload(Workload),
    Cluster(Measurement),
}

impl Choice {
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        match Measurement::parse(name) {
            Some(measurement) => Ok(Self::Cluster(measurement)),
            None => Workload::parse(name).map(Self::Workload).map_err(|workloads| {
                format!("{workloads}, {}", Measurement::ALL.map(Measurement::name).join(", "))
            }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Workload(workload) => workload.name(),
            Self::Cluster(measurement) => measurement.name(),
        }
    }
}

/// Actors in one process.
pub(crate) const LOCAL: Suite = Suite {
    name: "local",
    workloads: &Workload::LOCAL,
    peers: &PEERS,
    limits: &LIMITS,
    goals: &goals::LOCAL,
    measurements: &[],
};

/// Two processes over loopback.
pub(crate) const REMOTE: Suite = Suite {
    name: "remote",
    workloads: &Workload::REMOTE,
    peers: &REMOTE_PEERS,
    limits: &REMOTE_LIMITS,
    goals: &goals::REMOTE,
    measurements: &[],
};

/// Entities, inside one process and between two.
pub(crate) const SHARDING: Suite = Suite {
    name: "sharding",
    workloads: &Workload::SHARDING,
    peers: &SHARDED_PEERS,
    limits: &SHARDED_LIMITS,
    goals: &goals::SHARDING,
    measurements: &Measurement::ALL,
};

impl Suite {
    /// What to measure when only some of it is wanted; the error names what is not of this suite.
    pub(crate) fn chosen(&self, only: &[Choice]) -> Result<(Vec<Workload>, Vec<Measurement>), String> {
        let workloads = self.workloads.iter().copied().map(Choice::Workload);
        let all: Vec<_> = workloads.chain(self.measurements.iter().copied().map(Choice::Cluster)).collect();
        if let Some(stranger) = only.iter().find(|it| !all.contains(it)) {
            let own: Vec<_> = all.iter().map(|it| it.name()).collect();
            return Err(format!("{} has no {}, only {}", self.name, stranger.name(), own.join(", ")));
        }
        let is_chosen = |choice: Choice| only.is_empty() || only.contains(&choice);
        let workloads = self.workloads.iter().copied().filter(|it| is_chosen(Choice::Workload(*it)));
        let measurements = self.measurements.iter().copied().filter(|it| is_chosen(Choice::Cluster(*it)));
        Ok((workloads.collect(), measurements.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_choice_everything_is_measured() {
        assert_eq!(LOCAL.chosen(&[]), Ok((Workload::LOCAL.to_vec(), Vec::new())));
        assert_eq!(SHARDING.chosen(&[]), Ok((Workload::SHARDING.to_vec(), Measurement::ALL.to_vec())));
    }

    #[test]
    fn a_choice_is_all_that_is_measured() {
        let only = Choice::parse("remote_ask1").unwrap();
        assert_eq!(REMOTE.chosen(&[only]), Ok((vec![Workload::RemoteAsk1], Vec::new())));
        let only = Choice::parse("rolling-restart").unwrap();
        assert_eq!(SHARDING.chosen(&[only]), Ok((Vec::new(), vec![Measurement::RollingRestart])));
        assert!(Choice::parse("restart").unwrap_err().ends_with("rolling-restart"));
    }

    #[test]
    fn a_workload_of_another_suite_is_refused() {
        let refused = REMOTE
            .chosen(&[Choice::Workload(Workload::RemoteTell), Choice::Workload(Workload::Spawn)])
            .unwrap_err();
        assert_eq!(refused, "remote has no spawn, only remote_tell, remote_ask1, remote_ask1000");
    }

    #[test]
    fn goals_speak_of_programs_and_workloads_of_their_suite_and_every_workload_has_one() {
        for suite in [LOCAL, REMOTE, SHARDING] {
            for goal in suite.goals {
                assert!(suite.workloads.contains(&goal.workload), "{goal:?}");
                assert!(goal.peers.iter().all(|name| suite.peers.contains(name)), "{goal:?}");
                assert!(goal.limits.iter().all(|name| suite.limits.contains(name)), "{goal:?}");
            }
            for workload in suite.workloads {
                assert!(suite.goals.iter().any(|goal| goal.workload == *workload), "{workload:?}");
            }
        }
    }
}
