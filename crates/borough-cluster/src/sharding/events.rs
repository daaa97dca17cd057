//! What happens to shards, as this node sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::{Dropped, Event};
use borough_protocol::sharding::{Epoch, ShardId};
use borough_protocol::table::Table;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::loss::{StateLoss, StateLosses};

/// Something happened to a shard of a type that was started on this node. Versions of the table may be skipped; what happened in them is not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardEvent {
    /// The type; empty if it concerns all types of this node.
    pub kind: Arc<str>,
    /// Which of its shards; 0 if it concerns all of them.
    pub shard: u32,
    /// What.
    pub what: ShardNews,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardNews {
    /// It has an owner, and begins anew there: it had none, or its owner was removed.
    Allocated {
        /// Who owns it.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
    },
    /// It is to move.
    Moving {
        /// Who owns it.
        from: Uid,
        /// To whom.
        to: Uid,
    },
    /// It has moved, with what was queued.
    Moved {
        /// Who owns it now.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
        /// How long that took, as this node saw it.
        took: Option<Duration>,
    },
    /// A move does not take place.
    CalledOff {
        /// For how long it was under way.
        after: Option<Duration>,
    },
    /// Its owner has it at a higher epoch, with all there is: a store had refused the epoch before.
    Raised {
        /// Who owns it.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
    },
    /// A store refuses the shard, which is owned by this node: it handles nothing until the store accepts it. Said once a minute as long as it lasts.
    Refused {
        /// The epoch that the store refused.
        epoch: Epoch,
        /// The highest one that it has seen.
        seen: Epoch,
        /// Whether that one is more than ten years in the future: somebody must correct the store. Otherwise a higher epoch is on its way.
        is_far_ahead: bool,
    },
    /// It runs on this node now.
    Hosted {
        /// Whether it came from another node; otherwise it began anew.
        moved: bool,
    },
    /// What lived of it on this node was dropped.
    Dropped {
        /// Why.
        why: Dropped,
    },
    /// Messages of this node wait for the type, and no member hosts it. Said once, after some seconds, and again if it happens again.
    NobodyHosts {
        /// The role that its hosts must have.
        role: Option<Arc<str>>,
        /// How many messages wait here.
        waiting: usize,
    },
    /// Messages of this node wait for the type, and fewer members host it than its minimum. Said as the former is.
    TooFewHosts {
        /// How many host it.
        hosts: usize,
        /// How many there must be.
        wanted: u32,
        /// How many messages wait here.
        waiting: usize,
    },
    /// This node has no lease: nothing runs on it until it has, and nothing is lost unless the cluster goes on without it.
    Suspended,
    /// This node has a lease again.
    Resumed {
        /// For how long it had none.
        after: Duration,
    },
    /// This node gave up its part in the cluster and dropped all it hosted: it yielded to another cluster of its name, the voters of its own are gone for
    /// good, or it was removed.
    StateLost(StateLoss),
}

impl ShardEvent {
    /// Says in the log that a store refuses a shard, and what can be done about it.
    pub(super) fn log_refusal(&self) {
        let (kind, shard) = (&*self.kind, self.shard);
        match &self.what {
            ShardNews::Refused { epoch, seen, is_far_ahead: true } => tracing::error!(
                kind,
                shard,
                %epoch,
                %seen,
                "the store refuses the shard: it has seen an epoch more than ten years in the future, which is not followed. The shard handles nothing \
                 until the epoch that the store keeps for it is deleted or lowered; check the clocks of all nodes that write to that store"
            ),
            ShardNews::Refused { epoch, seen, is_far_ahead: false } => tracing::warn!(
                kind,
                shard,
                %epoch,
                %seen,
                "the store refuses the shard: it has seen a higher epoch. The coordinator is asked for one above it"
            ),
            _ => {}
        }
    }
}

/// Moves of one type's shards to and from one node, as it saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShardMoves {
    /// How many came.
    pub came: u64,
    /// How many went.
    pub went: u64,
    /// How many, to or from there, did not take place.
    pub called_off: u64,
    /// How long the last one took that came or went.
    pub last: Option<Duration>,
    /// How long the longest took.
    pub longest: Option<Duration>,
}

/// A move that is under way.
struct Move {
    from: Uid,
    to: Uid,
    began: Instant,
}

/// Makes of a machine's events what users see.
#[derive(Default)]
pub(super) struct Chronicle {
    /// Since when each shard has been at its owner, as this node saw it.
    since: BTreeMap<ShardId, (Epoch, Instant)>,
    moving: BTreeMap<ShardId, Move>,
    /// By type.
    moves: BTreeMap<Arc<str>, ShardMoves>,
    suspended: Option<Instant>,
    losses: StateLosses,
}

impl Chronicle {
    pub(super) fn tell(&mut self, event: Event, table: &Table, me: Uid) -> Option<ShardEvent> {
        let now = Instant::now();
        let kind = table.kind(shard_of(&event).kind)?.kind().name.clone();
        let (shard, what) = match event {
            Event::Allocated { shard, owner, epoch } => {
                self.since.insert(shard, (epoch, now));
                self.moving.remove(&shard);
                (shard, ShardNews::Allocated { owner, epoch })
            }
            Event::Moving { shard, from, to, .. } => {
                self.moving.insert(shard, Move { from, to, began: now });
                (shard, ShardNews::Moving { from, to })
            }
            Event::Moved { shard, owner, epoch } => {
                self.since.insert(shard, (epoch, now));
                let was = self.moving.remove(&shard);
                let took = was.as_ref().map(|was| now - was.began);
                self.count(&kind, owner == me, was.is_some_and(|was| was.from == me), took);
                (shard, ShardNews::Moved { owner, epoch, took })
            }
            Event::CalledOff { shard, .. } => {
                let was = self.moving.remove(&shard);
                let after = was.as_ref().map(|was| now - was.began);
                if was.is_some_and(|was| was.from == me || was.to == me) {
                    self.moves.entry(kind.clone()).or_default().called_off += 1;
                }
                (shard, ShardNews::CalledOff { after })
            }
            Event::Raised { shard, owner, epoch } => {
                self.since.insert(shard, (epoch, now));
                self.moving.remove(&shard);
                (shard, ShardNews::Raised { owner, epoch })
            }
            Event::Refused { shard, epoch, seen, is_far_ahead } => {
                (shard, ShardNews::Refused { epoch, seen, is_far_ahead })
            }
            Event::Hosted { shard, moved, .. } => (shard, ShardNews::Hosted { moved }),
            Event::Dropped { shard, why, .. } => (shard, ShardNews::Dropped { why }),
        };
        Some(ShardEvent { kind, shard: shard.number, what })
    }

    fn count(&mut self, kind: &Arc<str>, came: bool, went: bool, took: Option<Duration>) {
        if !came && !went {
            return;
        }
        let moves = self.moves.entry(kind.clone()).or_default();
        moves.came += u64::from(came);
        moves.went += u64::from(went);
        if let Some(took) = took {
            moves.last = Some(took);
            moves.longest = moves.longest.max(Some(took));
            super::metrics::moved(kind, came, took);
        }
    }

    /// What has moved of that type, to and from this node.
    pub(super) fn moves(&self, kind: &str) -> ShardMoves {
        self.moves.get(kind).copied().unwrap_or_default()
    }

    /// All that the node dropped by giving up.
    pub(super) fn losses(&self) -> StateLosses {
        self.losses
    }

    /// State was dropped that did not move away.
    pub(super) fn lose_unmoved(&mut self, shards: usize, entities: usize) {
        self.losses.add_unmoved(shards, entities);
    }

    /// The node gave up, and dropped that.
    pub(super) fn lose(&mut self, loss: &StateLoss) {
        self.losses.add(loss);
    }

    /// The lease is over, or there is one again.
    pub(super) fn lease(&mut self, may_run: bool) -> Option<ShardEvent> {
        let what = match (may_run, self.suspended) {
            (false, None) => {
                self.suspended = Some(Instant::now());
                ShardNews::Suspended
            }
            (true, Some(since)) => {
                self.suspended = None;
                ShardNews::Resumed { after: since.elapsed() }
            }
            (false, Some(_)) | (true, None) => return None,
        };
        Some(ShardEvent { kind: "".into(), shard: 0, what })
    }

    /// For how long that shard has been owned at that epoch, as far as this node saw it.
    pub(super) fn since(&self, shard: ShardId, epoch: Epoch) -> Option<Duration> {
        self.since.get(&shard).filter(|(at, _)| *at == epoch).map(|(_, since)| since.elapsed())
    }
}

fn shard_of(event: &Event) -> ShardId {
    match event {
        Event::Allocated { shard, .. }
        | Event::Moving { shard, .. }
        | Event::Moved { shard, .. }
        | Event::CalledOff { shard, .. }
        | Event::Raised { shard, .. }
        | Event::Refused { shard, .. }
        | Event::Hosted { shard, .. }
        | Event::Dropped { shard, .. } => *shard,
    }
}
