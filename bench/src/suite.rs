//! What one command measures: its workloads, who runs under them, and the goals they are held to.

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
}

/// Actors in one process.
pub(crate) const LOCAL: Suite = Suite {
    name: "local",
    workloads: &Workload::LOCAL,
    peers: &PEERS,
    limits: &LIMITS,
    goals: &goals::LOCAL,
};

/// Two processes over loopback.
pub(crate) const REMOTE: Suite = Suite {
    name: "remote",
    workloads: &Workload::REMOTE,
    peers: &REMOTE_PEERS,
    limits: &REMOTE_LIMITS,
    goals: &goals::REMOTE,
};

/// Entities, inside one process and between two.
pub(crate) const SHARDING: Suite = Suite {
    name: "sharding",
    workloads: &Workload::SHARDING,
    peers: &SHARDED_PEERS,
    limits: &SHARDED_LIMITS,
    goals: &goals::SHARDING,
};

impl Suite {
    /// The workloads to measure when only some are wanted; the error names one that is not of this suite.
    pub(crate) fn chosen(&self, only: &[Workload]) -> Result<Vec<Workload>, String> {
        if let Some(stranger) = only.iter().find(|it| !self.workloads.contains(it)) {
            let own: Vec<_> = self.workloads.iter().map(|it| it.name()).collect();
            return Err(format!("{} has no {}, only {}", self.name, stranger.name(), own.join(", ")));
        }
        Ok(self.workloads.iter().copied().filter(|it| only.is_empty() || only.contains(it)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_choice_everything_is_measured() {
        assert_eq!(LOCAL.chosen(&[]), Ok(Workload::LOCAL.to_vec()));
        assert_eq!(REMOTE.chosen(&[Workload::RemoteAsk1]), Ok(vec![Workload::RemoteAsk1]));
    }

    #[test]
    fn a_workload_of_another_suite_is_refused() {
        let refused = REMOTE.chosen(&[Workload::RemoteTell, Workload::Spawn]).unwrap_err();
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
