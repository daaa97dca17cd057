//! Crowded entities of other nodes: what hosts and senders tell each other, and the line that senders stand in here.
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

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use borough_actor::remote::{Carrier, Head, Message};
use borough_actor::resident::Queued;
use borough_actor::{EntityId, Tell, TellError};

use super::crowd::Admitted;
use super::hold::Held;
use super::kind::KindCore;
use super::wire;

/// How many messages of a node's line go on at once, if nothing speaks against more.
pub(super) const ROOM: u32 = 512;

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
    /// Has a message wait until its entity on another node has room; gives it back if it has.
    #[cold]
    pub(super) fn stand_in_line(&self, shard: u32, letter: Held<M>) -> Result<Tell<M>, Held<M>> {
        let Some(core) = self.me.upgrade() else {
            return Ok(Tell::refused(TellError::Stopped(letter.message)));
        };
        let id = letter.id.clone();
        let ticket = self.abroad.join(shard, &id, letter, Waker::noop())?;
        Ok(Tell::waiting(Box::pin(Line { core, place: Place::Waits(ticket) })))
    }

    /// A node says something of an entity.
    pub(super) fn hear(&self, from: &Arc<dyn Carrier>, word: &Crowding) {
        let Crowding { shard, id, what } = word;
        match what {
            What::Crowded => {
                if self.leads_to(*shard, from.uid()) {
                    self.abroad.begin(*shard, id);
                }
                // The way may have changed in between, and all that stood in line gone on before.
                if !self.leads_to(*shard, from.uid()) {
                    self.abroad.admit(*shard, id, usize::MAX);
                }
            }
            What::Room(room) => {
                let room = usize::try_from(*room).unwrap_or(usize::MAX);
                if self.abroad.admit(*shard, id, room).is_crowded {
                    self.say_of(from, *shard, id, What::InLine);
                }
            }
            // Its host answers it: see the inlet.
            What::InLine => {}
        }
    }

    /// Tells another node something of an entity.
    pub(super) fn say_of(&self, to: &Arc<dyn Carrier>, shard: u32, id: &EntityId, what: What) {
        let word = Crowding { shard, id: id.clone(), what };
        self.forwards.send(to, Head { target: self.target, ask: None }, wire::put_crowding(&word));
    }

    /// Tells nodes that were warned of an entity that it has room.
    pub(super) fn say_room(&self, shard: u32, id: &EntityId, admitted: &Admitted) {
        let room = u32::try_from(admitted.room).unwrap_or(u32::MAX).min(ROOM);
        for way in &admitted.warned {
            self.say_of(way, shard, id, What::Room(room));
        }
    }

    /// The ways of these shards lead elsewhere: what stands in line goes on.
    pub(super) fn disperse(&self, is_one: impl Fn(u32) -> bool) {
        for (shard, id) in self.abroad.all() {
            if is_one(shard) {
                self.abroad.admit(shard, &id, usize::MAX);
            }
        }
    }

    /// Asks the hosts of crowded entities again: a word may have been lost.
    pub(super) fn ask_for_room(&self) {
        for (shard, id) in self.abroad.all() {
            match self.way_there(shard) {
                Some(host) => self.say_of(&host, shard, &id, What::InLine),
                None => drop(self.abroad.admit(shard, &id, usize::MAX)),
            }
        }
    }
}

/// A sender that stands in line for an entity of another node.
struct Line<M: Message> {
    core: Arc<KindCore<M>>,
    place: Place<M>,
}

enum Place<M> {
    Waits(u64),
    Goes(Tell<M>),
    Left,
}

impl<M: Message> Line<M> {
    /// Takes the message back; false if it was let in before.
    fn leave(&mut self) -> bool {
        match std::mem::replace(&mut self.place, Place::Left) {
            Place::Waits(ticket) => self.core.abroad.withdraw(ticket).is_some(),
            Place::Goes(tell) => tell.withdraw(),
            Place::Left => false,
        }
    }
}

impl<M: Message> Future for Line<M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.place {
                Place::Waits(ticket) => {
                    let Poll::Ready(letter) = this.core.abroad.poll(*ticket, cx.waker()) else {
                        return Poll::Pending;
                    };
                    // Not into another line: it has waited long enough.
                    this.place =
                        letter.map_or(Place::Left, |letter| Place::Goes(this.core.dispatch(letter, false)));
                }
                Place::Goes(tell) => return Pin::new(tell).poll(cx),
                Place::Left => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<M: Message> Queued<M> for Line<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> bool {
        self.leave()
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Line<M> {}

impl<M: Message> Drop for Line<M> {
    fn drop(&mut self) {
        self.leave();
    }
}
