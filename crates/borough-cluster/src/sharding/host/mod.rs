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

mod alarms;
mod apart;
mod busy;
mod comings;
mod endings;
mod fault;
mod fencing;
mod floor;
mod hall;
mod index;
mod inlet;
mod lane;
mod late;
mod listing;
mod obeying;
mod order;
mod pace;
mod packet;
mod parcel;
mod policy;
mod polling;
mod probe;
mod settings;
mod shard;
mod slowest;
mod spread;
mod surroundings;
mod sweep;
mod table;
mod transfer;
mod turns;
mod unpacking;
mod waiting;
mod waking;

use std::sync::Arc;

use borough_actor::Actor;
use borough_actor::remote::Message;
use borough_actor::resident::{self, Station};

pub(crate) use self::apart::PolledApart;
use self::floor::Floor;
use self::hall::Hall;
pub(crate) use self::inlet::LaneInlet;
pub(crate) use self::lane::Lane;
use self::lane::Shared;
pub(crate) use self::order::{Depth, LaneReport, LaneStats, Order, Woken};
pub(crate) use self::parcel::{Barrier, Came, Parcel};
pub use self::policy::{Passivation, Policy};
pub(crate) use self::probe::Probe;
pub(crate) use self::settings::{Make, Migration, Settings};
pub(crate) use self::slowest::SLOWEST;
pub(crate) use self::spread::Spread;
pub use self::spread::TurnTimes;
pub(crate) use self::surroundings::{Fencing, Forwarded, Sight, Surroundings};

/// How many lanes there are for each worker of the runtime: a few, so that one that is held up leaves others.
const LANES_PER_WORKER: u32 = 2;

/// Starts the lanes of a type, on the runtime of its system. Shard `n` lives in lane `n % lanes`.
#[expect(clippy::needless_pass_by_value, reason = "each lane keeps one")]
pub(crate) fn start<A: Actor>(
    settings: Settings<A>,
    surroundings: Arc<dyn Surroundings<A::Msg>>,
) -> Box<[Lane<A::Msg>]>
where
    A::Msg: Message,
{
    let (system, shards) = (surroundings.system().clone(), surroundings.shards().max(1));
    let runtime = resident::runtime(&system);
    let workers = u32::try_from(runtime.metrics().num_workers()).unwrap_or(u32::MAX);
    let lanes = workers.saturating_mul(LANES_PER_WORKER).min(shards);
    let settings = Arc::new(settings);
    (0..lanes)
        .map(|number| {
            let shared = Arc::new(Shared::new(surroundings.crowd()));
            let label = format!("/{}#{number}", surroundings.kind());
            match Station::new(&system, &label) {
                Ok(station) => {
                    let (settings, around) = (settings.clone(), surroundings.clone());
                    let floor = Floor::new(settings, around, shared.clone(), station, turns::turns::<A>());
                    let mut hall = Hall::new(floor, shared.clone(), lanes);
                    let (end, guard) = (End(shared.clone()), surroundings.guard());
                    drop(runtime.spawn(async move {
                        // Dropped before the lane: nobody takes a lane that its runtime dropped for one that ended in order.
                        let guard = guard;
                        std::future::poll_fn(|cx| hall.poll(cx)).await;
                        if let Some(guard) = guard {
                            guard.done();
                        }
                        drop(end);
                    }));
                }
                // The system shuts down: nothing is let in.
                Err(_) => drop(shared.mailbox.close()),
            }
            Lane(shared)
        })
        .collect()
}

/// Dropped with the task of a lane, however that ends: whoever sends there learns that nobody takes it.
struct End<M>(Arc<Shared<M>>);

impl<M> Drop for End<M> {
    fn drop(&mut self) {
        drop(self.0.mailbox.close());
        self.0.drop_orders();
    }
}

#[cfg(test)]
mod tests;
