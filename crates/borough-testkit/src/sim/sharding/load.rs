//! How much is asked of a cluster's shards in a run, and how its parts dawdle.

use std::sync::Arc;

use borough_protocol::random::Random;
use borough_protocol::sharding::{Allocation, Hashing, Kind};

use crate::sim::moment::{MILLISECOND, Nanos, SECOND};
use crate::sim::plan::Mode;

/// The load of a run, drawn before it begins.
#[derive(Clone, Debug)]
pub struct Load {
    /// The types of entities, and whether each writes its state to a store that all nodes reach. If the last of several does, it is
    /// seldom sent to.
    pub kinds: Vec<(Arc<Kind>, bool)>,
    /// How many senders each node has.
    pub senders: u8,
    /// How many entities each shard has.
    pub entities: u8,
    /// The longest time between two messages of a sender in a burst.
    pub pace: Nanos,
    /// The longest time between two wishes of an operator, at each node; none: there are no wishes.
    pub wishes: Option<Nanos>,
    /// So many of a thousand nodes host a type. The first two always do.
    pub hosting: u64,
    /// So many of a thousand steps of anything take up to [`Self::dawdle`].
    pub dawdling: u64,
    /// The longest that a step may take.
    pub dawdle: Nanos,
    /// So many of a thousand nodes that have just given a shard away crash or are removed at once.
    pub betrayals: u64,
    /// So many of a thousand moves are said to be impossible, too late or not.
    pub impossible: u64,
    /// So many of a thousand nodes that begin a long turn stand still in it, for longer than any lease.
    pub stills: u64,
    /// So many of ten thousand turns do not end for seconds.
    pub stuck: u64,
    /// So many of a thousand times that a store is fenced, somebody of another cluster has fenced it before at a higher epoch.
    pub strangers: u64,
}

impl Load {
    /// Whether that type is seldom sent to.
    pub fn is_quiet(&self, name: &str) -> bool {
        let last = self.kinds.last().filter(|_| self.kinds.len() > 1);
        last.is_some_and(|(kind, stored)| *stored && &*kind.name == name)
    }

    /// The load of that seed.
    pub fn draw(seed: u64, mode: Mode, slots: usize) -> Self {
        let mut random = Random::seeded(seed ^ 0x5AAD_ED00);
        let allocations = [
            Allocation::LeastShards { absolute: 0, percent: 50 },
            Allocation::Rendezvous,
            Allocation::LeastShards { absolute: 1, percent: 100 },
            Allocation::External,
        ];
        let harsh = !matches!(mode, Mode::Calm | Mode::Closing);
        let count = 1 + random.below(2);
        let kinds: Vec<(Arc<Kind>, bool)> = (0..count)
            .map(|number| {
                let kind = Kind {
                    name: format!("type {number}").into(),
                    shards: 1 + u32::try_from(random.below(4)).unwrap_or(0),
                    hashing: Hashing::Xxh3,
                    role: None,
                    min_hosts: 1,
                    allocation: *random.pick(&allocations).unwrap_or(&Allocation::Rendezvous),
                    codec: 1,
                };
                (Arc::new(kind), random.per_mille(400))
            })
            .collect();
        let dawdles = [20 * MILLISECOND, 100 * MILLISECOND, 400 * MILLISECOND];
        let senders = 1 + u8::try_from(random.below(2)).unwrap_or(0);
        let entities = 1 + u8::try_from(random.below(2)).unwrap_or(0);
        // Not more than entities can handle: what piles up hides what goes wrong.
        let all: u64 = kinds.iter().map(|(kind, _)| u64::from(kind.shards) * u64::from(entities)).sum();
        let slowest = 30 * MILLISECOND * slots as u64 * u64::from(senders) / all.max(1);
        Self {
            kinds,
            senders,
            entities,
            pace: slowest + random.between(10 * MILLISECOND, 150 * MILLISECOND),
            wishes: random.per_mille(800).then(|| random.between(200 * MILLISECOND, 6 * SECOND)),
            hosting: random.between(600, 1000),
            dawdling: random.below(80),
            dawdle: *random.pick(&dawdles).unwrap_or(&MILLISECOND),
            betrayals: if harsh && random.per_mille(500) { random.below(60) } else { 0 },
            impossible: if harsh && random.per_mille(500) { random.below(200) } else { 0 },
            stills: if harsh && random.per_mille(500) { random.below(150) } else { 0 },
            stuck: if harsh && random.per_mille(250) { random.below(6) } else { 0 },
            strangers: if harsh && random.per_mille(400) { random.below(300) } else { 0 },
        }
    }
}
