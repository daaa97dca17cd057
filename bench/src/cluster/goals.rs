//! The goals of a cluster, as data: what is held on two cores with nothing else to do, whatever others do.

use super::Measurement;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goal {
    pub(crate) measurement: Measurement,
    /// What it is called in what the program says, and in the JSON.
    pub(crate) figure: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    pub(crate) of: Of,
}

/// Which of all runs is held against a number; less is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Of {
    /// The middle one may be so much.
    Median(f64),
    /// The worst one may be so much.
    Worst(f64),
    /// Nothing: the row is there to be looked at.
    Shown,
}

impl Of {
    /// What is allowed.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Median(most) | Self::Worst(most) => Some(most),
            Self::Shown => None,
        }
    }
}

const fn goal(measurement: Measurement, figure: &'static str, title: &'static str, of: Of) -> Goal {
    Goal { measurement, figure, title, of }
}

/// Every row of clusters, in the order of the table.
pub(crate) const CLUSTER: [Goal; 23] = {
    use Measurement::{ColdStart, Formation, Join, Kill, Leave, RollingRestart};
    use Of::{Median, Shown, Worst};
    [
        goal(Formation, "formation_3", "3 nodes, until each sees all up", Shown),
        goal(Formation, "formation_7", "7 nodes, until each sees all up", Shown),
        goal(Formation, "formation_15", "15 nodes, until each sees all up", Shown),
        goal(ColdStart, "cold_start", "3 nodes, cold start to first answers", Median(4000.0)),
        goal(ColdStart, "cold_start", "3 nodes, cold start to first answers", Worst(6000.0)),
        goal(Kill, "failover", "kill -9 of one of 5, until all answer again", Median(3000.0)),
        goal(Kill, "failover", "kill -9 of one of 5, until all answer again", Worst(3500.0)),
        goal(Kill, "failover_owner", "the same, of an owner", Shown),
        goal(Kill, "failover_coordinator", "the same, of the coordinator", Shown),
        goal(Kill, "kill_silence", "the same, longest silence of an id", Shown),
        goal(Kill, "kill_lost", "the same, tells lost with the processes", Shown),
        goal(Kill, "kill_unanswered", "the same, asks that failed with a reason", Shown),
        goal(Join, "join_balanced", "join of a 4th, 1 M entities, until balanced", Worst(10_000.0)),
        // A fourth node needs a fourth of the shards.
        goal(Join, "join_moved", "the same, shards moved", Worst(25.0)),
        goal(Join, "join_silence", "the same, longest silence of an id", Worst(250.0)),
        goal(Join, "join_lost", "the same, messages lost", Worst(0.0)),
        goal(Leave, "leave_took", "leave of one of 3, until it has ended", Shown),
        goal(Leave, "leave_silence", "the same, longest silence of an id", Worst(250.0)),
        goal(Leave, "leave_lost", "the same, messages lost", Worst(0.0)),
        goal(RollingRestart, "restart_silence", "restart of all 3, longest silence of an id", Worst(250.0)),
        goal(RollingRestart, "restart_lost", "the same, messages lost", Worst(0.0)),
        goal(RollingRestart, "restart_reordered", "the same, messages reordered", Worst(0.0)),
        goal(RollingRestart, "restart_took", "the same, slowest leave", Shown),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measurement_has_a_row() {
        for measurement in Measurement::ALL {
            assert!(CLUSTER.iter().any(|goal| goal.measurement == measurement), "{measurement:?}");
        }
    }
}
