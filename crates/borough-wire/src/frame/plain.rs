//! Nearly every message: a tell or an ask with neither trace nor chain, read where it lies and without a [`Frame`](super::Frame) made of it.
//!
//! The promise: what is taken as a plain message is one by the rules of frames too, and means the same. What is not is left
//! for them to judge.

use super::front::Front;
use super::{Kind, flags};
use crate::codec::CodecId;

const TELL: u8 = Kind::Tell.number();
const ASK: u8 = Kind::Ask.number();

/// A message without trace and chain, as its reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<'a> {
    /// Who it is for.
    pub target: u64,
    /// If it wants an answer, by which number the answer finds its asker, and for how many milliseconds that one waits.
    pub ask: Option<(u64, Option<u32>)>,
    /// What wrote the body.
    pub codec: CodecId,
    /// The encoded message.
    pub body: &'a [u8],
}

impl<'a> Plain<'a> {
    /// Reads the frame at the front of `bytes`, length and all, and gives what follows it; `None` if that is no whole plain message.
    #[inline]
    pub fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (Front { kind, parts, codec, mut fields }, rest) = Front::read(bytes)?;
        let target = fields.long()?;
        let ask = match (kind, parts) {
            (TELL, 0) => None,
            (ASK, 0) => Some((fields.long()?, None)),
            (ASK, flags::DEADLINE) => Some((fields.long()?, Some(fields.word()?))),
            _ => return None,
        };
        Some((Self { target, ask, codec, body: fields.0 }, rest))
    }
}
