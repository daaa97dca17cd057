//! The frame at the front of bytes, as far as messages and answers have it in common, and those that follow it.

use super::flags;
use crate::bytes::Bytes;
use crate::codec::CodecId;

/// The bytes of a frame's length.
pub(super) const LENGTH: usize = 4;

/// What stands before the fields of a message or an answer.
pub(super) struct Front<'a> {
    pub(super) kind: u8,
    /// Which parts follow the fields.
    pub(super) parts: u8,
    pub(super) codec: CodecId,
    pub(super) fields: Bytes<'a>,
}

impl<'a> Front<'a> {
    /// Reads it, length and all, and gives what follows the frame; `None` if the frame is not whole, or its codec is none.
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut bytes = Bytes(bytes);
        let length = usize::try_from(bytes.word()?).ok()?;
        let mut fields = Bytes(bytes.take(length)?);
        let [kind, flags] = fields.array()?;
        let (codec, parts) = (CodecId::from_number(flags >> 4)?, flags & flags::PARTS);
        Some((Self { kind, parts, codec, fields }, bytes.0))
    }
}

/// Whether a frame, length and all, keeps a limit for what follows its length.
#[inline]
pub(super) fn keeps(frame_max: usize, size: usize) -> bool {
    size <= frame_max.saturating_add(LENGTH)
}

/// What `first` reads, from the front on, until it reads none.
#[inline]
pub(super) fn each<'a, T>(
    bytes: &'a [u8],
    first: impl Fn(&'a [u8]) -> Option<(T, &'a [u8])>,
) -> impl Iterator<Item = T> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (next, after) = first(rest)?;
        rest = after;
        Some(next)
    })
}
