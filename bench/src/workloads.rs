//! The workloads as the harness sees them: their names, what their figures mean, and how much of each to run.

/// One thing measured. What it does is in [`crate::driver`] and, between two processes, in [`crate::remote`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Tell1,
    Tell4,
    Tell4Threads,
    RoundRobin,
    Ask1,
    Ask1000,
    Spawn,
    Memory,
    RemoteTell,
    RemoteAsk1,
    RemoteAsk1000,
    ShardedTell,
    ShardedTell1m,
    ShardedTell1mTwo,
    ShardedTell10m,
    ShardedAsk1,
    ShardedAsk1Of1m,
    ShardedAsk1000,
    Activation,
    ShardedMemory,
    ShardedMemory10m,
    RemoteShardedTell,
    RemoteShardedFlood,
    RemoteShardedAsk1,
    RemoteShardedAsk1000,
    ManyTypes,
    ManyShards,
}

/// Which of two figures is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Higher,
    Lower,
}

impl Workload {
    /// Inside one process.
    pub(crate) const LOCAL: [Self; 8] = [
        Self::Tell1,
        Self::Tell4,
        Self::Tell4Threads,
        Self::RoundRobin,
        Self::Ask1,
        Self::Ask1000,
        Self::Spawn,
        Self::Memory,
    ];
    /// Between two.
    pub(crate) const REMOTE: [Self; 3] = [Self::RemoteTell, Self::RemoteAsk1, Self::RemoteAsk1000];
    /// To entities, by id: inside one process, then between two; then to all shards of a cluster at once.
    pub(crate) const SHARDING: [Self; 16] = [
        Self::ShardedTell,
        Self::ShardedTell1m,
        Self::ShardedTell1mTwo,
        Self::ShardedTell10m,
        Self::ShardedAsk1,
        Self::ShardedAsk1Of1m,
        Self::ShardedAsk1000,
        Self::Activation,
        Self::ShardedMemory,
        Self::ShardedMemory10m,
        Self::RemoteShardedTell,
        Self::RemoteShardedFlood,
        Self::RemoteShardedAsk1,
        Self::RemoteShardedAsk1000,
        Self::ManyTypes,
        Self::ManyShards,
    ];

    /// The name on the command line, in the JSON and to the measured programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tell1 => "tell1",
            Self::Tell4 => "tell4",
            Self::Tell4Threads => "tell4_threads",
            Self::RoundRobin => "round_robin",
            Self::Ask1 => "ask1",
            Self::Ask1000 => "ask1000",
            Self::Spawn => "spawn",
            Self::Memory => "memory",
            Self::RemoteTell => "remote_tell",
            Self::RemoteAsk1 => "remote_ask1",
            Self::RemoteAsk1000 => "remote_ask1000",
            Self::ShardedTell => "sharded_tell",
            Self::ShardedTell1m => "sharded_tell_1m",
            Self::ShardedTell1mTwo => "sharded_tell_1m_2",
            Self::ShardedTell10m => "sharded_tell_10m",
            Self::ShardedAsk1 => "sharded_ask1",
            Self::ShardedAsk1Of1m => "sharded_ask1_1m",
            Self::ShardedAsk1000 => "sharded_ask1000",
            Self::Activation => "activation",
            Self::ShardedMemory => "sharded_memory",
            Self::ShardedMemory10m => "sharded_memory_10m",
            Self::RemoteShardedTell => "remote_sharded_tell",
            Self::RemoteShardedFlood => "remote_sharded_flood",
            Self::RemoteShardedAsk1 => "remote_sharded_ask1",
            Self::RemoteShardedAsk1000 => "remote_sharded_ask1000",
            Self::ManyTypes => "many_types",
            Self::ManyShards => "many_shards",
        }
    }

    /// The name for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Tell1 => "tell, 1 sender",
            Self::Tell4 => "tell, 4 tasks",
            Self::Tell4Threads => "tell, 4 OS threads",
            Self::RoundRobin => "1000 actors in turn",
            Self::Ask1 => "ask, one at a time, p50",
            Self::Ask1000 => "asks, 1000 at once",
            Self::Spawn => "spawn",
            Self::Memory => "memory per idle actor",
            Self::RemoteTell => "remote tell",
            Self::RemoteAsk1 => "remote ask, one at a time, p50",
            Self::RemoteAsk1000 => "remote asks, 1000 at once",
            Self::ShardedTell => "tell, 1000 entities",
            Self::ShardedTell1m => "tell, 1 M entities",
            Self::ShardedTell1mTwo => "tell, 1 M entities, 2 senders",
            Self::ShardedTell10m => "tell, 10 M entities",
            Self::ShardedAsk1 => "ask, 1000 entities, one at a time, p50",
            Self::ShardedAsk1Of1m => "ask, 1 M entities, one at a time, p50",
            Self::ShardedAsk1000 => "asks, 1000 entities, 1000 at once",
            Self::Activation => "first message to an entity",
            Self::ShardedMemory => "memory per idle entity",
            Self::ShardedMemory10m => "memory per idle entity, 10 M",
            Self::RemoteShardedTell => "remote tell, 1000 entities",
            Self::RemoteShardedFlood => "remote tells without pause, 1 M",
            Self::RemoteShardedAsk1 => "remote ask, 1000 entities, p50",
            Self::RemoteShardedAsk1000 => "remote asks, 1000 entities, 1000 at once",
            Self::ManyTypes => "200 types of 256 shards, all asked at once",
            Self::ManyShards => "1 type of 16 384 shards, all asked at once",
        }
    }

    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let found = Self::all().find(|workload| workload.name() == name);
        found.ok_or_else(|| format!("one of {}", Self::all().map(Self::name).collect::<Vec<_>>().join(", ")))
    }

    fn all() -> impl Iterator<Item = Self> {
        Self::LOCAL.into_iter().chain(Self::REMOTE).chain(Self::SHARDING)
    }

    /// Whether it takes two processes.
    pub(crate) fn is_remote(self) -> bool {
        Self::REMOTE.contains(&self) || self.unsharded().is_some() || self == Self::RemoteShardedFlood
    }

    /// Whether it is one with entities.
    pub(crate) fn is_sharded(self) -> bool {
        Self::SHARDING.contains(&self)
    }

    /// The same between two processes with one actor in place of entities: what those are held against that have no entities.
    pub(crate) fn unsharded(self) -> Option<Self> {
        match self {
            Self::RemoteShardedTell => Some(Self::RemoteTell),
            Self::RemoteShardedAsk1 => Some(Self::RemoteAsk1),
            Self::RemoteShardedAsk1000 => Some(Self::RemoteAsk1000),
            _ => None,
        }
    }

    pub(crate) fn better(self) -> Better {
        match self {
            _ if self.unit() != "per_second" => Better::Lower,
            _ => Better::Higher,
        }
    }

    /// The unit the measured programs must answer in.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Ask1
            | Self::RemoteAsk1
            | Self::ShardedAsk1
            | Self::ShardedAsk1Of1m
            | Self::RemoteShardedAsk1 => "ns",
            Self::Memory | Self::ShardedMemory | Self::ShardedMemory10m => "bytes",
            Self::ManyTypes | Self::ManyShards => "ms",
            _ => "per_second",
        }
    }

    /// A figure for people.
    pub(crate) fn show(self, value: f64) -> String {
        match self.unit() {
            "ns" if value >= 10_000.0 => format!("{:.1} us", value / 1e3),
            "ns" => format!("{value:.0} ns"),
            "bytes" => format!("{value:.0} B"),
            "ms" => format!("{value:.0} ms"),
            _ if value >= 1e6 => format!("{:.2} M/s", value / 1e6),
            _ => format!("{:.0} k/s", value / 1e3),
        }
    }

    /// The count of the trial run that tells how fast a program is; none where the count is fixed.
    pub(crate) fn trial(self) -> Option<u64> {
        match self {
            Self::Tell1
            | Self::Tell4
            | Self::Tell4Threads
            | Self::RoundRobin
            | Self::ShardedTell
            | Self::ShardedTell1m
            | Self::ShardedTell1mTwo
            | Self::ShardedTell10m => Some(200_000),
            Self::Ask1 | Self::ShardedAsk1 | Self::ShardedAsk1Of1m => Some(5_000),
            Self::Ask1000 | Self::ShardedAsk1000 | Self::RemoteTell | Self::RemoteShardedTell => {
                Some(100_000)
            }
            Self::Spawn | Self::Activation | Self::RemoteAsk1000 | Self::RemoteShardedAsk1000 => Some(20_000),
            Self::RemoteAsk1 | Self::RemoteShardedAsk1 => Some(1_000),
            Self::Memory
            | Self::ShardedMemory
            | Self::ShardedMemory10m
            | Self::RemoteShardedFlood
            | Self::ManyTypes
            | Self::ManyShards => None,
        }
    }

    /// The count that takes about `seconds`, given what the trial found.
    pub(crate) fn count(self, trial: f64, seconds: f64) -> u64 {
        let rate = if self.unit() == "ns" { 1e9 / trial } else { trial };
        let (least, most) = match self {
            // Below, start-up shows; above, an unbounded mailbox that falls behind eats the machine.
            Self::Tell1
            | Self::Tell4
            | Self::Tell4Threads
            | Self::RoundRobin
            | Self::ShardedTell
            | Self::ShardedTell1m
            | Self::ShardedTell1mTwo
            | Self::ShardedTell10m => (200_000.0, 20_000_000.0),
            Self::Ask1 | Self::ShardedAsk1 | Self::ShardedAsk1Of1m => (5_000.0, 5_000_000.0),
            Self::Ask1000 | Self::ShardedAsk1000 => (100_000.0, 5_000_000.0),
            Self::Spawn | Self::Memory | Self::ShardedMemory | Self::ShardedMemory10m => {
                (20_000.0, 200_000.0)
            }
            // Long enough that a table which grows while it is filled has grown many times.
            Self::Activation => (20_000.0, 2_000_000.0),
            Self::RemoteTell | Self::RemoteShardedTell => (100_000.0, 20_000_000.0),
            Self::RemoteShardedFlood => (1_000_000.0, 1_000_000.0),
            // Of shards.
            Self::ManyTypes => (51_200.0, 51_200.0),
            Self::ManyShards => (16_384.0, 16_384.0),
            Self::RemoteAsk1 | Self::RemoteShardedAsk1 => (1_000.0, 1_000_000.0),
            Self::RemoteAsk1000 | Self::RemoteShardedAsk1000 => (20_000.0, 10_000_000.0),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above zero")]
        let count = (rate * seconds).clamp(least, most) as u64;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for workload in Workload::all() {
            assert_eq!(Workload::parse(workload.name()), Ok(workload));
        }
        assert!(Workload::parse("tell").unwrap_err().contains("tell4_threads"));
    }

    #[test]
    fn counts_follow_the_trial_within_bounds() {
        assert_eq!(Workload::Tell1.count(4e6, 0.5), 2_000_000);
        assert_eq!(Workload::Tell1.count(1e9, 0.5), 20_000_000);
        assert_eq!(Workload::Tell1.count(1e3, 0.5), 200_000);
        // An ask of 500 ns is 2 million a second.
        assert_eq!(Workload::Ask1.count(500.0, 0.5), 1_000_000);
        assert_eq!(Workload::RemoteAsk1.count(50_000.0, 0.5), 10_000);
    }

    #[test]
    fn figures_are_shown_with_their_unit() {
        assert_eq!(Workload::Tell1.show(26_640_000.0), "26.64 M/s");
        assert_eq!(Workload::Spawn.show(638_400.0), "638 k/s");
        assert_eq!(Workload::Ask1.show(141.4), "141 ns");
        assert_eq!(Workload::Ask1.show(44_700.0), "44.7 us");
        assert_eq!(Workload::Memory.show(499.6), "500 B");
    }
}
