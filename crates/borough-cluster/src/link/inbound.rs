//! Reads one lane of one peer, for as long as its connection lasts.
//!
//! Reading stops while too much waits for actors that are full; acknowledgements go on, so that the peer can tell a busy node from
//! a broken connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use borough_wire::frame::{FrameBuffer, put_ack};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf, ReadHalf, WriteHalf, split};
use tokio::time::{Instant, Sleep, sleep};

use super::session::{Broken, Session};
use crate::transport::Stream;

/// As soon as so many bytes are unacknowledged they are acknowledged.
const ACK_BYTES: u64 = 64 * 1024;
/// The longest that anything is unacknowledged.
const ACK_DELAY: Duration = Duration::from_millis(200);
/// How often an acknowledgement is repeated while reading stands still.
const ACK_REPEAT: Duration = Duration::from_secs(2);

/// What a step of reading led to.
enum Step {
    Acknowledge(u64),
    Ended,
    Broken(Broken),
    /// Another connection took over.
    Superseded,
}

/// Reads until the connection ends; says if the peer broke a rule.
pub(super) async fn run(
    session: Arc<Mutex<Session>>,
    ticket: u64,
    stream: Box<dyn Stream>,
    frame_max: usize,
) -> Result<(), Broken> {
    let (reader, mut writer) = split(stream);
    let mut inbound = Inbound {
        session,
        ticket,
        reader,
        buffer: FrameBuffer::new(frame_max),
        acknowledged: None,
        held: false,
    };
    let mut timer = pin!(sleep(Duration::ZERO));
    let mut armed = false;
    loop {
        match poll_fn(|cx| inbound.poll_step(cx, timer.as_mut(), &mut armed)).await {
            Step::Acknowledge(position) => {
                if acknowledge(&mut writer, position).await.is_err() {
                    return Ok(());
                }
                inbound.acknowledged = Some(position);
            }
            Step::Ended | Step::Superseded => return Ok(()),
            Step::Broken(broken) => return Err(broken),
        }
    }
}

async fn acknowledge(writer: &mut WriteHalf<Box<dyn Stream>>, position: u64) -> std::io::Result<()> {
    let mut ack = Vec::with_capacity(32);
    put_ack(&mut ack, position);
    writer.write_all(&ack).await
}

struct Inbound {
    session: Arc<Mutex<Session>>,
    ticket: u64,
    reader: ReadHalf<Box<dyn Stream>>,
    buffer: FrameBuffer,
    /// What was acknowledged last; nothing yet on this connection.
    acknowledged: Option<u64>,
    /// Whether reading stood still at the last look.
    held: bool,
}

impl Inbound {
    fn poll_step(
        &mut self,
        cx: &mut Context<'_>,
        mut timer: Pin<&mut Sleep>,
        armed: &mut bool,
    ) -> Poll<Step> {
        let shared = self.session.clone();
        let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if !session.is_of(self.ticket) {
            return Poll::Ready(Step::Superseded);
        }
        let acknowledged = *self.acknowledged.get_or_insert(session.position());
        loop {
            self.held = session.poll_flush(cx).is_pending();
            if session.position() - acknowledged >= ACK_BYTES {
                return Poll::Ready(Step::Acknowledge(session.position()));
            }
            if self.held {
                break;
            }
            let mut spare = ReadBuf::new(self.buffer.spare());
            match Pin::new(&mut self.reader).poll_read(cx, &mut spare) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Step::Ended),
                Poll::Pending => break,
            }
            let read = spare.filled().len();
            if read == 0 {
                return Poll::Ready(Step::Ended);
            }
            self.buffer.filled(read);
            if let Err(broken) = session.take(&mut self.buffer) {
                return Poll::Ready(Step::Broken(broken));
            }
        }
        self.poll_timer(cx, timer.as_mut(), armed, session.position(), acknowledged)
    }

    /// Nothing can be read now: acknowledges what is left when its time has come.
    fn poll_timer(
        &self,
        cx: &mut Context<'_>,
        mut timer: Pin<&mut Sleep>,
        armed: &mut bool,
        position: u64,
        acknowledged: u64,
    ) -> Poll<Step> {
        if position == acknowledged && !self.held {
            return Poll::Pending;
        }
        if !*armed {
            let delay = if self.held { ACK_REPEAT } else { ACK_DELAY };
            timer.as_mut().reset(Instant::now() + delay);
            *armed = true;
        }
        if timer.poll(cx).is_pending() {
            return Poll::Pending;
        }
        *armed = false;
        Poll::Ready(Step::Acknowledge(position))
    }
}
