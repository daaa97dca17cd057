//! One connection by which a peer speaks to this node.
//!
//! Promise: what comes is handed to the machine in order, as fast as the machine takes it and no faster; then the peer has to wait. What cannot
//! be read closes this connection and nothing else.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use borough_protocol::node::Input;
use borough_protocol::time::Timestamp;
use borough_wire::frame::{Assembler, Frame, FrameBuffer, put_ack};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc};

use super::counts::{Counters, add};
use super::driver::Heard;
use super::words;
use crate::clock::Clock;
use crate::door::Connection;

/// A peer closes a connection by which it has nothing to say; one that says nothing for longer than that is not there any more.
const SILENCE: Duration = Duration::from_secs(90);

/// How often what was taken is acknowledged.
const ACKNOWLEDGE: Duration = Duration::from_millis(500);

/// Room is counted in units of so many bytes.
const UNIT: usize = 1024;

/// How much may wait for the machine: 16 MiB, or one message that is larger.
const ROOM: usize = 16 * 1024;

/// How often it is logged that something cannot be read.
const LOGGED: Duration = Duration::from_secs(60);

/// What every such connection needs.
#[derive(Clone)]
pub(super) struct Ear {
    heard: mpsc::Sender<Heard<Input>>,
    /// How much may wait for the machine, in units of [`UNIT`] bytes.
    pub(super) room: Arc<Semaphore>,
    pub(super) counters: Arc<Counters>,
    pub(super) clock: Clock,
}

impl Ear {
    pub(super) fn new(heard: mpsc::Sender<Heard<Input>>, counters: Arc<Counters>, clock: Clock) -> Self {
        Self { heard, room: Arc::new(Semaphore::new(ROOM)), counters, clock }
    }

    /// Listens until the connection ends or says what cannot be read.
    pub(super) async fn listen(self, connection: Connection) {
        let peer = connection.peer.clone();
        if let Err(why) = self.take_all(connection).await {
            add(&self.counters.unreadable, 1);
            if self.may_log() {
                let count = self.counters.unreadable.load(Ordering::Relaxed);
                tracing::warn!(%peer, why, count, "a control connection was closed: it cannot be read");
            }
        }
    }

    async fn take_all(&self, connection: Connection) -> Result<(), String> {
        let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
        let mut frames = FrameBuffer::new(size(connection.frame_max));
        let mut assembler = Assembler::new(size(connection.message_max));
        let from = connection.peer.uid;
        let (mut reader, mut writer) = tokio::io::split(connection.stream);
        let mut acknowledged = (0_u64, Timestamp::ZERO);
        let (mut taken, mut last) = (0_u64, self.clock.now());
        loop {
            let due = if taken == acknowledged.0 { last + SILENCE } else { acknowledged.1 + ACKNOWLEDGE };
            tokio::select! {
                biased;
                read = reader.read(frames.spare()) => match read {
                    Ok(0) | Err(_) => return Ok(()),
                    Ok(read) => {
                        frames.filled(read);
                        taken += read as u64;
                        last = self.clock.now();
                    }
                },
                () = self.clock.sleep_towards(due) => {}
            }
            while let Some(frame) = frames.next().map_err(|error| error.to_string())? {
                match assembler.take(frame).map_err(|error| error.to_string())? {
                    None => {}
                    Some(Frame::Control { body }) => {
                        // Before it is decoded: what waits for room takes none.
                        let room = self.room.clone().acquire_many_owned(units(body.len())).await;
                        let Ok(room) = room else { return Ok(()) };
                        let message = words::decode(body).map_err(|error| error.to_string())?;
                        let input = Input::Message { from, message };
                        if self.heard.send(Heard::taking(room, input)).await.is_err() {
                            return Ok(());
                        }
                    }
                    Some(other) => {
                        return Err(format!("{:?} has no place on the control lane", other.kind()));
                    }
                }
            }
            let now = self.clock.now();
            if taken > acknowledged.0 && now >= acknowledged.1 + ACKNOWLEDGE {
                let mut ack = Vec::with_capacity(16);
                put_ack(&mut ack, taken);
                // So little always has room in the system's buffer, unless the peer reads nothing at all.
                let written = tokio::time::timeout(SILENCE, async {
                    writer.write_all(&ack).await?;
                    writer.flush().await
                });
                if !matches!(written.await, Ok(Ok(()))) {
                    return Ok(());
                }
                acknowledged = (taken, now);
            } else if taken == acknowledged.0 && now.since(last) >= SILENCE {
                return Ok(());
            }
        }
    }

    /// Whether it was not logged just now.
    fn may_log(&self) -> bool {
        let now = self.clock.now().as_nanos().max(1);
        let before = self.counters.logged.load(Ordering::Relaxed);
        let long_ago = Timestamp::from_nanos(now).since(Timestamp::from_nanos(before)) >= LOGGED;
        (before == 0 || long_ago)
            && self
                .counters
                .logged
                .compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

/// The room that a message takes.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT).clamp(1, ROOM)).unwrap_or(u32::MAX)
}
