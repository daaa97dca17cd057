//! The goals, as data: what Borough is held to on two cores, as ratios inside one run.

use crate::programs::{PEERS, REMOTE_LIMITS, REMOTE_PEERS, SHARDED_PEERS};
use crate::workloads::Workload;

/// Four of the peers share a design and are beaten by more than actix, which is compared on its own.
const FOUR: &[&str] = &["xtra", "ractor", "coerce", "kameo"];
const ACTIX: &[&str] = &["actix"];
const CHANNELS: &[&str] = &["raw-unbounded", "raw-bounded"];
const QUEUES: &[&str] = &["raw-batch", "raw-unbounded", "raw-bounded"];
const TASK: &[&str] = &["raw-task"];
const TABLE: &[&str] = &["raw-table"];

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goal {
    pub(crate) workload: Workload,
    /// The peers of which the best is shown, and compared with where the bound says so.
    pub(crate) peers: &'static [&'static str],
    /// The raw programs of which the best is the limit shown.
    pub(crate) limits: &'static [&'static str],
    pub(crate) bound: Bound,
}

/// What is to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// So many times the best peer, or more.
    TimesPeer(f64),
    /// So many times the raw limit, or less.
    TimesLimit(f64),
    /// This part of the raw limit, or more.
    ShareOfLimit(f64),
    /// So many times our own figure under another workload, or more.
    TimesOwn(f64, Workload),
    /// So much, or less, whatever others do. The ratio shown is that to the raw limit.
    Value(f64),
    /// Nothing: the row is there to be looked at. The ratio shown is that to the best peer.
    Shown,
}

impl Bound {
    /// The number that the ratio, or for [`Bound::Value`] the figure, is held against.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::TimesPeer(number)
            | Self::TimesLimit(number)
            | Self::ShareOfLimit(number)
            | Self::TimesOwn(number, _)
            | Self::Value(number) => number,
            Self::Shown => f64::NAN,
        }
    }

    /// Whether less is asked for, not more.
    pub(crate) fn is_ceiling(self) -> bool {
        matches!(self, Self::TimesLimit(_) | Self::Value(_))
    }

    /// Whether it holds; a value exactly at the bound does.
    pub(crate) fn holds(self, ratio: f64, value: f64) -> bool {
        match self {
            Self::TimesPeer(least) | Self::ShareOfLimit(least) | Self::TimesOwn(least, _) => ratio >= least,
            Self::TimesLimit(most) => ratio <= most,
            Self::Value(most) => value <= most,
            Self::Shown => true,
        }
    }
}

const fn goal(workload: Workload, peers: &'static [&'static str], bound: Bound) -> Goal {
    let limits = match workload {
        // The limit of an ask is named in the goal: a tokio channel and a oneshot.
        Workload::Ask1 => CHANNELS,
        Workload::Spawn | Workload::Memory => TASK,
        Workload::RemoteTell | Workload::RemoteAsk1 | Workload::RemoteAsk1000 => &REMOTE_LIMITS,
        Workload::RemoteShardedTell | Workload::RemoteShardedAsk1 | Workload::RemoteShardedAsk1000 => {
            &REMOTE_LIMITS
        }
        Workload::ShardedTell
        | Workload::ShardedTell1m
        | Workload::ShardedTell1mTwo
        | Workload::ShardedTell10m
        | Workload::ShardedAsk1
        | Workload::ShardedAsk1Of1m
        | Workload::ShardedAsk1000
        | Workload::Activation
        | Workload::ShardedMemory
        | Workload::ShardedMemory10m => TABLE,
        // Nothing raw is as careless as the first, or has shards.
        Workload::RemoteShardedFlood | Workload::ManyTypes | Workload::ManyShards => &[],
        _ => QUEUES,
    };
    Goal { workload, peers, limits, bound }
}

/// Every row of `local`, in the order of the table.
pub(crate) const LOCAL: [Goal; 12] = [
    goal(Workload::Tell1, FOUR, Bound::TimesPeer(4.0)),
    goal(Workload::Tell1, ACTIX, Bound::TimesPeer(1.5)),
    goal(Workload::Tell4, FOUR, Bound::TimesPeer(5.0)),
    goal(Workload::Tell4, ACTIX, Bound::TimesPeer(2.0)),
    goal(Workload::Tell4Threads, FOUR, Bound::TimesPeer(5.0)),
    goal(Workload::Tell4Threads, ACTIX, Bound::TimesPeer(2.0)),
    // No collapse: threads that never yield keep at least half the speed of tasks.
    goal(Workload::Tell4Threads, &PEERS, Bound::TimesOwn(0.5, Workload::Tell4)),
    goal(Workload::RoundRobin, &PEERS, Bound::TimesPeer(2.0)),
    goal(Workload::Ask1, &PEERS, Bound::TimesLimit(1.3)),
    goal(Workload::Ask1000, &PEERS, Bound::TimesPeer(2.0)),
    goal(Workload::Spawn, &PEERS, Bound::TimesPeer(1.0)),
    goal(Workload::Memory, &PEERS, Bound::Value(500.0)),
];

/// Every row of `remote`, in the order of the table.
pub(crate) const REMOTE: [Goal; 4] = [
    goal(Workload::RemoteTell, &REMOTE_PEERS, Bound::TimesPeer(20.0)),
    goal(Workload::RemoteTell, &REMOTE_PEERS, Bound::ShareOfLimit(0.45)),
    goal(Workload::RemoteAsk1, &REMOTE_PEERS, Bound::TimesLimit(1.15)),
    goal(Workload::RemoteAsk1000, &REMOTE_PEERS, Bound::TimesPeer(15.0)),
];

/// Every row of `sharding`, in the order of the table.
pub(crate) const SHARDING: [Goal; 17] = [
    goal(Workload::ShardedTell, &SHARDED_PEERS, Bound::Shown),
    goal(Workload::ShardedTell1m, &SHARDED_PEERS, Bound::ShareOfLimit(0.55)),
    goal(Workload::ShardedTell1mTwo, &SHARDED_PEERS, Bound::ShareOfLimit(0.75)),
    goal(Workload::ShardedTell10m, &SHARDED_PEERS, Bound::ShareOfLimit(0.45)),
    goal(Workload::ShardedAsk1, &SHARDED_PEERS, Bound::TimesLimit(2.5)),
    goal(Workload::ShardedAsk1Of1m, &SHARDED_PEERS, Bound::TimesLimit(5.0)),
    goal(Workload::ShardedAsk1000, &SHARDED_PEERS, Bound::TimesPeer(5.0)),
    goal(Workload::Activation, &SHARDED_PEERS, Bound::ShareOfLimit(0.4)),
    goal(Workload::ShardedMemory, &SHARDED_PEERS, Bound::Value(100.0)),
    goal(Workload::ShardedMemory10m, &SHARDED_PEERS, Bound::Shown),
    // Against one that has no entities to find.
    goal(Workload::RemoteShardedTell, &REMOTE_PEERS, Bound::TimesPeer(20.0)),
    goal(Workload::RemoteShardedAsk1000, &REMOTE_PEERS, Bound::TimesPeer(15.0)),
    goal(Workload::RemoteShardedTell, &SHARDED_PEERS, Bound::Shown),
    goal(Workload::RemoteShardedFlood, &SHARDED_PEERS, Bound::Shown),
    goal(Workload::RemoteShardedAsk1, &SHARDED_PEERS, Bound::Shown),
    goal(Workload::ManyTypes, &[], Bound::Value(5_000.0)),
    goal(Workload::ManyShards, &[], Bound::Value(3_000.0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_at_its_number_and_missed_just_past_it() {
        for (bound, met, missed) in [
            (Bound::TimesPeer(4.0), 4.0, 3.999),
            (Bound::TimesOwn(0.5, Workload::Tell4), 0.5, 0.499),
            (Bound::TimesLimit(1.3), 1.3, 1.301),
            (Bound::ShareOfLimit(0.45), 0.45, 0.449),
        ] {
            assert!(bound.holds(met, f64::NAN), "{bound:?}");
            assert!(!bound.holds(missed, f64::NAN), "{bound:?}");
        }
        assert!(Bound::Value(500.0).holds(f64::NAN, 500.0));
        assert!(!Bound::Value(500.0).holds(f64::NAN, 500.1));
    }

    #[test]
    fn a_figure_that_is_no_number_is_missed() {
        for bound in
            [Bound::TimesPeer(1.0), Bound::TimesLimit(1.0), Bound::ShareOfLimit(1.0), Bound::Value(1.0)]
        {
            assert!(!bound.holds(f64::NAN, f64::NAN), "{bound:?}");
        }
    }
}
