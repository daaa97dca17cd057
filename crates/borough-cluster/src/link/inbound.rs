//! Reads one lane of one peer, for as long as its connection lasts.
//!
//! Reading stops while too much waits for actors that are full; acknowledgements go on, so that the peer can tell a busy node from
//! a broken connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_wire::frame::{FrameBuffer, put_ack};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf, ReadHalf, WriteHalf, split};
use tokio::time::{Instant, Sleep, sleep};

use super::session::{Broken, Session, Taken};
use super::{ACK_BYTES, askers};
use crate::transport::Stream;

/// The longest that anything is unacknowledged.
const ACK_DELAY: Duration = Duration::from_millis(200);
/// How often an acknowledgement is repeated while reading stands still, or one message takes long to arrive.
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
    session: Arc<Session>,
    ticket: u64,
    stream: Box<dyn Stream>,
    frame_max: usize,
) -> Result<(), Broken> {
    let (reader, mut writer) = split(stream);
    let _leaves = Leaves { session: session.clone(), ticket };
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
    writer.write_all(&ack).await?;
    writer.flush().await
}

/// The connection is read no more, however that came.
struct Leaves {
    session: Arc<Session>,
    ticket: u64,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.session.leave(self.ticket);
    }
}

struct Inbound {
    session: Arc<Session>,
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
        let Some(mut reading) = shared.reading(self.ticket) else { return Poll::Ready(Step::Superseded) };
        let mut askers = reading.look_after_askers();
        let gathering = loop {
            let Some(position) = shared.position(self.ticket, cx.waker()) else {
                return Poll::Ready(Step::Superseded);
            };
            let acknowledged = *self.acknowledged.get_or_insert(position);
            self.held = reading.poll_flush(cx).is_pending();
            if position - acknowledged >= ACK_BYTES as u64 || reading.take_asked() {
                return Poll::Ready(Step::Acknowledge(position));
            }
            if self.held {
                break reading.is_gathering();
            }
            let mut spare = ReadBuf::new(self.buffer.spare());
            match Pin::new(&mut self.reader).poll_read(cx, &mut spare) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Step::Ended),
                Poll::Pending => break reading.is_gathering(),
            }
            let read = spare.filled().len();
            if read == 0 {
                return Poll::Ready(Step::Ended);
            }
            self.buffer.filled(read);
            match reading.take(&shared, &mut self.buffer) {
                Ok(Taken::All) => {}
                Ok(Taken::Superseded) => return Poll::Ready(Step::Superseded),
                Err(broken) => return Poll::Ready(Step::Broken(broken)),
            }
            if reading.look_after_askers() {
                // They are woken by this worker, so it reads no more now. Another goes on, and looks after them if this one is held up.
                askers = true;
                cx.waker().wake_by_ref();
                break reading.is_gathering();
            }
        };
        drop(reading);
        let Some(position) = shared.position(self.ticket, cx.waker()) else {
            return Poll::Ready(Step::Superseded);
        };
        let stands = self.acknowledged == Some(position);
        let delay = if askers {
            askers::PATIENCE
        } else if !stands {
            ACK_DELAY
        } else if self.held || gathering {
            ACK_REPEAT
        } else {
            return Poll::Pending;
        };
        // Nothing can be read now: what is left is acknowledged when its time has come.
        poll_timer(cx, timer.as_mut(), armed, delay).map(|()| Step::Acknowledge(position))
    }
}

/// Ready when so much time has gone by, or less, since this was first asked.
fn poll_timer(
    cx: &mut Context<'_>,
    mut timer: Pin<&mut Sleep>,
    armed: &mut bool,
    delay: Duration,
) -> Poll<()> {
    let at = Instant::now() + delay;
    if !*armed || at < timer.deadline() {
        timer.as_mut().reset(at);
        *armed = true;
    }
    if timer.poll(cx).is_pending() {
        return Poll::Pending;
    }
    *armed = false;
    Poll::Ready(())
}
