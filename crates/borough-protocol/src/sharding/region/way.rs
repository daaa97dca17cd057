//! The sender's side of one shard: which way messages go, and when they may go another.
//!
//! ```text
//!            +---- entry ---> Open --new owner, or nobody has it: Close--> Closing --Closed--+
//!            |                 ^                                                              |
//! (no way) --+                 +--- !used, or lineage > tag: Open the newest <----------------+
//!                              |                                                              |
//!                              +--- BarrierDone --- Awaiting <---- Barrier on the old way ----+
//!                                                       |
//!                        the first hop is removed, or ChainBroken: Barrier straight to the newest owner
//! ```
//! Promise: no message goes by a new way while one that was sent before it may still be on the old one. Whoever has no living owner to
//! send to waits for the table; what is sent meanwhile is held.

use super::interface::Effect;
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::machine::Effects;
use crate::sharding::{Entry, Epoch, ShardId};
use crate::table::Table;
use crate::time::Timestamp;
use crate::version::Version;

/// The way from this node to one shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    shard: ShardId,
    /// Who was sent to last, and by which tag.
    owner: Uid,
    tag: Epoch,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Senders by the old way are still at it.
    Closing,
    /// Everything went by the old way and may be under way. `straight` is the version at which the chain is known to be broken.
    Awaiting {
        barrier: Option<Sent>,
        straight: Option<Version>,
    },
    /// Nothing is under way, and nobody is there to send to.
    Idle,
}

/// A barrier that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    nonce: u64,
    again: Timestamp,
    /// Where it went if it went straight.
    target: Option<Uid>,
}

/// What ways need to know of the node around them.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) now: Timestamp,
    pub(super) table: &'a Table,
    pub(super) patience: core::time::Duration,
    pub(super) flaws: Flaws,
    /// The number of the last barrier.
    pub(super) nonce: &'a mut u64,
}

impl Scene<'_> {
    fn is_gone(&self, uid: Uid) -> bool {
        self.table.member(uid).is_none()
    }

    /// Whether nobody has the shard: its owner is gone, or hosts the type no more.
    fn is_left(&self, shard: ShardId, entry: &Entry) -> bool {
        self.is_gone(entry.owner) || self.table.is_left(shard.kind, entry)
    }

    /// The version at which that node was removed, or one after it.
    fn removal(&self, uid: Uid) -> Version {
        self.table.removed().get(&uid).map_or(self.table.version(), |removed| removed.version)
    }
}

impl Way {
    /// The first owner that this node knows of; messages can go at once. `None` if it is gone already: wait for the next.
    pub(super) fn find(
        shard: ShardId,
        entry: &Entry,
        scene: &Scene<'_>,
        effects: &mut Effects<Effect>,
    ) -> Option<Self> {
        if scene.is_left(shard, entry) {
            return None;
        }
        let (owner, tag) = (entry.owner, entry.epoch);
        effects.push(Effect::Open { shard, to: owner, tag });
        Some(Self { shard, owner, tag, state: State::Open })
    }

    /// The table says something new of the shard, or of members.
    pub(super) fn follow(&mut self, entry: &Entry, scene: &mut Scene<'_>, effects: &mut Effects<Effect>) {
        match self.state {
            State::Open => {
                if entry.epoch != self.tag || scene.is_gone(self.owner) || scene.is_left(self.shard, entry) {
                    effects.push(Effect::Close { shard: self.shard });
                    self.state = State::Closing;
                    if scene.flaws.has(Flaw::ClosedNotAwaited) {
                        self.closed(true, entry, scene, effects);
                    }
                }
            }
            State::Closing => {}
            State::Awaiting { .. } => self.go_on(entry, scene, effects),
            State::Idle => self.open(entry, scene, effects),
        }
    }

    /// No sender is at the old way any more.
    pub(super) fn closed(
        &mut self,
        used: bool,
        entry: &Entry,
        scene: &mut Scene<'_>,
        effects: &mut Effects<Effect>,
    ) {
        if self.state != State::Closing {
            return;
        }
        if !used || scene.flaws.has(Flaw::NoBarrier) {
            self.state = State::Idle;
            self.open(entry, scene, effects);
        } else {
            self.state = State::Awaiting { barrier: None, straight: None };
            self.go_on(entry, scene, effects);
        }
    }

    /// What was sent before is where it must be, or can come nowhere.
    fn open(&mut self, entry: &Entry, scene: &Scene<'_>, effects: &mut Effects<Effect>) {
        self.state = State::Idle;
        if !scene.is_left(self.shard, entry) {
            (self.owner, self.tag, self.state) = (entry.owner, entry.epoch, State::Open);
            effects.push(Effect::Open { shard: self.shard, to: self.owner, tag: self.tag });
        }
    }

    /// Awaiting: does whatever the table allows now.
    fn go_on(&mut self, entry: &Entry, scene: &mut Scene<'_>, effects: &mut Effects<Effect>) {
        let State::Awaiting { barrier, straight } = self.state else { return };
        // What began anew takes nothing of what was sent to the one before; nor will what nobody has, for it can only begin anew.
        if entry.lineage > self.tag || scene.table.is_left(self.shard.kind, entry) {
            self.open(entry, scene, effects);
            return;
        }
        let straight = straight.or_else(|| scene.is_gone(self.owner).then(|| scene.removal(self.owner)));
        let newest_is_gone = scene.is_gone(entry.owner);
        let barrier = match (straight, barrier) {
            (None, None) => Some(self.send(self.owner, self.tag, None, scene, effects)),
            (None, sent @ Some(_)) => sent,
            // Nobody is there to answer, or this table is too old to say who is.
            (Some(version), _) if newest_is_gone || scene.table.version() < version => None,
            (Some(_), sent @ Some(Sent { target: Some(target), .. })) if !scene.is_gone(target) => sent,
            (Some(version), _) => Some(self.send(entry.owner, entry.epoch, Some(version), scene, effects)),
        };
        self.state = State::Awaiting { barrier, straight };
    }

    fn send(
        &self,
        to: Uid,
        tag: Epoch,
        straight: Option<Version>,
        scene: &mut Scene<'_>,
        effects: &mut Effects<Effect>,
    ) -> Sent {
        *scene.nonce += 1;
        let nonce = *scene.nonce;
        let careless = scene.flaws.has(Flaw::StraightBarrierWithoutVersion);
        let min_version = straight.filter(|_| !careless);
        effects.push(Effect::Barrier { shard: self.shard, to, tag, nonce, min_version });
        Sent { nonce, again: scene.now + scene.patience, target: straight.map(|_| to) }
    }

    /// The barrier was not answered for long: once more, with the same number. A straight one goes to whoever is the newest now.
    pub(super) fn repeat(&mut self, entry: &Entry, scene: &mut Scene<'_>, effects: &mut Effects<Effect>) {
        let State::Awaiting { barrier: Some(sent), straight } = self.state else { return };
        if sent.again > scene.now {
            return;
        }
        if straight.is_some_and(|version| scene.is_gone(entry.owner) || scene.table.version() < version) {
            self.state = State::Awaiting { barrier: None, straight };
            return;
        }
        let before = *scene.nonce;
        *scene.nonce = sent.nonce - 1;
        let again = if straight.is_some() {
            self.send(entry.owner, entry.epoch, straight, scene, effects)
        } else {
            self.send(self.owner, self.tag, None, scene, effects)
        };
        *scene.nonce = before;
        self.state = State::Awaiting { barrier: Some(again), straight };
    }

    /// The running host has answered that barrier.
    pub(super) fn done(
        &mut self,
        nonce: u64,
        entry: &Entry,
        scene: &Scene<'_>,
        effects: &mut Effects<Effect>,
    ) {
        if self.awaits(nonce) {
            self.open(entry, scene, effects);
        }
    }

    /// That barrier can go no further on its way.
    pub(super) fn broken(
        &mut self,
        nonce: u64,
        version: Version,
        entry: &Entry,
        scene: &mut Scene<'_>,
        effects: &mut Effects<Effect>,
    ) {
        if let State::Awaiting { straight, .. } = self.state
            && self.awaits(nonce)
        {
            // One that was straight already is not sent again at once: this table may be too old to say who is the newest.
            let barrier = straight.map(|_| {
                *scene.nonce += 1;
                Sent { nonce: *scene.nonce, again: scene.now + scene.patience, target: Some(entry.owner) }
            });
            self.state = State::Awaiting { barrier, straight: straight.max(Some(version)) };
            self.go_on(entry, scene, effects);
        }
    }

    fn awaits(&self, nonce: u64) -> bool {
        matches!(self.state, State::Awaiting { barrier: Some(sent), .. } if sent.nonce == nonce)
    }

    /// When the barrier is to be sent again.
    pub(super) fn again(&self) -> Timestamp {
        match self.state {
            State::Awaiting { barrier: Some(sent), .. } => sent.again,
            State::Open | State::Closing | State::Awaiting { barrier: None, .. } | State::Idle => {
                Timestamp::NEVER
            }
        }
    }

    /// The barrier that is to be answered.
    pub(super) fn nonce(&self) -> Option<u64> {
        match self.state {
            State::Awaiting { barrier, .. } => barrier.map(|sent| sent.nonce),
            State::Open | State::Closing | State::Idle => None,
        }
    }

    /// Whether something that was sent may still be on an old way.
    pub(super) fn is_old(&self) -> bool {
        matches!(self.state, State::Closing | State::Awaiting { .. })
    }

    pub(super) fn assert_invariants(&self, last_nonce: u64) {
        assert!(
            self.nonce().is_none_or(|nonce| nonce <= last_nonce),
            "{:?} awaits what was not sent",
            self.shard
        );
    }
}
