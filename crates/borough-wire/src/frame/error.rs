//! What can be wrong with a frame.

use super::Kind;

/// Bytes that are no frame of this version. Nothing was taken from them; the connection is to be closed, because what follows
/// cannot be trusted either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame longer than the limit that the peer was told.
    #[error(
        "a frame of {length} bytes is larger than frame_max, {most}: the peer must cut it into chunks; close the connection"
    )]
    TooLong {
        /// What the frame says, in bytes after the length.
        length: usize,
        /// The limit.
        most: usize,
    },
    /// A frame that ends within its fields.
    #[error("a frame ends after {length} bytes, within its fields: close the connection")]
    Short {
        /// Its bytes after the length.
        length: usize,
    },
    /// A frame that goes on after its last field.
    #[error("a frame of the kind {kind:?} has {left} bytes after its last field: close the connection")]
    Trailing {
        /// Its kind.
        kind: Kind,
        /// How many.
        left: usize,
    },
    /// A kind that the agreed version does not have.
    #[error("a frame has the kind {number}, which this version does not know: close the connection")]
    UnknownKind {
        /// Its number.
        number: u8,
    },
    /// Flags that the agreed version does not have, or not for this kind.
    #[error(
        "a frame of the kind {kind:?} has the flags {flags:#010b}, which are not for it: close the connection"
    )]
    UnknownFlags {
        /// Its kind.
        kind: Kind,
        /// All its flags.
        flags: u8,
    },
    /// A codec that this version has no number for.
    #[error(
        "a frame of the kind {kind:?} has a body of the codec {number}, which this version does not know: close the connection"
    )]
    UnknownCodec {
        /// Its kind.
        kind: Kind,
        /// The number of the codec.
        number: u8,
    },
    /// A text longer than its limit.
    #[error("the {field} in a frame has {length} bytes and may have {most}: close the connection")]
    TextTooLong {
        /// Which text.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// Its limit.
        most: usize,
    },
    /// A text that is not UTF-8.
    #[error("the {field} in a frame is not UTF-8: close the connection")]
    NotText {
        /// Which text.
        field: &'static str,
    },
    /// A field with a value that it cannot have.
    #[error("the {field} in a frame is {value}: close the connection")]
    BadField {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
    /// A chunk with nothing in it, of which there could be any number.
    #[error("a chunk is empty: close the connection")]
    EmptyChunk,
}

/// A message that the peer would refuse. Nothing of it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a message of {length} bytes is larger than the peer's message_max, {most}: send less, or raise it on the receiving nodes"
)]
pub struct TooLarge {
    /// Its bytes, with kind and fields.
    pub length: usize,
    /// The peer's limit.
    pub most: usize,
}
