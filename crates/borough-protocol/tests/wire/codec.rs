//! Writing and reading as a transport does it.

use borough_protocol::node::Message;
use serde::{Deserialize, Serialize};

pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).expect("memory takes it")
}

/// Reads a whole message; `None` if it is none, or if something is left over.
pub(crate) fn decode(bytes: &[u8]) -> Option<Message> {
    read(bytes)
}

pub(crate) fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}
