//! Crowded entities of other nodes: what hosts and senders tell each other.
//!
//! ```text
//! sender's node                              host
//!   messages ----------------------------->    1024 wait for the entity
//!   its senders stand in line <--- crowded -    and another one came
//!   so many go on <------------- room for n -   512 wait
//!   some are left -- in line -------------->    told as soon as there is room again
//!   the way of the shard changes: all go on, by the next way
//! ```
//! Promise: who tells a slow entity of another node is slowed down as its own node's senders are, and nobody else is. What a node had under way by then is
//! taken all the same. A word that is lost costs a second: those in line ask again.

use std::sync::Arc;

use borough_actor::EntityId;
use borough_actor::remote::{Carrier, Message};

use super::kind::KindCore;
use super::routes::Way;
use super::wire;

/// How many messages of a node's line go on at once, if nothing speaks against more.
pub(super) const ROOM: u32 = 512;
/// So many entities of other nodes are known to be crowded at the most: of more, senders do not wait.
const MOST: usize = 65_536;

/// What nodes tell each other of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crowding {
    pub(super) shard: u32,
    pub(super) id: EntityId,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Its host: it has as many waiting as it may.
    Crowded,
    /// Its host: so many may come.
    Room(u32),
    /// A sender's node: messages stand in line here.
    InLine,
}

impl<M: Message> KindCore<M> {
    /// A host says that an entity is crowded.
    pub(super) fn hear_crowded(&self, from: &Arc<dyn Carrier>, shard: u32, id: &EntityId) {
        if !self.leads_to(shard, from.uid()) || self.crowd.len() >= MOST {
            return;
        }
        self.crowd.begin(shard, id);
        // The way may have changed in between, and all that stood in line gone on before.
        if !self.leads_to(shard, from.uid()) {
            self.crowd.admit(shard, id, usize::MAX);
        }
    }

    /// A host says that an entity has room.
    pub(super) fn hear_room(&self, from: &Arc<dyn Carrier>, shard: u32, id: &EntityId, room: u32) {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if self.leads_to(shard, from.uid()) && self.crowd.admit(shard, id, room).is_crowded {
            self.say_of(from, shard, id, What::InLine);
        }
    }

    /// Tells another node something of an entity. It goes with the answers, past messages for actors that are full: who stands in line waits for it.
    pub(super) fn say_of(&self, to: &Arc<dyn Carrier>, shard: u32, id: &EntityId, what: What) {
        to.say(self.head(), &wire::put_crowding(&Crowding { shard, id: id.clone(), what }));
    }

    /// Asks the hosts of crowded entities again: a word may have been lost.
    pub(super) fn ask_for_room(&self) {
        for (shard, id) in self.crowd.all() {
            match &**self.board.read(shard) {
                Way::There { carrier, .. } if !carrier.is_lost() => {
                    self.say_of(carrier, shard, &id, What::InLine);
                }
                // Its lane sees to it.
                Way::Here { .. } => {}
                Way::There { .. } | Way::Held(_) => drop(self.crowd.admit(shard, &id, usize::MAX)),
            }
        }
    }
}
