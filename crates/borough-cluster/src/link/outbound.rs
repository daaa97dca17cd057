//! One lane to a peer: what waits, and the task that dials, writes, and keeps what is not acknowledged.
//!
//! ```text
//! Idle --something waits--> Dialling --connected--> Writing --nothing waits, all acknowledged--> Writing (parked)
//!                            ^   |                     |
//!                            |   | too long            | broken, or no acknowledgement for long
//!                            |   v                     |
//!                            | Given up: what waits    |
//!                            | is lost, counted        |
//!                            +-------------------------+  resumes where the peer says
//! any --the peer's life is over, or ours--> Closed
//! ```
//!
//! A lane whose owner waits for word of the peer is connected again when its connection breaks, although nothing waits: only so is it
//! noticed that that life is over.
//!
//! Promise: what was accepted arrives in order and once, as long as both lives last and the peer can be reached within
//! [`PATIENCE`]; otherwise it is lost and counted, and nothing after it arrives before it.

use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use borough_wire::frame::{Frame, FrameBuffer, put_ack};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::queue::Queue;
use super::unacked::Unacked;
use super::{ACK_BYTES, Dial};
use crate::door::{Connection, Lane};
use crate::transport::Stream;

/// How long a peer may be out of reach before what waits for it is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// A connection on which something is unacknowledged and nothing is heard for so long is broken.
const ACK_SILENCE: Duration = Duration::from_secs(10);
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// With fewer bytes than this a writer lets others run first, if there are others: again and again while they add something, but not more often
/// than this, and not after this time.
const LITTLE: usize = 16 * 1024;
const COURTESY: usize = 8;
const COURTESY_TIME: Duration = Duration::from_micros(200);
/// For so many batches with one message each a crowd is remembered.
const CROWD_LASTS: u8 = 16;
/// An acknowledgement is small.
const ACK_FRAME_MAX: usize = 64;

/// One lane to a peer.
#[derive(Debug)]
pub(super) struct Outbound {
    pub(super) queue: Arc<Queue>,
    pub(super) lane: Lane,
    begun: AtomicBool,
    closed: Notify,
    is_closed: AtomicBool,
    /// How many bytes are written and not acknowledged.
    unacked: AtomicUsize,
}

/// Whoever owns a lane is told what becomes of it.
pub(super) trait Owner: Send + Sync {
    /// Whoever answers at the peer's address says that that life of it is over. Whether it is believed: one who has proved nothing may have said so.
    fn peer_is_gone(&self) -> bool;
    /// The peer could not be reached by this lane for too long; so many messages or answers are lost.
    fn given_up(&self, lane: Lane, lost: usize);
    /// Whether word of the peer is waited for, although nothing may be left to say to it.
    fn expects(&self) -> bool;
    /// A connection was made: what the peer takes.
    fn connected(&self, connection: &Connection);
}

/// Why dialling led to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoWay {
    /// That life of the peer is over, or it is ourselves.
    Gone,
    /// Not now.
    Later(String),
}

impl Outbound {
    pub(super) fn new(lane: Lane, queue: Queue) -> Self {
        Self {
            queue: Arc::new(queue),
            lane,
            begun: AtomicBool::new(false),
            closed: Notify::new(),
            is_closed: AtomicBool::new(false),
            unacked: AtomicUsize::new(0),
        }
    }

    /// True for one caller: the one who has to start the writer.
    #[inline]
    pub(super) fn begins(&self) -> bool {
        !self.begun.load(Ordering::Relaxed) && !self.begun.swap(true, Ordering::AcqRel)
    }

    /// Whether everything that was accepted has arrived.
    pub(super) fn is_settled(&self) -> bool {
        self.queue.bytes() == 0 && self.unacked.load(Ordering::Acquire) == 0
    }

    /// Ends the lane; gives how many messages waited.
    pub(super) fn close(&self) -> usize {
        self.is_closed.store(true, Ordering::Release);
        self.closed.notify_one();
        self.queue.close()
    }

    /// The writer: to be spawned once.
    pub(super) async fn run<O: Owner>(self: Arc<Self>, dial: Arc<dyn Dial>, owner: Weak<O>) {
        let mut writer =
            Writer { lane: self.clone(), dial, unacked: Unacked::default(), session: 1, crowd: 0 };
        tokio::select! {
            biased;
            () = self.closed.notified() => {}
            () = writer.run(&owner) => {}
        }
        let lost = writer.unacked.clear();
        if let Some(owner) = owner.upgrade() {
            owner.given_up(self.lane, lost);
        }
    }
}

struct Writer {
    lane: Arc<Outbound>,
    dial: Arc<dyn Dial>,
    unacked: Unacked,
    session: u64,
    /// Not 0 if one of the last batches had more than one message: others are about that may have more to say, and are let run
    /// first. Where one asks and waits for the answer nobody is, and every detour would be felt.
    crowd: u8,
}

impl Writer {
    async fn run<O: Owner>(&mut self, owner_of: &Weak<O>) {
        let mut failing = None;
        let mut was_connected = false;
        while !self.lane.is_closed.load(Ordering::Acquire) {
            let expects = was_connected && owner_of.upgrade().is_some_and(|owner| owner.expects());
            if self.unacked.bytes() == 0 && !expects && !self.something_waits().await {
                return;
            }
            match self.connect().await {
                Connected::Yes(connection) => {
                    let Some(owner) = owner_of.upgrade() else { return };
                    owner.connected(&connection);
                    drop(owner);
                    was_connected = true;
                    match self.write(connection).await {
                        Ended::SessionLost => self.give_up(owner_of),
                        Ended::Broken { progress: true } => failing = None,
                        // A peer that takes connections and nothing else is as good as none.
                        Ended::Broken { progress: false } => self.fail(&mut failing, owner_of).await,
                    }
                }
                Connected::Gone => {
                    if owner_of.upgrade().is_none_or(|owner| owner.peer_is_gone()) {
                        return;
                    }
                    self.fail(&mut failing, owner_of).await;
                }
                Connected::GivenUp => self.give_up(owner_of),
            }
        }
    }

    /// A connection was of no use: pauses, and gives up what is owed once that has gone on for too long.
    async fn fail<O: Owner>(&mut self, failing: &mut Option<Failing>, owner: &Weak<O>) {
        let so_far = failing.get_or_insert_default();
        if self.unacked.bytes() == 0 && self.lane.queue.bytes() == 0 {
            // Nothing is owed, so nothing is late.
            so_far.since = Instant::now();
        } else if so_far.is_over() {
            self.give_up(owner);
            so_far.since = Instant::now();
        }
        so_far.pause().await;
    }

    /// What was accepted is lost, and another session begins.
    fn give_up<O: Owner>(&mut self, owner: &Weak<O>) {
        let lost = self.unacked.clear() + self.lane.queue.clear();
        self.note_unacked();
        self.session += 1;
        if let Some(owner) = owner.upgrade() {
            owner.given_up(self.lane.lane, lost);
        }
    }

    /// Waits until something is to be sent; false if nothing ever will.
    async fn something_waits(&mut self) -> bool {
        self.unacked.rest();
        if poll_fn(|cx| self.lane.queue.poll_some(cx)).await.is_err() {
            return false;
        }
        self.keep_batch();
        true
    }

    /// Takes what waits, to be written and kept.
    fn keep_batch(&mut self) {
        let mut batch = self.unacked.empty();
        // Before it leaves the queue: at no moment may it seem that everything has arrived.
        self.lane.unacked.store(usize::MAX, Ordering::Release);
        self.lane.queue.take(&mut batch);
        self.crowd = if batch.messages > 1 { CROWD_LASTS } else { self.crowd.saturating_sub(1) };
        self.unacked.keep(batch);
        self.note_unacked();
    }

    fn note_unacked(&self) {
        self.lane.unacked.store(self.unacked.bytes(), Ordering::Release);
    }

    async fn connect(&self) -> Connected {
        let mut failing = Failing::default();
        loop {
            match timeout_at(failing.until(), self.dial.dial(self.lane.lane, self.session)).await {
                Ok(Ok(connection)) => return Connected::Yes(connection),
                Ok(Err(NoWay::Gone)) => return Connected::Gone,
                Ok(Err(NoWay::Later(why))) => {
                    tracing::debug!(lane = ?self.lane.lane, why, "cannot reach a peer, tries again");
                }
                Err(_) => return Connected::GivenUp,
            }
            if failing.is_over() {
                return Connected::GivenUp;
            }
            failing.pause().await;
        }
    }

    /// Writes until the connection breaks.
    async fn write(&mut self, connection: Connection) -> Ended {
        let Connection { stream, resume, .. } = connection;
        let resumed = self.unacked.acknowledge(resume).and_then(|()| self.unacked.from(resume));
        let Ok(again) = resumed else {
            // What the peer has got and what not cannot be told: nothing may be sent twice.
            tracing::warn!(lane = ?self.lane.lane, resume, "a peer has lost a session; a new one begins");
            return Ended::SessionLost;
        };
        let (reader, mut writer) = split(stream);
        let acks = Arc::new(Acks::new(resume));
        let reading = AbortOnDrop(tokio::spawn(read_acks(reader, acks.clone())));
        let write = async {
            acks.written.store(self.unacked.end(), Ordering::Release);
            if write_out(&mut writer, &again).await.is_err() {
                return;
            }
            drop(again);
            let mut asked = None;
            loop {
                let position = acks.position.load(Ordering::Acquire);
                if self.unacked.acknowledge(position).is_err() {
                    tracing::warn!(lane = ?self.lane.lane, "a peer acknowledged what was never sent");
                    return;
                }
                self.note_unacked();
                if self.unacked.bytes() >= self.dial.unacked_max() {
                    let end = self.unacked.end();
                    if self.unacked.bytes() < 2 * ACK_BYTES && asked != Some(end) {
                        asked = Some(end);
                        if ask_for_ack(&mut writer, end).await.is_err() {
                            return;
                        }
                    }
                    acks.changed.notified().await;
                    continue;
                }
                if !self.take_batch(&acks).await {
                    continue;
                }
                acks.written.store(self.unacked.end(), Ordering::Release);
                if write_out(&mut writer, self.unacked.last()).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            () = acks.broken.notified() => {}
            () = write => {}
        }
        drop(reading);
        Ended::Broken { progress: acks.position.load(Ordering::Acquire) > resume }
    }

    /// Takes the next batch; false if acknowledgements want to be looked at instead, or the lane is closed.
    async fn take_batch(&mut self, acks: &Acks) -> bool {
        let queue = &self.lane.queue;
        let some = tokio::select! {
            biased;
            some = poll_fn(|cx| queue.poll_some(cx)) => some,
            () = acks.changed.notified(), if self.unacked.bytes() > 0 => return false,
        };
        let Ok(bytes) = some else { return std::future::pending().await };
        if self.crowd > 0 {
            let_others_add(queue, bytes).await;
        }
        self.keep_batch();
        true
    }
}

/// Lets others run who may have more to say, while little waits and they add to it.
async fn let_others_add(queue: &Queue, mut bytes: usize) {
    let (mut before, until) = (0, Instant::now() + COURTESY_TIME);
    for _ in 0..COURTESY {
        if bytes >= LITTLE || bytes == before || Instant::now() > until {
            return;
        }
        tokio::task::yield_now().await;
        (before, bytes) = (bytes, queue.bytes());
    }
}

/// Writes, and sees to it that nothing stays behind: what lies over the network may have a buffer of its own.
async fn write_out(writer: &mut WriteHalf<Box<dyn Stream>>, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

/// Asks the reader for an acknowledgement that it would give later otherwise.
async fn ask_for_ack(writer: &mut WriteHalf<Box<dyn Stream>>, end: u64) -> io::Result<()> {
    let mut ask = Vec::with_capacity(ACK_FRAME_MAX);
    put_ack(&mut ask, end);
    write_out(writer, &ask).await
}

/// How long it has been going wrong.
struct Failing {
    since: Instant,
    pause: Duration,
}

impl Default for Failing {
    fn default() -> Self {
        Self { since: Instant::now(), pause: RETRY_FIRST }
    }
}

impl Failing {
    fn until(&self) -> Instant {
        self.since + PATIENCE
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until()
    }

    async fn pause(&mut self) {
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(RETRY_MAX);
    }
}

enum Connected {
    Yes(Connection),
    Gone,
    GivenUp,
}

/// How a connection ended.
#[derive(PartialEq, Eq)]
enum Ended {
    /// The connection is of no use any more; whether anything was acknowledged on it.
    Broken { progress: bool },
    /// What the peer has got cannot be told.
    SessionLost,
}

struct Acks {
    /// Everything before it has arrived.
    position: AtomicU64,
    /// Everything before it was written, or is being written.
    written: AtomicU64,
    changed: Notify,
    broken: Notify,
}

impl Acks {
    fn new(position: u64) -> Self {
        let (position, written) = (AtomicU64::new(position), AtomicU64::new(position));
        Self { position, written, changed: Notify::new(), broken: Notify::new() }
    }

    fn are_owed(&self) -> bool {
        self.position.load(Ordering::Acquire) < self.written.load(Ordering::Acquire)
    }
}

/// Reads acknowledgements until the connection ends, breaks a rule, or is silent for too long.
async fn read_acks(mut reader: ReadHalf<Box<dyn Stream>>, acks: Arc<Acks>) {
    let mut buffer = FrameBuffer::new(ACK_FRAME_MAX);
    let mut were_owed = false;
    loop {
        match timeout(ACK_SILENCE / 2, reader.read(buffer.spare())).await {
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(read)) => {
                buffer.filled(read);
                were_owed = false;
            }
            Err(_) if acks.are_owed() && were_owed => break,
            Err(_) => were_owed = acks.are_owed(),
        }
        if !take_acks(&mut buffer, &acks) {
            break;
        }
        acks.changed.notify_one();
    }
    acks.broken.notify_one();
}

/// Takes what has come; false if it is something else than acknowledgements.
fn take_acks(buffer: &mut FrameBuffer, acks: &Acks) -> bool {
    loop {
        match buffer.next() {
            Ok(Some(Frame::Ack { position })) => drop(acks.position.fetch_max(position, Ordering::AcqRel)),
            Ok(None) => return true,
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::queue::Batch;

    const FRAME: usize = 100;

    fn push(queue: &Queue, bytes: usize) {
        queue.push(|out| out.resize(out.len() + bytes, 0)).unwrap();
    }

    /// How many frames leave in one piece, if one of so many bytes waits and another task adds `more`, letting others run after each.
    async fn leave_together(first: usize, more: usize) -> usize {
        let queue = Arc::new(Queue::new(1000, 1024 * 1024));
        push(&queue, first);
        let adding = queue.clone();
        let adds = AbortOnDrop(tokio::spawn(async move {
            for _ in 0..more {
                push(&adding, FRAME);
                tokio::task::yield_now().await;
            }
        }));
        let_others_add(&queue, queue.bytes()).await;
        drop(adds);
        let mut batch = Batch::default();
        queue.take(&mut batch);
        batch.messages
    }

    #[tokio::test(start_paused = true)]
    async fn what_others_add_meanwhile_leaves_with_it() {
        assert_eq!(leave_together(FRAME, 4).await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn who_adds_without_end_is_not_waited_for() {
        assert_eq!(leave_together(FRAME, 1000).await, 1 + COURTESY);
    }

    #[tokio::test]
    async fn with_much_to_write_nobody_is_waited_for() {
        assert_eq!(leave_together(LITTLE, 4).await, 1);
    }
}
