//! What lanes need of the node around them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::Waker;
use std::time::Duration;

use borough_actor::remote::Carrier;
use borough_actor::resident::{AskId, House};
use borough_actor::{DeadLetterReason, EntityId, Fault, SystemHandle};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::version::Version;
use borough_wire::codec::CodecId;

use super::apart::PolledApart;
use super::order::LaneReport;
use super::parcel::Barrier;
use crate::sharding::TaskGuard;
use crate::sharding::crowd::{Admitted, Crowd};
use crate::sharding::hindrance::Hindrance;
use crate::sharding::hold::Held;

/// What this node's table says. A lane is given one once all that follows from that table was ordered.
pub(crate) trait Sight: fmt::Debug + Send + Sync {
    /// The highest epoch of that shard that is known to be handed out.
    fn issued(&self, shard: u32) -> Epoch;

    /// Whether that shard comes here, or has come, by the move of that epoch, or may: the table does not know of it yet.
    fn may_come(&self, shard: u32, epoch: Epoch) -> bool;

    /// The version of the table.
    fn version(&self) -> Version;

    /// Whether that node is a member by it.
    fn is_member(&self, uid: Uid) -> bool;
}

/// What is seen before the first table.
#[derive(Debug)]
pub(super) struct Nothing;

impl Sight for Nothing {
    fn issued(&self, _: u32) -> Epoch {
        Epoch::ZERO
    }

    fn may_come(&self, _: u32, _: Epoch) -> bool {
        true
    }

    fn version(&self) -> Version {
        Version::ZERO
    }

    fn is_member(&self, _: Uid) -> bool {
        false
    }
}

/// Something that comes when the store is fenced.
pub(crate) type Fencing = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>;

/// What lanes need of the node around them. Nothing here waits.
pub(crate) trait Surroundings<M>: House<M> {
    /// The system that entities belong to.
    fn system(&self) -> &SystemHandle;

    /// The number by which ids of this type are [hashed](borough_actor::resident::hash).
    fn seed(&self) -> u64;

    /// How many shards the type has.
    fn shards(&self) -> u32;

    /// How its messages and states are encoded.
    fn codec(&self) -> CodecId;

    /// Whether turns may run now: the lease.
    fn may_run(&self) -> bool;

    /// Set while no turn is to begin: looked at before each, where to ask whether it may would take too long.
    fn halt(&self) -> Arc<AtomicBool>;

    /// Rises when a lease is had again after none was for longer than `max_pause`.
    fn lapses(&self) -> Arc<AtomicU64> {
        Arc::default()
    }

    /// Whether the last lease has been over for longer than `max_pause`.
    fn is_overdue(&self) -> bool {
        false
    }

    /// A handler of that entity ran on for longer than `max_pause` after the lease was over; `is_new` if that is to be counted.
    fn outlasted(&self, _id: &EntityId, _is_new: bool) {}

    /// Where turns in tasks of their own are noted while user code runs in them.
    fn polled_apart(&self) -> &PolledApart;

    /// What a lane keeps, to say that it ended although nobody told it to.
    fn guard(&self) -> Option<TaskGuard> {
        None
    }

    /// Wakes the task when they may again.
    fn resumed(&self, waker: &Waker);

    /// The lane has something to say.
    fn report(&self, report: LaneReport);

    /// Why that shard cannot move, for the callers of `leave` and `drain` that wait for it.
    fn hinders(&self, _shard: u32, _why: Hindrance) {}

    /// Nothing keeps that shard from moving any more.
    fn unhindered(&self, _shard: u32) {}

    /// The state of so many entities of that shard was dropped; of `entity`, if it is one whose turn was ended by force.
    fn lost(&self, _shard: u32, _entities: usize, _entity: Option<&EntityId>) {}

    /// Sends something on, in order with everything else for that node; encoded at once, and never waits.
    fn forward(&self, to: Uid, shard: u32, tag: Epoch, what: Forwarded<M>);

    /// Sends a shard that moves, in order with everything else for that node.
    fn transfer(&self, to: Uid, shard: u32, epoch: Epoch, parts: Vec<Vec<u8>>);

    /// Whether so much is on its way to that node that a shard for it waits.
    fn is_busy(&self, to: Uid) -> bool;

    /// Whether nothing waits to be sent on, to whomever.
    fn is_settled(&self) -> bool;

    /// The way to that node; `None` if it is no member.
    fn carrier(&self, to: Uid) -> Option<Arc<dyn Carrier>>;

    /// Refuses a message that nobody here will handle, so that whoever asked learns it, and counts it.
    fn refuse(&self, id: &EntityId, message: M, ask: Option<AskId>);

    /// Who stands in line for entities of the type.
    fn crowd(&self) -> Arc<Crowd<Held<M>>>;

    /// An entity has room again: nodes that were told that it is crowded learn it.
    fn say_room(&self, shard: u32, id: &EntityId, admitted: &Admitted);

    /// A message of an entity is a dead letter, and counted as one for that reason.
    fn dropped(&self, _: DeadLetterReason) {}

    /// Something of this node is ending; it waits for that until what is given is dropped.
    fn ending(&self) -> Box<dyn Send>;

    /// Begins to fence the store before the first turn of a shard; `None` if there is nothing to fence.
    fn fence(&self, shard: u32, epoch: Epoch) -> Option<Fencing>;
}

/// What is sent on to the node that has the shard now.
pub(crate) enum Forwarded<M> {
    /// A message.
    Message {
        /// To whom.
        id: EntityId,
        /// What.
        message: M,
        /// If it is an ask of another node, how long its asker still waits.
        left: Option<Duration>,
    },
    /// A barrier; its tag and shard are those it is forwarded by.
    Barrier(Barrier),
}
