//! A sender that stands in line for an entity that has as many messages waiting as it may, here or on another node.
//!
//! Promise: it has gone no way yet. Once its entity has room, or lives elsewhere, it goes the way that there is then, so nothing that its sender sends later
//! can overtake it, wherever the shard has moved meanwhile.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use borough_actor::remote::Message;
use borough_actor::resident::{self, Queued, Room};
use borough_actor::{NoRoom, Tell, TellError};

use super::hold::Held;
use super::kind::KindCore;

impl<M: Message> KindCore<M> {
    /// Has a message wait until its entity has room; gives it back if it has.
    #[cold]
    pub(super) fn stand_in_line(&self, shard: u32, letter: Held<M>) -> Result<Tell<M>, Held<M>> {
        let Some(core) = self.me.upgrade() else {
            return Ok(Tell::refused(TellError::Stopped(letter.message)));
        };
        let id = letter.id.clone();
        let system = self.sharding.hub().system_handle();
        if resident::is_turn_of(system.into(), self.actor_id(&id)) {
            return Ok(self.send_to_itself(shard, letter));
        }
        let ticket = self.crowd.join(shard, &id, letter, Waker::noop())?;
        // It has its place from now on, not from when it is first awaited.
        Ok(Tell::waiting(Box::pin(Line { core, place: Place::Waits(ticket) })))
    }

    /// In a turn of the entity itself, which would wait for its own end.
    fn send_to_itself(&self, shard: u32, letter: Held<M>) -> Tell<M> {
        if self.crowd.take_own(shard, &letter.id) {
            return self.dispatch(letter, false);
        }
        let why = NoRoom::of_itself(self.path_of(&letter.id));
        Tell::refused(TellError::NoRoom(letter.message, why))
    }

    /// The ways of these shards lead elsewhere: what stands in line for their entities goes on.
    pub(super) fn disperse(&self, shards: &[u32]) {
        for (shard, id) in self.crowd.all() {
            if shards.contains(&shard) {
                self.crowd.admit(shard, &id, usize::MAX);
            }
        }
    }
}

/// See the module.
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
    /// Takes the message back; none if it was let in before.
    fn leave(&mut self) -> Option<M> {
        match std::mem::replace(&mut self.place, Place::Left) {
            Place::Waits(ticket) => self.core.crowd.withdraw(ticket).map(|letter| letter.message),
            Place::Goes(tell) => tell.reclaim(),
            Place::Left => None,
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
                    let Poll::Ready(letter) = this.core.crowd.poll(*ticket, cx.waker()) else {
                        return Poll::Pending;
                    };
                    // Not into another line: it has waited long enough.
                    this.place =
                        letter.map_or(Place::Left, |letter| Place::Goes(this.core.dispatch(letter, false)));
                }
                Place::Goes(tell) => {
                    let polled = Pin::new(tell).poll(cx);
                    if polled.is_ready() {
                        this.place = Place::Left;
                    }
                    return polled;
                }
                Place::Left => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<M: Message> Queued<M> for Line<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> Option<M> {
        self.leave()
    }

    fn room(&self) -> Option<Room> {
        let Place::Waits(ticket) = self.place else { return None };
        let core = self.core.clone();
        let id = core.crowd.awaited(ticket)?;
        let room = Room::of(core.sharding.hub().system_handle().into(), core.path_of(&id));
        if !core.is_here(&id) {
            return Some(room);
        }
        Some(room.of_actor(core.actor_id(&id), move || core.crowd.awaited(ticket).is_some()))
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Line<M> {}

impl<M: Message> Drop for Line<M> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}
