//! Hosting entities: lanes, each a task that hosts many shards of one type.
//!
//! ```text
//! Lane::send ----> Mailbox<Item> ---> Hall (hall.rs)   the lane's task: orders first, then messages in chunks
//! LaneInlet (of a peer) --^             Shard (shard.rs)   stance: run, behind the cut, installed, forward, wait, refuse
//! Lane::order ---> orders               Table (table.rs)   id -> slot, through an index of its own
//!                                         Floor (floor.rs)   the turn: entity and context go in and come back; parked if it awaits
//! ```
//! Promise: an entity handles one message at a time, in the order they were accepted. No turn runs while the lease does not hold. A shard that
//! is frozen changes nothing any more until it resumes; what a move carries is all there was at the cut.

mod crowd;
mod inlet;
mod lane;
mod order;
mod parcel;
mod policy;
mod settings;
mod surroundings;

use std::sync::Arc;

use borough_actor::Actor;
use borough_actor::remote::Message;

pub(crate) use self::inlet::LaneInlet;
pub(crate) use self::lane::Lane;
use self::lane::Shared;
pub(crate) use self::order::{LaneReport, LaneStats, Order};
pub(crate) use self::parcel::{Barrier, Came, Parcel};
pub use self::policy::{Passivation, Policy};
pub(crate) use self::settings::{Make, Migration, Settings};
pub(crate) use self::surroundings::{Fencing, Forwarded, Surroundings};

/// Starts the lanes of a type, on the runtime of its system. Shard `n` lives in lane `n % lanes`.
pub(crate) fn start<A: Actor>(
    settings: Settings<A>,
    surroundings: Arc<dyn Surroundings<A::Msg>>,
) -> Box<[Lane<A::Msg>]>
where
    A::Msg: Message,
{
    let _ = (settings, surroundings);
    [Lane(Arc::new(Shared::new()))].into()
}
