//! A stream written in batches of 64 KiB and read in pieces as large, each message behind its length.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const BATCH: usize = 64 * 1024;
/// Bytes of a length.
const PREFIX: usize = 2;
/// More than any frame here takes.
const FRAME_MOST: usize = 128;

/// One end of a stream of messages. Both ends are ours, so a frame that cannot be read ends the program.
pub(super) struct Frames {
    stream: TcpStream,
    /// Encoded and not yet written: all before `unwritten`.
    outgoing: Box<[u8]>,
    unwritten: usize,
    /// Read and not yet decoded: from `decoded` to `filled`.
    incoming: Box<[u8]>,
    decoded: usize,
    filled: usize,
}

impl Frames {
    pub(super) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a connected stream");
        let buffer = || vec![0; BATCH].into_boxed_slice();
        Self { stream, outgoing: buffer(), unwritten: 0, incoming: buffer(), decoded: 0, filled: 0 }
    }

    /// Adds a message to the batch; writes the batch first if the message might not fit.
    pub(super) async fn push(&mut self, message: &impl Serialize) {
        if BATCH - self.unwritten < FRAME_MOST {
            self.flush().await;
        }
        let (prefix, body) = self.outgoing[self.unwritten..].split_at_mut(PREFIX);
        let length = postcard::to_slice(message, body).expect("a short message").len();
        prefix.copy_from_slice(&u16::try_from(length).expect("a short message").to_le_bytes());
        self.unwritten += PREFIX + length;
    }

    /// Writes what is in the batch.
    pub(super) async fn flush(&mut self) {
        self.stream.write_all(&self.outgoing[..self.unwritten]).await.expect("the other end lives");
        self.unwritten = 0;
    }

    /// The next message among the bytes already read.
    pub(super) fn pop<T: DeserializeOwned>(&mut self) -> Option<T> {
        let (prefix, rest) = self.incoming[self.decoded..self.filled].split_first_chunk::<PREFIX>()?;
        let length = usize::from(u16::from_le_bytes(*prefix));
        let message = postcard::from_bytes(rest.get(..length)?).expect("a message of ours");
        self.decoded += PREFIX + length;
        Some(message)
    }

    /// Reads more; false once the other end has closed.
    pub(super) async fn fill(&mut self) -> bool {
        self.incoming.copy_within(self.decoded..self.filled, 0);
        self.filled -= self.decoded;
        self.decoded = 0;
        // A client that ends may reset the stream instead of closing it.
        let read = self.stream.read(&mut self.incoming[self.filled..]).await.unwrap_or(0);
        self.filled += read;
        read > 0
    }

    /// The next message, read first if need be; `None` once the other end has closed.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            if let Some(message) = self.pop() {
                return Some(message);
            }
            if !self.fill().await {
                return None;
            }
        }
    }
}
