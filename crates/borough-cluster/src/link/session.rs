//! What has arrived of a lane from a peer: it outlives the connections by which it came.
//!
//! Promise: each byte of a session is taken once, in order. A new connection of the session ends the one before: what a reader has not
//! entered as arrived under the last admission's ticket it does not act upon.
//!
//! The control thread admits and ends sessions; what it needs is under a lock of its own, so that it never waits for user code.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use borough_actor::DeadLetterReason;
use borough_actor::remote::{self, Arrived, Carrier, Interruption, Lost, RUN_BYTES, RUN_MESSAGES};
use borough_wire::codec::CodecId;
use borough_wire::frame::{Answer, Assembler, Frame, FrameBuffer, Run};

use super::askers::Askers;
use super::codes;
use super::inlets::{Inlets, Waiting};
use super::peer::Link;

/// One lane from one peer.
pub(super) struct Session {
    register: Mutex<Register>,
    reading: Mutex<Reading>,
    message_max: usize,
}

/// What has arrived, and who may go on reading.
#[derive(Default)]
struct Register {
    /// Which session it is; a peer that gave one up begins another.
    number: u64,
    /// How many bytes of it were taken, as whole messages.
    position: u64,
    /// Which admission was the last: only its reader may go on. 0: nobody.
    ticket: u64,
    /// How its reader is woken; there is one exactly while a connection is read.
    reader: Option<Waker>,
}

/// What the reader works with.
pub(super) struct Reading {
    /// Whose reader was here last.
    ticket: u64,
    /// Bytes of a message that comes in parts and is not whole yet.
    parts: u64,
    /// The writer waits for an acknowledgement.
    is_asked: bool,
    assembler: Assembler,
    desk: Desk,
}

/// Where frames are acted upon.
struct Desk {
    link: Arc<Link>,
    carrier: Arc<dyn Carrier>,
    inlets: Inlets,
    /// Whose answers have come.
    askers: Askers,
    /// Watched actors that are gone; each is said once nothing waits any more that had come for its watcher before.
    gone: VecDeque<Gone>,
}

struct Gone {
    watch: u64,
    reason: u8,
    after: Waiting,
}

/// A peer broke a rule: the connection is to be closed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);

/// How taking frames ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Every whole frame was taken.
    All,
    /// Another connection took over.
    Superseded,
}

impl Session {
    pub(super) fn new(link: Arc<Link>, message_max: usize) -> Self {
        let carrier: Arc<dyn Carrier> = link.clone();
        let desk = Desk {
            link,
            carrier,
            inlets: Inlets::default(),
            askers: Askers::default(),
            gone: VecDeque::new(),
        };
        let assembler = Assembler::new(message_max);
        let reading = Reading { ticket: 0, parts: 0, is_asked: false, assembler, desk };
        Self { register: Mutex::default(), reading: Mutex::new(reading), message_max }
    }

    /// A connection of session `number` is admitted: gives what has arrived of it, `None` if it is an older one.
    pub(super) fn begin(&self, ticket: u64, number: u64) -> Option<u64> {
        let mut register = self.register();
        if number < register.number {
            return None;
        }
        if number > register.number {
            register.number = number;
            register.position = 0;
        }
        register.ticket = ticket;
        let (position, older) = (register.position, register.reader.take());
        drop(register);
        older.into_iter().for_each(Waker::wake);
        Some(position)
    }

    /// No connection of it is read any more.
    pub(super) fn end(&self) {
        let mut register = self.register();
        register.ticket = 0;
        register.number = u64::MAX;
        let reader = register.reader.take();
        drop(register);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Drops what arrived and found no room; after [`end`](Self::end). Waits for a reader that is at it, and drops what is the user's, so never on the
    /// control thread.
    pub(super) fn clear(&self) {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let inlets = std::mem::take(&mut reading.desk.inlets);
        drop(reading);
        drop(inlets);
    }

    /// Whether a connection of it is being read.
    pub(super) fn is_read(&self) -> bool {
        self.register().reader.is_some()
    }

    /// How many bytes have arrived; `None` if that admission is not the last. The reader is woken when it is not any more.
    pub(super) fn position(&self, ticket: u64, reader: &Waker) -> Option<u64> {
        let mut register = self.register();
        if register.ticket != ticket {
            return None;
        }
        match &mut register.reader {
            Some(known) => known.clone_from(reader),
            None => register.reader = Some(reader.clone()),
        }
        Some(register.position)
    }

    /// The reader of that admission has ended.
    pub(super) fn leave(&self, ticket: u64) {
        let mut register = self.register();
        if register.ticket == ticket {
            register.reader = None;
        }
    }

    /// Enters so many bytes as arrived; false if another connection took over, which gets them once more.
    #[inline]
    fn advance(&self, ticket: u64, bytes: u64) -> bool {
        let mut register = self.register();
        let goes_on = register.ticket == ticket;
        if goes_on {
            register.position += bytes;
        }
        goes_on
    }

    /// What the reader works with; `None` if another admission came after its own.
    pub(super) fn reading(&self, ticket: u64) -> Option<MutexGuard<'_, Reading>> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at only now: an older reader that came here last would throw away what the newer has gathered.
        if self.register().ticket != ticket {
            return None;
        }
        if reading.ticket != ticket {
            reading.ticket = ticket;
            reading.parts = 0;
            reading.is_asked = false;
            reading.assembler = Assembler::new(self.message_max);
            // Whom a reader left behind that panicked.
            reading.desk.askers.wake();
        }
        Some(reading)
    }

    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    /// Takes every whole frame that is in the buffer. What is acted upon is entered as arrived before: it must not come again.
    pub(super) fn take(&mut self, session: &Session, buffer: &mut FrameBuffer) -> Result<Taken, Broken> {
        let carrier = self.desk.carrier.clone();
        let ticket = self.ticket;
        let taken = remote::within(&carrier, || {
            loop {
                // Between the chunks of a message a run or answers would be a mistake, and are left for the assembler to find.
                while self.assembler.is_idle()
                    && let Some(run) = buffer.next_run(RUN_MESSAGES, RUN_BYTES)
                {
                    if !session.advance(ticket, run.bytes().len() as u64) {
                        return Ok(Taken::Superseded);
                    }
                    self.desk.deliver_run(&run);
                }
                if self.assembler.is_idle()
                    && let Some(answers) = buffer.next_answers()
                {
                    if !session.advance(ticket, answers.bytes().len() as u64) {
                        return Ok(Taken::Superseded);
                    }
                    answers.iter().for_each(|answer| self.desk.answer(answer));
                    continue;
                }
                let next = buffer.next_sized().map_err(|error| Broken(error.to_string()))?;
                let Some((frame, size)) = next else { return Ok(Taken::All) };
                if matches!(frame, Frame::Ack { .. }) && self.assembler.is_idle() {
                    // No part of the session: it belongs to the connection, and no position counts it.
                    self.is_asked = true;
                    continue;
                }
                self.parts += size as u64;
                let whole = self.assembler.take(frame).map_err(|error| Broken(error.to_string()))?;
                let Some(frame) = whole else { continue };
                if !session.advance(ticket, std::mem::take(&mut self.parts)) {
                    return Ok(Taken::Superseded);
                }
                self.desk.act(frame)?;
            }
        });
        self.desk.askers.wake();
        taken
    }

    /// Sees to it that everybody is woken whose answer has come. Whether some are still to be looked after.
    pub(super) fn look_after_askers(&mut self) -> bool {
        self.desk.askers.look_after()
    }

    /// Whether the writer asked to be told what has arrived, since this was last looked at.
    pub(super) fn take_asked(&mut self) -> bool {
        std::mem::take(&mut self.is_asked)
    }

    /// Whether a message comes in parts and is not whole yet.
    pub(super) fn is_gathering(&self) -> bool {
        self.parts > 0
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
            Frame::Tell { target, codec, body, .. } => self.deliver(target, None, codec, body),
            Frame::Ask { target, ask, codec, deadline, body, .. } => {
                self.deliver(target, Some((ask, deadline)), codec, body);
            }
            Frame::Answer { ask, codec, body } => self.answer(Answer { ask, codec, body }),
            Frame::Lost { ask, why } => remote::lose(self.link.system(), ask, codes::lost(why)),
            Frame::Interrupt { target, what } => self.interrupt(target, what)?,
            Frame::Watch { target, watch } => self.link.watched_by_peer(target, watch),
            Frame::Unwatch { watch, .. } => self.link.unwatched_by_peer(watch),
            Frame::Terminated { watch, reason } => {
                let after = self.inlets.waiting_for(self.link.watcher(watch));
                self.gone.push_back(Gone { watch, reason, after });
            }
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

    #[inline]
    fn answer(&mut self, answer: Answer<'_>) {
        let Answer { ask, codec, body } = answer;
        self.askers.answered(remote::answer(self.link.system(), ask, codec, body));
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
        self.inlets.took(run.len(), run.bytes().len());
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

    fn deliver(&mut self, target: u64, ask: Option<(u64, Option<u32>)>, codec: CodecId, body: &[u8]) {
        let Some(inlet) = self.inlets.of(target, &self.link) else {
            return self.nobody(target, ask.map(|(ask, _)| ask));
        };
        if inlet.take(Arrived { codec, ask, body }).is_err()
            && let Some((ask, _)) = ask
        {
            self.carrier.lose(ask, Lost::Discarded);
        }
        self.inlets.took(1, body.len());
    }

    fn interrupt(&mut self, target: u64, what: u8) -> Result<(), Broken> {
        let what =
            codes::interruption(what).ok_or_else(|| Broken(format!("no interruption has number {what}")))?;
        if what == Interruption::StopWhenDrained {
            if let Some(inlet) = self.inlets.of(target, &self.link) {
                inlet.stop_when_drained();
                self.inlets.took(1, 0);
            }
        } else if let Some(export) = self.link.exports().find(target) {
            export.interrupt(what);
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let held = self.inlets.flush(cx);
        let Self { link, inlets, gone, .. } = self;
        gone.retain(|Gone { watch, reason, after }| {
            let passed = inlets.has_passed(after);
            if passed {
                link.terminated(*watch, codes::stop_reason(*reason));
            }
            !passed
        });
        if held { Poll::Pending } else { Poll::Ready(()) }
    }
}
