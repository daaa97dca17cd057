//! Which entities go when there are too many.

use std::fmt;

pub use borough_protocol::sharding::passivation::Policy;
use borough_protocol::sharding::passivation::Ranking;

/// Which entities end when there are more than [`max_entities`](crate::ShardBuilder::max_entities).
#[derive(Clone, Copy, Default)]
pub struct Passivation(Option<Policy>);

impl Passivation {
    /// Those that were not used for the longest time go, a few at once; by a clock of 10 ms, so that it costs a message nothing. This is the
    /// default.
    pub fn least_recently_used() -> Self {
        Self(None)
    }

    /// One goes for each that is too many, as that policy says. It costs each message a few nanoseconds and each entity 12 to 30 bytes.
    pub fn by(policy: Policy) -> Self {
        Self(Some(policy))
    }

    /// The policy, if it is not the default's.
    pub(crate) fn policy(&self) -> Option<Policy> {
        self.0
    }
}

impl fmt::Debug for Passivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(policy) => write!(f, "Passivation({policy:?})"),
            None => f.write_str("Passivation(least recently used)"),
        }
    }
}

/// The entities of a lane, ranked by a policy. Each has a number made of its slot and its shard.
pub(super) struct Ranks {
    ranking: Ranking,
    /// How many shards the lane may have, and how many lanes there are.
    shards: u32,
    lanes: u32,
}

impl Ranks {
    /// `None` if the lane has no limit, or no policy of its own.
    pub(super) fn new(
        passivation: Passivation,
        limit: Option<usize>,
        shards: u32,
        lanes: u32,
    ) -> Option<Self> {
        let (policy, limit) = (passivation.0?, limit?);
        let ranking = Ranking::new(policy, u32::try_from(limit).unwrap_or(u32::MAX));
        Some(Self { ranking, shards: shards.max(1), lanes })
    }

    fn number(&self, shard: u32, slot: u32) -> Option<u32> {
        slot.checked_mul(self.shards)?.checked_add(shard / self.lanes)
    }

    pub(super) fn began(&mut self, shard: u32, slot: u32, hash: u64) {
        if let Some(number) = self.number(shard, slot) {
            self.ranking.on_insert(number, hash);
        }
    }

    #[inline]
    pub(super) fn used(&mut self, shard: u32, slot: u32) {
        if let Some(number) = self.number(shard, slot) {
            self.ranking.on_access(number);
        }
    }

    pub(super) fn gone(&mut self, shard: u32, slot: u32) {
        if let Some(number) = self.number(shard, slot) {
            self.ranking.on_remove(number);
        }
    }

    /// One that is to go: which shard of the lane, and which slot. It is ranked no more.
    pub(super) fn victim(&mut self) -> Option<(usize, u32)> {
        let number = self.ranking.victim()?;
        Some(((number % self.shards) as usize, number / self.shards))
    }
}
