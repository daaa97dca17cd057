//! How a lane attends to messages of another node: a chunk is looked up first, and then each is decoded and has its turn.
//!
//! A message is decoded where it is about to be handled: to keep decoded ones aside costs more than to decode them.

use std::time::Duration;

use borough_actor::remote::{Lost, Message, decode_as, within};
use borough_actor::resident::{self, AskClock, IdView};
use borough_actor::{Actor, DeadLetterReason};

use super::floor::Floor;
use super::hall::{Hall, LOOK_EVERY};
use super::packet::Packet;
use super::parcel::{Came, Parcel, Stowed};
use super::shard::Placed;
use super::turns::Turns;

/// Where a message goes.
#[derive(Clone, Copy)]
pub(super) struct Coming {
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
        let (is_some, has_asks) = (!coming.is_empty(), packet.has_asks());
        let clock = |floor: &Floor<A, T>| has_asks.then(|| AskClock::now((&floor.system).into()));
        let now = clock(&self.floor);
        self.floor.clock = now;
        for (done, found) in coming.drain(..).enumerate() {
            if done % LOOK_EVERY == LOOK_EVERY - 1 {
                // The turns before may have taken long.
                self.floor.clock = clock(&self.floor);
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
            let hash = view(&came).map_or(0, |id| self.floor.hash_of(id));
            let slot = home(came.shard).and_then(|home| home.table.candidate(hash));
            found.push(Coming { hash, slot });
        }
        for (came, found) in packet.messages().zip(found) {
            let is_it = |slot: &u32| {
                home(came.shard).zip(view(&came)).is_some_and(|(home, id)| home.table.is(*slot, id))
            };
            found.slot = found.slot.filter(is_it);
        }
    }

    #[inline]
    fn run_next(&mut self, packet: &mut Packet, found: Coming, now: Option<AskClock>) {
        let Some((came, carrier)) = packet.next() else { return };
        let mut message = None;
        within(carrier, || decode(&came, &self.floor, &mut message));
        let uid = || Some(carrier.uid());
        let Some(message) = message else { return };
        let Came { shard, tag, .. } = came;
        let ask = came.ask.map(|(_, left)| {
            let now = now.unwrap_or_else(|| AskClock::now((&self.floor.system).into()));
            now.ask_from_abroad(waits(left), uid())
        });
        let id = || view(&came).map(IdView::to_id).unwrap_or_default();
        let index = self.index(shard);
        if let Some(Some(shard)) = self.shards.get_mut(index)
            && shard.open == tag
            && let Some(home) = &mut shard.home
        {
            let slot = found.slot.unwrap_or_else(|| self.floor.slot_of(home, found.hash, id()));
            if Floor::is_overfull(home, slot) {
                return self.floor.around.refuse(&id(), message, ask);
            }
            return self.floor.message(home, slot, message, ask);
        }
        self.place(Placed::Message(Stowed::new(Parcel { shard, tag, id: id(), message }, ask)));
    }
}

/// The id of whom it is for. Whoever read it from the network has seen to it that it is one.
#[inline]
fn view<'a>(came: &Came<'a>) -> Option<IdView<'a>> {
    IdView::new(came.id).ok()
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
