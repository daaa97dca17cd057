//! One connection: two pipes, and what is wrong with each.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use borough_protocol::incarnation::Address;
use borough_protocol::random::Random;
use tokio::io::ReadBuf;
use tokio::time::Instant;

use super::State;

/// The end that dialled; its pipe is the first.
pub(super) const DIALER: usize = 0;
/// The end that accepted.
pub(super) const ACCEPTOR: usize = 1;

/// How many bytes are under way in one direction at most, acknowledgements not yet heard included.
pub(super) const PIPE: usize = 64 * 1024;

/// What is wrong with one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Condition {
    pub(super) cut: bool,
    pub(super) refuses: bool,
    /// The least and the most a chunk waits.
    pub(super) delay: (Duration, Duration),
    pub(super) bytes_a_second: Option<u32>,
}

impl Condition {
    pub(super) fn draw_delay(&self, random: &mut Random) -> Duration {
        let (least, most) = self.delay;
        if most.is_zero() {
            return Duration::ZERO;
        }
        let micros = |delay: Duration| u64::try_from(delay.as_micros()).unwrap_or(u64::MAX / 2);
        Duration::from_micros(random.between(micros(least), micros(most)))
    }
}

/// What one end can do now.
pub(super) enum Step {
    Done,
    /// Its waker is kept.
    Pending,
    /// Try again then.
    At(Instant),
}

/// Bytes from one end to the other.
struct Pipe {
    condition: Condition,
    chunks: VecDeque<Chunk>,
    /// Bytes for which there is no room for others: sent, and not known to have been read.
    held: usize,
    /// Bytes that were read while their acknowledgement could not get back.
    unheard: usize,
    /// Nothing is sent any more; the end arrives then.
    ended: Option<Instant>,
    /// When the newest chunk arrives: the next cannot arrive before it.
    newest: Option<Instant>,
    /// A slow reader reads nothing before that.
    rests_until: Option<Instant>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

struct Chunk {
    arrives: Instant,
    bytes: VecDeque<u8>,
}

impl Pipe {
    fn new(condition: Condition) -> Self {
        Self {
            condition,
            chunks: VecDeque::new(),
            held: 0,
            unheard: 0,
            ended: None,
            newest: None,
            rests_until: None,
            reader: None,
            writer: None,
        }
    }

    fn wake_all(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.reader.take());
        wakers.extend(self.writer.take());
    }

    fn arrival(&mut self, random: &mut Random) -> Instant {
        let mut arrives = Instant::now() + self.condition.draw_delay(random);
        if let Some(newest) = self.newest {
            arrives = arrives.max(newest);
        }
        self.newest = Some(arrives);
        arrives
    }

    fn push(&mut self, bytes: &[u8], random: &mut Random) {
        let arrives = self.arrival(random);
        self.held += bytes.len();
        match self.chunks.back_mut() {
            Some(last) if last.arrives == arrives => last.bytes.extend(bytes),
            _ => self.chunks.push_back(Chunk { arrives, bytes: bytes.iter().copied().collect() }),
        }
    }

    /// Moves what has arrived into the buffer.
    fn pull(&mut self, buffer: &mut ReadBuf<'_>) -> usize {
        let now = Instant::now();
        // A tenth of a second's worth at a time, so that a slow stream still flows.
        let at_once = self.condition.bytes_a_second.map_or(usize::MAX, |rate| (rate as usize / 10).max(1));
        let mut pulled = 0;
        while let Some(chunk) = self.chunks.front_mut().filter(|chunk| chunk.arrives <= now) {
            let count = chunk.bytes.as_slices().0.len().min(buffer.remaining()).min(at_once - pulled);
            buffer.put_slice(&chunk.bytes.as_slices().0[..count]);
            chunk.bytes.drain(..count);
            pulled += count;
            if chunk.bytes.is_empty() {
                self.chunks.pop_front();
            } else if count == 0 {
                break;
            }
        }
        if let Some(rate) = self.condition.bytes_a_second {
            self.rests_until =
                Some(now + Duration::from_secs(1) * u32::try_from(pulled).unwrap_or(u32::MAX) / rate);
        }
        pulled
    }
}

pub(super) struct Link {
    ends: [Address; 2],
    /// Each written by the end of the same number.
    pipes: [Pipe; 2],
    is_reset: bool,
    is_gone: [bool; 2],
}

impl Link {
    pub(super) fn new(ends: [Address; 2], conditions: [Condition; 2]) -> Self {
        Self { ends, pipes: conditions.map(Pipe::new), is_reset: false, is_gone: [false; 2] }
    }

    pub(super) fn is_between(&self, one: &Address, other: &Address) -> bool {
        let [from, to] = &self.ends;
        (from == one && to == other) || (from == other && to == one)
    }

    pub(super) fn set_condition(
        &mut self,
        from: &Address,
        to: &Address,
        condition: Condition,
        wakers: &mut Vec<Waker>,
    ) {
        for end in [DIALER, ACCEPTOR] {
            if &self.ends[end] == from && &self.ends[1 - end] == to {
                self.pipes[end].condition = condition;
                self.pipes[end].rests_until = None;
                if !condition.cut {
                    // Acknowledgements go the other way.
                    let acknowledged = &mut self.pipes[1 - end];
                    acknowledged.held -= std::mem::take(&mut acknowledged.unheard);
                }
                for pipe in &mut self.pipes {
                    pipe.wake_all(wakers);
                }
            }
        }
    }

    pub(super) fn reset(&mut self, wakers: &mut Vec<Waker>) {
        self.is_reset = true;
        for pipe in &mut self.pipes {
            pipe.chunks.clear();
            pipe.wake_all(wakers);
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.is_reset { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }

    pub(super) fn read(
        &mut self,
        end: usize,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        wakers: &mut Vec<Waker>,
    ) -> io::Result<Step> {
        self.check()?;
        let is_heard = !self.pipes[end].condition.cut;
        let pipe = &mut self.pipes[1 - end];
        if pipe.condition.cut {
            pipe.reader = Some(cx.waker().clone());
            return Ok(Step::Pending);
        }
        let now = Instant::now();
        if let Some(until) = pipe.rests_until.filter(|until| *until > now) {
            pipe.reader = Some(cx.waker().clone());
            return Ok(Step::At(until));
        }
        let pulled = pipe.pull(buffer);
        if pulled > 0 {
            if is_heard {
                pipe.held -= pulled;
                wakers.extend(pipe.writer.take());
            } else {
                pipe.unheard += pulled;
            }
            return Ok(Step::Done);
        }
        pipe.reader = Some(cx.waker().clone());
        match pipe.chunks.front().map(|chunk| chunk.arrives).or(pipe.ended) {
            Some(at) if at > now => Ok(Step::At(at)),
            // The end has arrived, and nothing before it is left.
            Some(_) => Ok(Step::Done),
            None => Ok(Step::Pending),
        }
    }

    pub(super) fn write(
        &mut self,
        end: usize,
        cx: &mut Context<'_>,
        bytes: &[u8],
        random: &mut Random,
        wakers: &mut Vec<Waker>,
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        let hears = !self.pipes[1 - end].condition.cut;
        let pipe = &mut self.pipes[end];
        if pipe.ended.is_some() || (hears && self.is_gone[1 - end]) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = bytes.len().min(PIPE - pipe.held);
        if count == 0 && !bytes.is_empty() {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if count > 0 {
            pipe.push(&bytes[..count], random);
            wakers.extend(pipe.reader.take());
        }
        Poll::Ready(Ok(count))
    }

    pub(super) fn end(&mut self, end: usize, random: &mut Random, wakers: &mut Vec<Waker>) {
        let pipe = &mut self.pipes[end];
        if pipe.ended.is_none() {
            pipe.ended = Some(pipe.arrival(random));
            wakers.extend(pipe.reader.take());
        }
    }
}

impl State {
    /// One end of a connection is held no more.
    pub(super) fn let_go(&mut self, id: u64, end: usize, wakers: &mut Vec<Waker>) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.end(end, &mut self.random, wakers);
        link.is_gone[end] = true;
        // The other may wait for room that nobody will make.
        wakers.extend(link.pipes[1 - end].writer.take());
        if link.is_gone == [true; 2] {
            self.links.remove(&id);
        }
    }
}
