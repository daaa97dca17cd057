//! How a lane attends to messages of another node: a chunk is looked up first, and then each is decoded and has its turn.
//!
//! A message is decoded where it is about to be handled: to keep decoded ones aside costs more than to decode them.

use std::time::Duration;

use borough_actor::remote::{Lost, Message, decode_as, within};
use borough_actor::resident::{self, AskClock};
use borough_actor::{Actor, DeadLetterReason, EntityId};

use super::floor::Floor;
use super::hall::{Hall, LOOK_EVERY};
use super::packet::Packet;
use super::parcel::{Came, Parcel, Stowed};
use super::shard::Placed;
use super::turns::Turns;

/// Where a message goes.
pub(super) struct Coming {
    id: EntityId,
    hash: u64,
    /// Its entity's slot, if that was easy to find.
    slot: Option<u32>,
}

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    /// Attends to the next few messages of the packet that was begun with.
    pub(super) fn run_packet(&mut self) {
        let Some(mut packet) = self.packet.take() else { return };
        let mut coming = std::mem::take(&mut self.coming);
        self.look_up_coming(&packet, &mut coming);
        let is_some = !coming.is_empty();
        let now = AskClock::now((&self.floor.system).into());
        self.floor.clock = Some(now);
        for (done, found) in coming.drain(..).enumerate() {
            if done % LOOK_EVERY == LOOK_EVERY - 1 {
                // The turns before may have taken long.
                self.floor.clock = Some(AskClock::now((&self.floor.system).into()));
            }
            self.run_next(&mut packet, found, now);
        }
        self.floor.clock = None;
        self.coming = coming;
        if is_some && packet.len() > 0 {
            self.packet = Some(packet);
        }
    }

    /// First where in the index, so that the slots of all are on their way before the first is looked at.
    fn look_up_coming(&self, packet: &Packet, found: &mut Vec<Coming>) {
        let home = |shard| self.home(self.index(shard));
        for came in packet.messages().take(self.chunk) {
            // Whoever read it from the network has seen to it that it is an id.
            let id = EntityId::new(came.id).unwrap_or_default();
            let hash = self.floor.hash(&id);
            let slot = home(came.shard).and_then(|home| home.table.candidate(hash));
            found.push(Coming { id, hash, slot });
        }
        for (came, found) in packet.messages().zip(found) {
            let is_it = |slot: &u32| home(came.shard).is_some_and(|home| home.table.is(*slot, &found.id));
            found.slot = found.slot.filter(is_it);
        }
    }

    #[inline]
    fn run_next(&mut self, packet: &mut Packet, found: Coming, now: AskClock) {
        let mut message = None;
        let head = packet.next(|came, carrier| {
            within(carrier, || decode(came, &self.floor, &mut message));
            (came.shard, came.tag, came.ask.map(|(_, left)| now.ask_from_abroad(waits(left))))
        });
        let (Some((shard, tag, ask)), Some(message)) = (head, message) else { return };
        let Coming { id, hash, slot } = found;
        let index = self.index(shard);
        if let Some(Some(shard)) = self.shards.get_mut(index)
            && shard.open == tag
            && let Some(home) = &mut shard.home
        {
            let slot = slot.unwrap_or_else(|| self.floor.slot_of(home, hash, id));
            if Floor::is_overfull(home, slot) {
                let id = home.table.peek(slot).id.clone();
                return self.floor.around.refuse(&id, message, ask);
            }
            return self.floor.message(home, slot, message, ask);
        }
        self.place(Placed::Message(Stowed::new(Parcel { shard, tag, id, message }, ask)));
    }
}

/// Leaves the message in the empty `place`, which stays empty if it cannot be read; whoever asked is told then.
#[inline]
fn decode<A: Actor, T: Turns<A>>(came: &Came<'_>, floor: &Floor<A, T>, place: &mut Option<A::Msg>)
where
    A::Msg: Message,
{
    decode_as(came.codec);
    // What is wrong with it is of no more interest: nothing is in place then.
    let _ = resident::decoding(|| came.codec.decode_into(came.body, place).is_ok());
    if place.is_none() {
        unreadable(came, floor);
    }
}

#[cold]
fn unreadable<A: Actor, T: Turns<A>>(came: &Came<'_>, floor: &Floor<A, T>) {
    floor.around.dropped(DeadLetterReason::Unreadable);
    floor.station.record(|| format!("/{}", floor.around.kind()), DeadLetterReason::Unreadable);
    if let Some((ask, _)) = came.ask {
        borough_actor::remote::current_passage(|carrier| carrier.lose(ask, Lost::Discarded));
    }
}

/// For how long the asker waits.
fn waits(left: Option<u32>) -> Duration {
    left.map_or(Duration::MAX, |left| Duration::from_millis(left.into()))
}
