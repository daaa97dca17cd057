//! What has arrived of a lane from a peer: it outlives the connections by which it came.
//!
//! Promise: each byte of a session is taken once, in order. A new connection of the session ends the one before: whoever holds the
//! [`Session`]'s lock with the last admission's ticket is the only reader.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_actor::DeadLetterReason;
use borough_actor::remote::{self, Arrived, Carrier, Inlet, Interruption, Lost, RUN_BYTES, RUN_MESSAGES};
use borough_wire::codec::CodecId;
use borough_wire::frame::{Assembler, Frame, FrameBuffer, Run};

use super::codes;
use super::peer::Link;

/// How much may wait here for actors that are full, before reading stops.
const HELD_BYTES: usize = 1024 * 1024;
const HELD_MESSAGES: usize = 8192;
/// With more inlets than this, those that are empty are let go.
const INLETS_KEPT: usize = 1024;

/// One lane from one peer.
pub(super) struct Session {
    /// Which session it is; a peer that gave one up begins another.
    number: u64,
    /// How many bytes of it were taken, as whole messages.
    position: u64,
    /// Bytes of a message that comes in parts and is not whole yet.
    parts: u64,
    /// Which admission was the last: only its reader may go on.
    ticket: u64,
    assembler: Assembler,
    desk: Desk,
}

/// Where frames are acted upon.
struct Desk {
    link: Arc<Link>,
    carrier: Arc<dyn Carrier>,
    inlets: Inlets,
    /// Watched actors that are gone; said only once nothing waits that they sent before.
    gone: VecDeque<(u64, u8)>,
}

/// A peer broke a rule: the connection is to be closed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);

impl Session {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let carrier: Arc<dyn Carrier> = link.clone();
        let desk = Desk { link, carrier, inlets: Inlets::default(), gone: VecDeque::new() };
        Self { number: 0, position: 0, parts: 0, ticket: 0, assembler: Assembler::new(0), desk }
    }

    /// A connection of session `number` is admitted: gives what has arrived of it, `None` if it is an older one.
    pub(super) fn begin(&mut self, ticket: u64, number: u64, message_max: usize) -> Option<u64> {
        if number < self.number {
            return None;
        }
        if number > self.number {
            self.number = number;
            self.position = 0;
        }
        self.ticket = ticket;
        self.parts = 0;
        self.assembler = Assembler::new(message_max);
        Some(self.position)
    }

    /// No connection of it is read any more.
    pub(super) fn end(&mut self) {
        self.ticket = 0;
        self.number = u64::MAX;
    }

    /// How many bytes have arrived.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Whether that admission was the last.
    pub(super) fn is_of(&self, ticket: u64) -> bool {
        self.ticket == ticket
    }

    /// Takes every whole frame that is in the buffer. What was acted upon is counted, also if a later frame breaks a rule: it must
    /// not come again.
    pub(super) fn take(&mut self, buffer: &mut FrameBuffer) -> Result<(), Broken> {
        let carrier = self.desk.carrier.clone();
        remote::within(&carrier, || {
            loop {
                // Between the chunks of a message a run would be a mistake, and is left for the assembler to find.
                while self.assembler.is_idle()
                    && let Some(run) = buffer.next_run(RUN_MESSAGES, RUN_BYTES)
                {
                    self.desk.deliver_run(&run);
                    self.position += run.bytes().len() as u64;
                }
                let left = buffer.left();
                let Some(frame) = buffer.next().map_err(|error| Broken(error.to_string()))? else {
                    return Ok(());
                };
                if let Some(frame) = self.assembler.take(frame).map_err(|error| Broken(error.to_string()))? {
                    self.desk.act(frame)?;
                }
                self.parts += (left - buffer.left()) as u64;
                if self.assembler.gathered() == 0 {
                    self.position += std::mem::take(&mut self.parts);
                }
            }
        })
    }

    /// Moves on what waits for actors. Ready when so little waits that more may be read.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.desk.poll_flush(cx)
    }
}

impl Desk {
    #[inline]
    fn act(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        match frame {
            Frame::Tell { target, codec, body, .. } => self.deliver(target, None, codec, None, body),
            Frame::Ask { target, ask, codec, deadline, body, .. } => {
                let left = deadline.map_or(Duration::MAX, |ms| Duration::from_millis(ms.into()));
                self.deliver(target, Some(ask), codec, Some(left), body);
            }
            Frame::Answer { ask, codec, body } => remote::answer(self.link.system(), ask, codec, body),
            Frame::Lost { ask, why } => remote::lose(self.link.system(), ask, codes::lost(why)),
            Frame::Interrupt { target, what } => self.interrupt(target, what)?,
            Frame::Watch { target, watch } => self.link.watched_by_peer(target, watch),
            Frame::Unwatch { watch, .. } => self.link.unwatched_by_peer(watch),
            Frame::Terminated { watch, reason } => self.gone.push_back((watch, reason)),
            Frame::LookUp { request, type_name, path } => {
                self.link.look_up_for_peer(request, type_name, path);
            }
            Frame::Found { request, outcome, target, text } => {
                self.link.found(request, outcome, target, text);
            }
            Frame::Chunk { .. } | Frame::Ack { .. } | Frame::Control { .. } => {
                return Err(Broken(format!("a {:?} frame has no place on this lane", frame.kind())));
            }
        }
        Ok(())
    }

    fn deliver_run(&mut self, run: &Run<'_>) {
        let target = run.target();
        let Some(inlet) = self.inlets.of(target, &self.link) else {
            for message in run.messages() {
                self.nobody(target, message.ask.map(|(ask, _)| ask));
            }
            return;
        };
        inlet.take_run(run);
        self.inlets.took(target, run.bytes().len());
    }

    /// A message came for an actor that is gone.
    #[cold]
    fn nobody(&self, target: u64, ask: Option<u64>) {
        let recipient = || format!("number {target}");
        remote::bury(self.link.system(), remote::MESSAGE, recipient, DeadLetterReason::Stopped);
        if let Some(ask) = ask {
            self.carrier.lose(ask, Lost::Discarded);
        }
    }

    fn deliver(
        &mut self,
        target: u64,
        ask: Option<u64>,
        codec: CodecId,
        left: Option<Duration>,
        body: &[u8],
    ) {
        let Some(inlet) = self.inlets.of(target, &self.link) else {
            return self.nobody(target, ask);
        };
        if inlet.take(Arrived { codec, left, body }).is_err()
            && let Some(ask) = ask
        {
            self.carrier.lose(ask, Lost::Discarded);
        }
        self.inlets.took(target, body.len());
    }

    fn interrupt(&mut self, target: u64, what: u8) -> Result<(), Broken> {
        let what =
            codes::interruption(what).ok_or_else(|| Broken(format!("no interruption has number {what}")))?;
        if what == Interruption::StopWhenDrained {
            if let Some(inlet) = self.inlets.of(target, &self.link) {
                inlet.stop_when_drained();
                self.inlets.took(target, 0);
            }
        } else if let Some(export) = self.link.exports().find(target) {
            export.interrupt(what);
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let held = self.inlets.flush(cx);
        if self.inlets.blocked.is_empty() {
            for (watch, reason) in self.gone.drain(..) {
                self.link.terminated(watch, codes::stop_reason(reason));
            }
        }
        if held { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// The ways into the actors that this peer sends to.
#[derive(Default)]
struct Inlets {
    list: Vec<Entry>,
    places: HashMap<u64, usize>,
    /// The one used last: messages come in runs.
    last: Option<(u64, usize)>,
    touched: Vec<usize>,
    blocked: Vec<usize>,
}

struct Entry {
    inlet: Box<dyn Inlet>,
    touched: bool,
    /// Bytes of what was taken and not yet flushed.
    bytes: usize,
}

impl Inlets {
    #[inline]
    fn of(&mut self, target: u64, link: &Link) -> Option<&mut Box<dyn Inlet>> {
        let place = match self.last {
            Some((last, place)) if last == target => place,
            _ => self.find(target, link)?,
        };
        Some(&mut self.list[place].inlet)
    }

    #[cold]
    fn find(&mut self, target: u64, link: &Link) -> Option<usize> {
        let place = if let Some(place) = self.places.get(&target) {
            *place
        } else {
            let inlet = link.exports().find(target)?.inlet();
            self.prune();
            self.list.push(Entry { inlet, touched: false, bytes: 0 });
            self.places.insert(target, self.list.len() - 1);
            self.list.len() - 1
        };
        self.last = Some((target, place));
        Some(place)
    }

    #[inline]
    fn took(&mut self, target: u64, bytes: usize) {
        let Some((last, place)) = self.last else { return };
        debug_assert_eq!(last, target);
        let entry = &mut self.list[place];
        entry.bytes += bytes;
        if !entry.touched {
            entry.touched = true;
            self.touched.push(place);
        }
    }

    /// True if so much waits that nothing more is to be read.
    fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.append(&mut self.touched);
        let (mut bytes, mut messages) = (0, 0);
        blocked.retain(|place| {
            let entry = &mut self.list[*place];
            if entry.inlet.poll_flush(cx).is_ready() {
                entry.touched = false;
                entry.bytes = 0;
                return false;
            }
            bytes += entry.bytes;
            messages += entry.inlet.waiting();
            true
        });
        self.blocked = blocked;
        bytes > HELD_BYTES || messages > HELD_MESSAGES
    }

    /// Actors come and go; those that nothing waits for need no inlet.
    fn prune(&mut self) {
        if self.list.len() < INLETS_KEPT || !self.blocked.is_empty() || !self.touched.is_empty() {
            return;
        }
        self.list.clear();
        self.places.clear();
        self.last = None;
    }
}
