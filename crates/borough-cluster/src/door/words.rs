//! The messages of a handshake, read from a stream and written to it.
//!
//! Promise: nothing beyond a message is read, nothing beyond 4 KiB is held, and the memory grows with what arrives.

use std::io;

use borough_protocol::incarnation::{Address, Incarnation, Uid};
use borough_wire::handshake::{HandshakeError, missing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::transport::Stream;

/// What can go wrong while two nodes greet each other.
#[derive(Debug)]
pub(super) enum Broken {
    Io(io::Error),
    Handshake(HandshakeError),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<HandshakeError> for Broken {
    fn from(error: HandshakeError) -> Self {
        Self::Handshake(error)
    }
}

/// Reads one whole message, and not a byte of what follows it. Notes whether anything came at all.
pub(super) async fn hear(stream: &mut Box<dyn Stream>, was_heard: &mut bool) -> Result<Vec<u8>, Broken> {
    let mut message = Vec::new();
    loop {
        let more = missing(&message)?;
        if more == 0 {
            return Ok(message);
        }
        // By what arrives, not by what was announced; and at each step a stranger may prove to be one.
        let read = (&mut *stream).take(more as u64).read_buf(&mut message).await?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        *was_heard = true;
    }
}

/// Writes what was put into the buffer, and empties it.
pub(super) async fn say(stream: &mut Box<dyn Stream>, out: &mut Vec<u8>) -> io::Result<()> {
    if !out.is_empty() {
        stream.write_all(out).await?;
        stream.flush().await?;
        out.clear();
    }
    Ok(())
}

/// Who says so of itself; `None` if there can be no such node.
pub(super) fn incarnation(address: &str, uid: u64) -> Option<Incarnation> {
    let uid = Uid::new(uid).filter(|uid| *uid != Uid::STORE)?;
    (!address.is_empty()).then(|| Incarnation { address: Address::new(address), uid })
}
