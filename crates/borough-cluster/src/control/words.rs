//! The words of the control lane as bytes: postcard of the machine's messages, whose order is frozen by golden bytes over there.

use borough_protocol::node::Message;

/// Bytes that are no word of ours. The connection they came by is closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a control message of {length} bytes cannot be read: {source}; is the peer of another version?")]
pub(crate) struct Unreadable {
    length: usize,
    source: postcard::Error,
}

/// The bytes of a message; `None` if it cannot be written, which no message of ours is.
pub(crate) fn encode(message: &Message) -> Option<Vec<u8>> {
    postcard::to_allocvec(message).ok()
}

/// The message of these bytes, all of them.
pub(crate) fn decode(bytes: &[u8]) -> Result<Message, Unreadable> {
    let unreadable = |source| Unreadable { length: bytes.len(), source };
    let (message, left) = postcard::take_from_bytes(bytes).map_err(unreadable)?;
    if left.is_empty() { Ok(message) } else { Err(unreadable(postcard::Error::SerdeDeCustom)) }
}
