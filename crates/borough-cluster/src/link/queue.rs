//! What waits to be written to a peer: frames, back to back, in one buffer.
//!
//! Promise: frames leave in the order they were accepted; while senders wait in line nobody overtakes them; a frame that was
//! refused, or whose sender gave up in line, is never sent. At most the limits wait, and one frame beyond.
//!
//! ```text
//! sender: push --room--> accepted
//!              --full--> in line --the writer took what was there--> accepted
//!                                --future dropped----------------> withdrawn
//!                                --closed------------------------> refused
//! writer: take --nothing--> parked --push--> woken
//! ```

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use borough_actor::remote::AnswerGate;

/// See the module.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    messages_max: usize,
    bytes_max: usize,
    /// Shut while so many bytes wait.
    gate: Option<(usize, AnswerGate)>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Batch,
    line: VecDeque<InLine>,
    last_ticket: u64,
    /// The last who was let in from the line.
    last_admitted: u64,
    /// Who was turned away: those after the first and up to the second ticket of each pair. Only the last few are kept: all were
    /// woken, and ask soon.
    turned_away: VecDeque<(u64, u64)>,
    writer: Option<Waker>,
    closed: bool,
}

/// Frames that are written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// How many messages and answers are among them.
    pub(super) messages: usize,
}

#[derive(Debug)]
struct InLine {
    ticket: u64,
    frame: Vec<u8>,
    sender: Waker,
}

/// Why a frame did not enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    Closed,
}

impl Queue {
    pub(super) fn new(messages_max: usize, bytes_max: usize) -> Self {
        Self { state: Mutex::default(), messages_max, bytes_max, gate: None }
    }

    /// The gate is shut while `full` bytes wait.
    pub(super) fn with_gate(self, full: usize, gate: AnswerGate) -> Self {
        Self { gate: Some((full, gate)), ..self }
    }

    /// Has `put` append a frame, if there is room.
    #[inline]
    pub(super) fn push(&self, put: impl FnOnce(&mut Vec<u8>)) -> Result<(), Refused> {
        let state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if !self.has_room(&state.waiting) || !state.line.is_empty() {
            return Err(Refused::Full);
        }
        self.append(state, 1, put);
        Ok(())
    }

    /// Has `put` append a frame that cannot wait, up to `most` bytes. `counts` is 1 if its loss is to be counted.
    pub(super) fn push_beyond(
        &self,
        most: usize,
        counts: usize,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Refused> {
        let state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.waiting.bytes.len() >= most {
            return Err(Refused::Full);
        }
        self.append(state, counts, put);
        Ok(())
    }

    /// A sender that waits for room with this frame.
    pub(super) fn enter(self: &Arc<Self>, frame: Vec<u8>) -> Enter {
        Enter { queue: self.clone(), place: Place::Outside(frame) }
    }

    #[inline]
    fn append(&self, mut state: MutexGuard<'_, State>, messages: usize, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut state.waiting.bytes);
        state.waiting.messages += messages;
        let writer = state.writer.take();
        self.look_at_gate(&state);
        drop(state);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    /// Under the lock: what shuts the gate and what opens it come one after the other.
    #[inline]
    fn look_at_gate(&self, state: &State) {
        let Some((full, gate)) = &self.gate else { return };
        if state.waiting.bytes.len() >= *full { gate.shut() } else { gate.open() }
    }

    #[inline]
    fn has_room(&self, waiting: &Batch) -> bool {
        waiting.messages < self.messages_max && waiting.bytes.len() < self.bytes_max
    }

    /// Parks the writer until something waits; gives how many bytes that are.
    pub(super) fn poll_some(&self, cx: &mut Context<'_>) -> Poll<Result<usize, Refused>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(Refused::Closed));
        }
        if state.waiting.bytes.is_empty() {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(state.waiting.bytes.len()))
    }

    /// Swaps what waits against the empty `batch`, and lets in those in line.
    pub(super) fn take(&self, batch: &mut Batch) {
        let mut state = self.lock();
        mem::swap(&mut state.waiting, batch);
        let mut admitted = Vec::new();
        while self.has_room(&state.waiting)
            && let Some(next) = state.line.pop_front()
        {
            state.waiting.bytes.extend_from_slice(&next.frame);
            state.waiting.messages += 1;
            state.last_admitted = next.ticket;
            admitted.push(next.sender);
        }
        self.look_at_gate(&state);
        drop(state);
        admitted.into_iter().for_each(Waker::wake);
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.lock().waiting.bytes.len()
    }

    /// Throws away what waits, and refuses those in line. Gives how many accepted messages are lost.
    pub(super) fn clear(&self) -> usize {
        let mut state = self.lock();
        let waiting = mem::take(&mut state.waiting);
        let line = mem::take(&mut state.line);
        state.turn_away();
        self.look_at_gate(&state);
        drop(state);
        for in_line in line {
            in_line.sender.wake();
        }
        waiting.messages
    }

    /// Refuses everything from now on; gives how many messages waited.
    pub(super) fn close(&self) -> usize {
        let mut state = self.lock();
        state.closed = true;
        let lost = mem::take(&mut state.waiting).messages;
        let line = mem::take(&mut state.line);
        state.turn_away();
        let writer = state.writer.take();
        self.look_at_gate(&state);
        drop(state);
        for in_line in line {
            in_line.sender.wake();
        }
        writer.into_iter().for_each(Waker::wake);
        lost
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many times of turning away are remembered.
const TURNED_AWAY_KEPT: usize = 16;

impl State {
    /// Where in line that ticket stands; tickets rise from front to back.
    fn place_of(&self, ticket: u64) -> Option<usize> {
        self.line.binary_search_by_key(&ticket, |in_line| in_line.ticket).ok()
    }

    /// Notes that all in line are turned away.
    fn turn_away(&mut self) {
        self.turned_away.push_back((self.last_admitted, self.last_ticket));
        self.last_admitted = self.last_ticket;
        if self.turned_away.len() > TURNED_AWAY_KEPT {
            self.turned_away.pop_front();
        }
    }

    fn was_turned_away(&self, ticket: u64) -> bool {
        self.turned_away.iter().any(|(after, up_to)| *after < ticket && ticket <= *up_to)
    }
}

/// A sender that waits for room; ready once its frame is accepted, or never will be.
#[derive(Debug)]
pub(super) struct Enter {
    queue: Arc<Queue>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Outside(Vec<u8>),
    InLine(u64),
    Done,
}

impl Future for Enter {
    type Output = Result<(), Refused>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { queue, place } = self.get_mut();
        let mut state = queue.lock();
        match mem::replace(place, Place::Done) {
            Place::Outside(_) if state.closed => Poll::Ready(Err(Refused::Closed)),
            Place::Outside(frame) if queue.has_room(&state.waiting) && state.line.is_empty() => {
                queue.append(state, 1, |out| out.extend_from_slice(&frame));
                Poll::Ready(Ok(()))
            }
            Place::Outside(frame) => {
                state.last_ticket += 1;
                let ticket = state.last_ticket;
                state.line.push_back(InLine { ticket, frame, sender: cx.waker().clone() });
                *place = Place::InLine(ticket);
                Poll::Pending
            }
            Place::InLine(ticket) => match state.place_of(ticket) {
                Some(at) => {
                    state.line[at].sender.clone_from(cx.waker());
                    *place = Place::InLine(ticket);
                    Poll::Pending
                }
                None if state.was_turned_away(ticket) => Poll::Ready(Err(Refused::Closed)),
                None => Poll::Ready(Ok(())),
            },
            Place::Done => Poll::Ready(Ok(())),
        }
    }
}

impl Enter {
    /// Takes the frame back; false if it was let in before.
    pub(super) fn withdraw(&mut self) -> bool {
        match mem::replace(&mut self.place, Place::Done) {
            Place::Outside(_) => true,
            Place::InLine(ticket) => {
                let mut state = self.queue.lock();
                match state.place_of(ticket) {
                    Some(at) => state.line.remove(at).is_some(),
                    None => state.was_turned_away(ticket),
                }
            }
            Place::Done => false,
        }
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        self.withdraw();
    }
}
