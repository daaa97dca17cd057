//! The way to one peer: a task that dials when there is something to say, and says it.
//!
//! ```text
//! waiting --something to say--> dialling --> connected --nothing to say for long--> (gone)
//!    ^                             |             |
//!    +------- after a pause <------+--- broken --+
//! ```
//! Promise: it holds no more than its queue, it notices within seconds that the other end does not take anything any more, and it never tries more
//! often than the pauses allow. What waits while the peer cannot be reached is dropped: it would be old when it came.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use borough_protocol::incarnation::Address;
use borough_protocol::node::{Command, Input};
use borough_protocol::time::Timestamp;
use borough_wire::frame::{Frame, FrameBuffer, Open};
use borough_wire::limits::{BEFORE_AUTHENTICATION, Sizes};
use tokio::io::{AsyncReadExt, AsyncWriteExt, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::addresses::Addresses;
use super::backoff::Backoff;
use super::counts::{Counters, add};
use super::dial::{Dial, Failure, Use};
use super::driver::Heard;
use super::queue::Queue;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::door::Connection;
use crate::transport::Stream;

/// After so long with nothing to say the connection is closed.
const IDLE: Duration = Duration::from_secs(60);

/// The other end acknowledges what it takes; if it has not for so long, the connection is given up and made anew. A network that was cut
/// and is whole again would otherwise be unused until the system tries again by itself, which may be minutes.
const SILENCE: Duration = Duration::from_secs(3);

/// An address that may be a seed's is dialled at least that often, while there is something to say.
const SEED_PAUSE: Duration = Duration::from_millis(200);

/// How much is gathered into one write.
const BATCH: usize = 64 * 1024;

/// What every way to a peer needs.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) dialer: Arc<dyn Dial>,
    pub(super) chance: Chance,
    pub(super) clock: Clock,
    pub(super) counters: Arc<Counters>,
    pub(super) addresses: Arc<Mutex<Addresses>>,
    /// The way into the machine.
    pub(super) heard: mpsc::Sender<Heard<Input>>,
}

/// The way to one peer.
pub(super) struct Outbound {
    pub(super) means: Means,
    pub(super) address: Address,
    pub(super) what_for: Use,
    pub(super) queue: Arc<Queue>,
}

/// Why a connection is not used any more.
enum Over {
    Idle,
    Broken(String),
}

impl Outbound {
    /// Until there is nothing more to say.
    pub(super) async fn run(self) {
        let mut backoff = match self.what_for {
            Use::ToLife(_) => Backoff::new(self.means.chance.clone()),
            // A seed that has just restarted is to hear of its cluster before it founds another.
            Use::ToWhoever => Backoff::up_to(SEED_PAUSE, self.means.chance.clone()),
        };
        let mut trouble = None;
        loop {
            let stirred = timeout(IDLE, self.queue.stirred()).await;
            // One whose life is over says what it has on the connection it has; it makes no new one.
            if self.queue.is_over() || stirred.is_err() && self.queue.end_if_empty() {
                add(&self.means.counters.dropped, self.queue.clear());
                return;
            }
            let dialled = self.means.dialer.dial(&self.address, self.what_for).await;
            let is_unresolved = matches!(dialled, Err(Failure::Unresolved(_)));
            self.addresses().note_name(&self.address, !is_unresolved);
            match dialled {
                Ok(connection) => {
                    let peer = &connection.peer;
                    self.addresses().meet(peer);
                    if trouble.take().is_some() {
                        tracing::info!(peer = %peer, "reached");
                    }
                    let mut progress = Progress::new(self.means.clock.now());
                    match self.carry(connection, &mut progress).await {
                        Over::Idle if self.queue.end_if_empty() => return,
                        Over::Idle => continue,
                        Over::Broken(why) => {
                            tracing::debug!(peer = %self.address, why, "a control connection broke");
                            add(&self.means.counters.broken, 1);
                        }
                    }
                    // One that took something was a good connection: who was parted from it is soon back.
                    if progress.taken > 0 {
                        backoff.reset();
                    }
                }
                Err(failure) => {
                    add(&self.means.counters.dropped, self.queue.clear());
                    self.report(&failure);
                    if trouble.as_ref() != Some(&failure) {
                        self.log(&failure);
                        trouble = Some(failure);
                    }
                }
            }
            sleep(backoff.pause()).await;
        }
    }

    fn addresses(&self) -> MutexGuard<'_, Addresses> {
        self.means.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the machine what it can use. If its queue is full it will be told at the next attempt.
    fn report(&self, failure: &Failure) {
        if let (Failure::Nobody(_) | Failure::AnotherLife, Use::ToLife(uid)) = (failure, self.what_for) {
            let input = Input::Command(Command::Refused(uid));
            let _ = self.means.heard.try_send(Heard::new(input));
        }
    }

    fn log(&self, failure: &Failure) {
        let peer = &self.address;
        match failure {
            Failure::Unresolved(why) => tracing::info!(%peer, why, "name does not resolve"),
            Failure::Nobody(why) | Failure::Unreachable(why) => {
                tracing::info!(%peer, why, "cannot be reached");
            }
            Failure::AnotherLife => tracing::info!(%peer, "was restarted: another life listens there"),
            Failure::Myself => {}
            Failure::Refused(why) => tracing::warn!(%peer, why, "peer refused the connection"),
        }
    }

    /// Says what there is to say on one connection.
    async fn carry(&self, connection: Connection, progress: &mut Progress) -> Over {
        let sizes = Sizes {
            frame_max: usize::try_from(connection.frame_max).unwrap_or(usize::MAX),
            message_max: usize::try_from(connection.message_max).unwrap_or(usize::MAX),
        };
        let (mut reader, mut writer) = tokio::io::split(connection.stream);
        let mut answers = FrameBuffer::new(BEFORE_AUTHENTICATION);
        loop {
            tokio::select! {
                biased;
                read = reader.read(answers.spare()) => match read {
                    Ok(0) => return Over::Broken("closed by the other side".to_owned()),
                    Ok(read) => {
                        answers.filled(read);
                        if let ControlFlow::Break(over) = progress.take(&mut answers, self.means.clock.now()) {
                            return over;
                        }
                    }
                    Err(error) => return Over::Broken(error.to_string()),
                },
                () = self.queue.stirred() => {
                    let out = self.gather(sizes);
                    if out.is_empty() && self.queue.is_over() {
                        return Over::Idle;
                    }
                    match timeout(SILENCE, write(&mut writer, &out)).await {
                        Ok(Ok(())) => progress.sent(out.len(), self.means.clock.now()),
                        Ok(Err(error)) => return Over::Broken(error.to_string()),
                        Err(_) => return Over::Broken("the other side takes nothing".to_owned()),
                    }
                }
                () = self.means.clock.sleep_towards(progress.due()) => {
                    if progress.due() <= self.means.clock.now() {
                        return progress.over();
                    }
                }
            }
        }
    }

    /// Some of what waits, as frames.
    fn gather(&self, sizes: Sizes) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < BATCH
            && let Some(message) = self.queue.take()
        {
            let frame = Open::control(&mut out);
            out.extend_from_slice(&message);
            if let Err(error) = frame.close(&mut out, sizes) {
                tracing::warn!(peer = %self.address, %error, "a control message is too large for its peer");
                add(&self.means.counters.dropped, 1);
            }
        }
        out
    }
}

async fn write(writer: &mut WriteHalf<Box<dyn Stream>>, bytes: &[u8]) -> std::io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

/// How far the other end follows.
struct Progress {
    sent: u64,
    taken: u64,
    /// When it last took something, or when there last was nothing to take.
    since: Timestamp,
}

impl Progress {
    fn new(now: Timestamp) -> Self {
        Self { sent: 0, taken: 0, since: now }
    }

    fn sent(&mut self, bytes: usize, now: Timestamp) {
        if self.sent == self.taken {
            self.since = now;
        }
        self.sent += bytes as u64;
    }

    fn take(&mut self, answers: &mut FrameBuffer, now: Timestamp) -> ControlFlow<Over> {
        loop {
            match answers.next() {
                Ok(None) => return ControlFlow::Continue(()),
                Ok(Some(Frame::Ack { position })) if position <= self.sent && position >= self.taken => {
                    self.taken = position;
                    self.since = now;
                }
                Ok(Some(frame)) => {
                    return ControlFlow::Break(Over::Broken(format!("it says {:?} here", frame.kind())));
                }
                Err(error) => return ControlFlow::Break(Over::Broken(error.to_string())),
            }
        }
    }

    fn due(&self) -> Timestamp {
        self.since + if self.sent == self.taken { IDLE } else { SILENCE }
    }

    fn over(&self) -> Over {
        if self.sent == self.taken { Over::Idle } else { Over::Broken("the other side is silent".to_owned()) }
    }
}
