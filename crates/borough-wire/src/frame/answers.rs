//! Answers that follow each other: taken from a buffer at once, and read where they lie without a [`Frame`](super::Frame) made of each.
//!
//! The promise: what is taken as an answer is one by the rules of frames too, and means the same. What is not is left for them to
//! judge.

use super::Kind;
use super::front::{Front, each, keeps};
use crate::codec::CodecId;

/// An answer, as its reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The number by which it finds its asker.
    pub ask: u64,
    /// What wrote the body.
    pub codec: CodecId,
    /// The encoded answer.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// Reads the frame at the front of `bytes`, length and all, and gives what follows it; `None` if that is no whole answer.
    #[inline]
    pub(super) fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (Front { kind, parts, codec, mut fields }, rest) = Front::read(bytes)?;
        let ask = fields.long()?;
        let is_answer = kind == Kind::Answer.number() && parts == 0;
        is_answer.then_some((Self { ask, codec, body: fields.0 }, rest))
    }
}

/// Answers, at least one, each checked, as they lie one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Answers<'a> {
    bytes: &'a [u8],
}

impl<'a> Answers<'a> {
    /// Those at the front of `bytes`, up to a frame of more than `frame_max` bytes after its length.
    #[inline]
    pub(super) fn first(bytes: &'a [u8], frame_max: usize) -> Option<Self> {
        let mut rest = bytes;
        while let Some((_, after)) = Answer::first(rest)
            && keeps(frame_max, rest.len() - after.len())
        {
            rest = after;
        }
        let taken = bytes.len() - rest.len();
        (taken > 0).then(|| Self { bytes: &bytes[..taken] })
    }

    /// Their frames, each with its length.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Answer<'a>> + use<'a> {
        each(self.bytes, Answer::first)
    }
}
