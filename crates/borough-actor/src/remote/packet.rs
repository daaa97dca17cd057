//! Messages of another node in an actor's mailbox, as they came: the actor decodes each in its own turn.
//!
//! So the one who reads from the network does not, and the many messages of a packet move as one. Promise: each of them is
//! decoded once, in order, or counted as a dead letter; an ask among those is failed at once. One that cannot be decoded harms no
//! other.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use borough_wire::codec::CodecId;
use borough_wire::frame::{Plain, Run};

use super::carrier::Carrier;
use super::message::Message;
use super::passage;
use crate::ask::{AskId, AskTable, Lost, discarding};
use crate::cell::ActorCell;
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::item::Item;

/// How many messages move as one at most, and how many a run for an [`Inlet`](super::Inlet) should have: a batch of a quick actor.
pub const RUN_MESSAGES: usize = 256;
/// How many bytes they should have, unless one alone has more: they stay in cache until they are decoded.
pub const RUN_BYTES: usize = 64 * 1024;

/// See the module.
pub(crate) struct Packet<M> {
    /// Frames of plain messages, one after the other.
    bytes: Vec<u8>,
    /// Where the next one begins.
    at: usize,
    /// How many there still are.
    count: usize,
    /// When they came, by the clock of the ask table: from then on their askers' time counts.
    arrived: u32,
    /// The way from the node they came from.
    carrier: Arc<dyn Carrier>,
    decode: Decode<M>,
}

/// Decodes a body and leaves the message in the empty place, which stays empty if that cannot be done.
type Decode<M> = fn(&Arc<dyn Carrier>, CodecId, &[u8], &mut Option<M>);

impl<M: Message> Packet<M> {
    /// A packet of messages that came by `carrier` just now.
    pub(super) fn new(run: &Run<'_>, arrived: u32, carrier: Arc<dyn Carrier>) -> Self {
        Self {
            bytes: run.bytes().to_vec(),
            at: 0,
            count: run.len(),
            arrived,
            carrier,
            decode: decode_from::<M>,
        }
    }
}

impl<M> Packet<M> {
    /// How many messages it has.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Appends messages that came with those it has, if there is room.
    pub(super) fn append(&mut self, run: &Run<'_>) -> bool {
        let fits =
            self.count + run.len() <= RUN_MESSAGES && self.bytes.len() + run.bytes().len() <= RUN_BYTES;
        if fits {
            self.bytes.extend_from_slice(run.bytes());
            self.count += run.len();
        }
        fits
    }

    /// Takes the first `count` messages off, as a packet of their own.
    pub(crate) fn cut(&mut self, count: usize) -> Self {
        let count = count.min(self.count);
        let mut rest = &self.bytes[self.at..];
        for _ in 0..count {
            // Without another message the packet ends, whatever it said.
            rest = Plain::first(rest).map_or(&[], |(_, rest)| rest);
        }
        let end = self.bytes.len() - rest.len();
        let bytes = self.bytes[self.at..end].to_vec();
        self.at = end;
        self.count -= count;
        Self {
            bytes,
            at: 0,
            count,
            arrived: self.arrived,
            carrier: self.carrier.clone(),
            decode: self.decode,
        }
    }

    /// As which a message is asked, if it is.
    #[inline]
    fn ask_of(&self, plain: &Plain<'_>) -> Option<AskId> {
        let uid = || Some(self.carrier.uid());
        plain.ask.map(|(_, left)| AskTable::name_abroad(self.arrived, time_left(left), uid()))
    }

    /// Leaves the next message to handle in the empty `place`; gives the ask it carries. Those whose asker has given up, and those that
    /// cannot be decoded, are counted and passed over.
    #[inline]
    pub(crate) fn next(&mut self, cell: &ActorCell<M>, place: &mut Option<M>) -> Option<AskId>
    where
        M: Send + 'static,
    {
        while self.count > 0 {
            let Some((plain, rest)) = Plain::first(&self.bytes[self.at..]) else {
                self.count = 0;
                break;
            };
            self.count -= 1;
            self.at = self.bytes.len() - rest.len();
            let ask = self.ask_of(&plain);
            if ask.is_some_and(|ask| cell.core.asks.is_given_up(ask)) {
                cell.record_dead_letter(DeadLetterReason::AskerGone);
                if let Some((ask, _)) = plain.ask {
                    self.carrier.lose(ask, Lost::Overdue);
                }
                continue;
            }
            (self.decode)(&self.carrier, plain.codec, plain.body, place);
            if place.is_some() {
                return ask;
            }
            unreadable(&self.carrier, cell, &plain);
        }
        None
    }

    /// No handler will see what is left: each is counted, and whoever waits for an answer to it, or to something in it, learns so.
    pub(crate) fn bury(self, cell: &ActorCell<M>, reason: DeadLetterReason)
    where
        M: Send + 'static,
    {
        let mut rest = &self.bytes[self.at..];
        while let Some((plain, after)) = Plain::first(rest) {
            rest = after;
            let mut message = None;
            (self.decode)(&self.carrier, plain.codec, plain.body, &mut message);
            match message {
                Some(message) => cell.bury(Item::new(message, self.ask_of(&plain)), reason),
                None => unreadable(&self.carrier, cell, &plain),
            }
        }
    }
}

/// How long the asker still waits.
pub(super) fn time_left(deadline: Option<u32>) -> Duration {
    deadline.map_or(Duration::MAX, |ms| Duration::from_millis(ms.into()))
}

#[cold]
fn unreadable<M: Send + 'static>(carrier: &Arc<dyn Carrier>, cell: &ActorCell<M>, plain: &Plain<'_>) {
    cell.record_dead_letter(DeadLetterReason::Unreadable);
    if let Some((ask, _)) = plain.ask {
        carrier.lose(ask, Lost::Discarded);
    }
}

/// Runs the user's code: a panic in it is no reason to lose what others sent.
fn decode_from<M: Message>(carrier: &Arc<dyn Carrier>, codec: CodecId, body: &[u8], place: &mut Option<M>) {
    passage::within(carrier, || {
        passage::decode_as(codec);
        // What is wrong with it is of no more interest: nothing is in place then.
        let _ = Fault::catch(|| discarding(|| codec.decode_into(body, place).is_ok()));
    });
}

impl<M> fmt::Debug for Packet<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} from {})", self.count, self.carrier.address())
    }
}
