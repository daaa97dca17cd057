//! Who is gone and must not come back, for as long as somebody may still speak of them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use crate::incarnation::Uid;
use crate::time::Timestamp;
use crate::vector_clock::{Author, Dot};

/// How a member went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Gone {
    /// Removed by the table, without its doing.
    Down,
    /// It left.
    Left,
    /// A newer life of its address came.
    Replaced,
    /// It was never admitted, and is not there any more.
    Vanished,
}

/// What is kept of a node that is gone. For its whole life it beats any record of that uid, but one that gossip laid is beaten by the record of a node that the table
/// has admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// How it went.
    pub how: Gone,
    /// The change that buried it.
    pub dot: Dot,
    /// When the tombstone itself is forgotten, on this node's clock.
    pub expires_at: Timestamp,
}

impl Tombstone {
    /// Whether the table removed the node.
    pub(super) fn is_by_table(&self) -> bool {
        self.dot.author == Author::Table
    }
}

/// A tombstone on its way to another node: its age travels, as moments of one node mean nothing to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Obituary {
    /// Who is gone.
    pub uid: Uid,
    /// How it went.
    pub how: Gone,
    /// The change that buried it.
    pub dot: Dot,
    /// How long ago that was.
    pub age: Duration,
}

#[derive(Clone, Debug)]
pub(super) struct Tombstones {
    stones: BTreeMap<Uid, Tombstone>,
    life: Duration,
    /// No stone expires before; so looking for expired ones costs nothing most of the time.
    quiet_until: Timestamp,
    /// How many stones were ever laid here.
    laid: u64,
}

impl Tombstones {
    pub(super) fn new(life: Duration) -> Self {
        Self { stones: BTreeMap::new(), life, quiet_until: Timestamp::NEVER, laid: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.stones.len()
    }

    pub(super) fn laid(&self) -> u64 {
        self.laid
    }

    pub(super) fn named(&self, uid: Uid) -> Option<&Tombstone> {
        self.stones.get(&uid)
    }

    pub(super) fn contains(&self, uid: Uid) -> bool {
        self.stones.contains_key(&uid)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Uid, &Tombstone)> + '_ {
        self.stones.iter().map(|(uid, stone)| (*uid, stone))
    }

    /// A tombstone laid now.
    pub(super) fn fresh(&self, how: Gone, dot: Dot, now: Timestamp) -> Tombstone {
        Tombstone { how, dot, expires_at: now + self.life }
    }

    /// The tombstone of which an obituary tells: it ends when the one it was copied from does, give or take the way.
    pub(super) fn told(&self, obituary: &Obituary, now: Timestamp) -> Tombstone {
        let expires_at = now + self.life.saturating_sub(obituary.age);
        Tombstone { how: obituary.how, dot: obituary.dot, expires_at }
    }

    pub(super) fn obituary(&self, uid: Uid, stone: &Tombstone, now: Timestamp) -> Obituary {
        let age = self.life.saturating_sub(stone.expires_at.since(now));
        Obituary { uid, how: stone.how, dot: stone.dot, age }
    }

    /// Whether others are still told of it unasked. In the last eighth of its life a tombstone is kept and not spread:
    /// otherwise two nodes could hand it to each other for ever, each time longer by the way of the message.
    pub(super) fn is_spread(&self, stone: &Tombstone, now: Timestamp) -> bool {
        stone.expires_at.since(now) > self.life / 8
    }

    /// Lays the stone, or joins it with the one that is there: the smaller dot says how, the shorter life counts.
    /// True if there was none.
    pub(super) fn lay(&mut self, uid: Uid, stone: Tombstone) -> bool {
        let known = self.stones.get(&uid).copied();
        let mut merged = stone;
        if let Some(known) = known {
            (merged.dot, merged.how) = (known.dot, known.how).min((stone.dot, stone.how));
            merged.expires_at = known.expires_at.min(stone.expires_at);
        } else {
            self.laid += 1;
        }
        self.quiet_until = self.quiet_until.min(merged.expires_at);
        self.stones.insert(uid, merged);
        known.is_none()
    }

    pub(super) fn remove(&mut self, uid: Uid) {
        self.stones.remove(&uid);
    }

    /// Forgets the stones whose life is over, and says whose they were.
    pub(super) fn expire(&mut self, now: Timestamp) -> Vec<Uid> {
        if now < self.quiet_until {
            return Vec::new();
        }
        let over = |stone: &Tombstone| stone.expires_at <= now;
        let expired: Vec<Uid> = self.iter().filter(|(_, stone)| over(stone)).map(|(uid, _)| uid).collect();
        self.stones.retain(|_, stone| !over(stone));
        self.quiet_until =
            self.stones.values().map(|stone| stone.expires_at).min().unwrap_or(Timestamp::NEVER);
        expired
    }
}
