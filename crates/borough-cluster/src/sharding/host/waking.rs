//! Entities that somebody starts without a message, and who waits for it.

use borough_actor::remote::Message;
use borough_actor::{Actor, EntityId};
use borough_protocol::sharding::Epoch;
use tokio::sync::oneshot;

use super::busy::{Doing, Waits};
use super::floor::{Floor, Home};
use super::hall::Hall;
use super::order::Woken;
use super::shard::Shard;
use super::table::Body;
use super::turns::{Purpose, Turns};

/// Somebody who waits until an entity has begun.
pub(super) struct Waking {
    shard: u32,
    epoch: Epoch,
    id: EntityId,
    say: oneshot::Sender<Woken>,
}

/// How far an entity is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begins,
    Lives,
    /// It rests after a fault.
    Rests,
    Ends,
    Absent,
}

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    fn stage(&self, home: &Home<A, T>, id: &EntityId) -> Stage {
        let Some(slot) = home.table.find(self.hash(id), id) else { return Stage::Absent };
        match &home.table.peek(slot).body {
            Body::Vacant => Stage::Absent,
            Body::Live(_) => Stage::Lives,
            Body::Lent => Stage::Begins,
            Body::Busy(busy) => match &busy.doing {
                Doing::Idle(_) => Stage::Lives,
                Doing::Turn(turning) => match turning.purpose {
                    Purpose::Handle => Stage::Lives,
                    Purpose::Begin => Stage::Begins,
                    Purpose::End(_) => Stage::Ends,
                },
                Doing::Lent => Stage::Begins,
                Doing::Rest => Stage::Rests,
                // Put off until turns may begin.
                Doing::Ended if matches!(busy.queue.front(), Some(Waits::Wake)) => Stage::Begins,
                Doing::Ended => Stage::Ends,
            },
        }
    }
}

impl<A: Actor, T: Turns<A>> Shard<A, T>
where
    A::Msg: Message,
{
    /// Starts an entity; says what came of it once that is known.
    pub(super) fn wake(&mut self, floor: &mut Floor<A, T>, id: EntityId, say: oneshot::Sender<Woken>) {
        let runs = self.open != Epoch::ZERO;
        // Whoever asked may be gone.
        let Some(home) = self.home.as_mut().filter(|home| runs && !home.frozen) else {
            let _ = say.send(Woken::Elsewhere);
            return;
        };
        // One that fails again and again does not live; one that ends begins anew after that.
        let known = match floor.stage(home, &id) {
            Stage::Rests => Some(Woken::Failed),
            Stage::Ends => Some(Woken::Elsewhere),
            Stage::Absent => {
                floor.wake(home, id.clone());
                None
            }
            Stage::Begins | Stage::Lives => None,
        };
        if let Some(woken) = known {
            let _ = say.send(woken);
            return;
        }
        floor.waking.push(Waking { shard: self.number, epoch: home.since, id, say });
    }
}

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    /// Tells those who wait for entities that have begun by now, or will not.
    #[cold]
    pub(super) fn look_at_waking(&mut self) {
        for waking in std::mem::take(&mut self.floor.waking) {
            let home = self.home(self.index(waking.shard)).filter(|home| home.since == waking.epoch);
            let woken = match home.map(|home| self.floor.stage(home, &waking.id)) {
                None => Woken::Elsewhere,
                Some(Stage::Lives) => Woken::Lives,
                Some(Stage::Rests | Stage::Ends | Stage::Absent) => Woken::Failed,
                Some(Stage::Begins) => {
                    if !waking.say.is_closed() {
                        self.floor.waking.push(waking);
                    }
                    continue;
                }
            };
            // Whoever asked may be gone.
            let _ = waking.say.send(woken);
        }
    }
}
