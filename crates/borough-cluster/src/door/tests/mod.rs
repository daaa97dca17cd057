//! Two doors, and what strangers do at one.

mod garbage;
mod knowing;
mod replay;
mod siege;
mod talking;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use borough_protocol::incarnation::{Address, Uid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::refusals::Refusal;
use super::*;
use crate::testing::MemoryNetwork;
use crate::transport::Boxed;

pub(super) const A: &str = "a.test:1";
pub(super) const B: &str = "b.test:1";

pub(super) fn incarnation(address: &str, uid: u64) -> Incarnation {
    Incarnation { address: Address::new(address), uid: Uid::new(uid).unwrap() }
}

pub(super) fn secret(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

/// What a door is made of; the tests change what they are about.
pub(super) struct Maker {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) secret: Option<Secret>,
    pub(super) cluster: &'static str,
    pub(super) who: Incarnation,
    pub(super) limits: Limits,
}

impl Maker {
    pub(super) fn new(transport: impl Transport + 'static, who: Incarnation) -> Self {
        let transport = Arc::new(transport);
        Self { transport, secret: None, cluster: "shop", who, limits: Limits::default() }
    }

    pub(super) fn on(network: &MemoryNetwork, address: &str, uid: u64) -> Self {
        Self::new(network.transport(Address::new(address)), incarnation(address, uid))
    }

    pub(super) fn door(self) -> Arc<Door> {
        let chance = Chance::seeded(self.who.uid.get());
        let myself = Myself::new(self.who);
        Arc::new(Door::new(self.transport, self.secret, self.cluster.to_owned(), myself, self.limits, chance))
    }
}

/// Lets everybody in, unless told otherwise, and keeps those who came.
pub(super) struct Porter {
    resume: Result<u64, NotAdmitted>,
    entered: mpsc::UnboundedSender<Connection>,
}

impl Doorman for Porter {
    fn admit(&self, _guest: &Guest) -> Result<Admission, NotAdmitted> {
        self.resume.map(|resume| Admission { resume, ticket: 0 })
    }

    fn enter(&self, connection: Connection) {
        drop(self.entered.send(connection));
    }
}

/// A door that is open, until it is dropped.
pub(super) struct Open {
    pub(super) door: Arc<Door>,
    pub(super) address: Address,
    pub(super) entered: mpsc::UnboundedReceiver<Connection>,
    task: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Open {
    pub(super) async fn at(maker: Maker) -> Self {
        Self::with(maker, Ok(0)).await
    }

    pub(super) async fn with(maker: Maker, resume: Result<u64, NotAdmitted>) -> Self {
        let listener = maker.transport.bind(&maker.who.address).await.unwrap();
        let address = listener.local_address().unwrap();
        let door = maker.door();
        let (sender, entered) = mpsc::unbounded_channel();
        let porter = Arc::new(Porter { resume, entered: sender });
        let task = tokio::spawn(door.clone().listen(listener, porter));
        Self { door, address, entered, task }
    }

    pub(super) async fn entered(&mut self) -> Connection {
        self.entered.recv().await.unwrap()
    }

    /// Waits until that many were turned away, and tells that it was for this reason alone.
    pub(super) async fn turned_away(&self, reason: Refusal, count: u64) {
        let is_so = || self.door.refusals().total() >= count;
        for _ in 0..1_000_000 {
            if is_so() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let counts: Vec<_> = self.door.refusals().iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counts, [(reason, count)]);
    }
}

/// A transport that keeps what is sent through it.
#[derive(Clone)]
pub(super) struct Tapped {
    pub(super) below: Arc<dyn Transport>,
    pub(super) sent: Arc<Mutex<Vec<u8>>>,
}

impl Transport for Tapped {
    fn bind(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn crate::transport::Listener>>> {
        self.below.bind(address)
    }

    fn dial(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        let address = address.clone();
        Box::pin(async move {
            let below = self.below.dial(&address).await?;
            Ok(Box::new(TappedStream { below, sent: self.sent.clone() }) as Box<dyn Stream>)
        })
    }

    fn secure(&self, stream: Box<dyn Stream>) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        self.below.secure(stream)
    }
}

struct TappedStream {
    below: Box<dyn Stream>,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Stream for TappedStream {
    fn rehome(&mut self) -> io::Result<()> {
        self.below.rehome()
    }

    fn vouches_for(&self, address: &Address) -> Option<bool> {
        self.below.vouches_for(address)
    }
}

impl AsyncRead for TappedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.below).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TappedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = std::task::ready!(Pin::new(&mut self.below).poll_write(cx, bytes))?;
        self.sent.lock().unwrap().extend_from_slice(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.below).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.below).poll_shutdown(cx)
    }
}

/// Connects without any handshake.
pub(super) async fn stranger(network: &MemoryNetwork, to: &Address) -> Box<dyn Stream> {
    network.transport(Address::new("stranger")).dial(to).await.unwrap()
}

/// Everything the other side says until it closes.
pub(super) async fn last_words(stream: &mut Box<dyn Stream>) -> Vec<u8> {
    let mut words = Vec::new();
    drop(stream.read_to_end(&mut words).await);
    words
}

/// Sends one byte over a connection.
pub(super) async fn pass(from: &mut Connection, to: &mut Connection, byte: u8) {
    from.stream.write_u8(byte).await.unwrap();
    from.stream.flush().await.unwrap();
    assert_eq!(to.stream.read_u8().await.unwrap(), byte);
}
