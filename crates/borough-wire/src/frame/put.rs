//! From a frame to bytes: appended to a buffer with one reservation, without anything in between.
//!
//! Who calls keeps the limits: a frame larger than the peer's `frame_max` goes through [`put_chunks`], or through
//! [`Open`](super::Open), which sees to it.

use super::{Frame, FrameError, Kind, Trace, flags};
use crate::codec::CodecId;
use crate::limits::{PATH_MAX, TEXT_MAX};

/// Appends a [`Frame::Tell`] without a trace.
#[inline]
pub fn put_tell(out: &mut Vec<u8>, target: u64, codec: CodecId, body: &[u8]) {
    let mut head = [0; 14];
    head[6..14].copy_from_slice(&target.to_le_bytes());
    put_message(out, head, Kind::Tell, codec, body);
}

/// Appends a [`Frame::Ask`] without a trace. `deadline` is in milliseconds.
#[inline]
pub fn put_ask(out: &mut Vec<u8>, target: u64, ask: u64, codec: CodecId, deadline: Option<u32>, body: &[u8]) {
    if let Some(deadline) = deadline {
        let mut head = [0; 26];
        head[5] = flags::DEADLINE;
        head[6..14].copy_from_slice(&target.to_le_bytes());
        head[14..22].copy_from_slice(&ask.to_le_bytes());
        head[22..26].copy_from_slice(&deadline.to_le_bytes());
        put_message(out, head, Kind::Ask, codec, body);
    } else {
        let mut head = [0; 22];
        head[6..14].copy_from_slice(&target.to_le_bytes());
        head[14..22].copy_from_slice(&ask.to_le_bytes());
        put_message(out, head, Kind::Ask, codec, body);
    }
}

/// Appends a [`Frame::Answer`].
#[inline]
pub fn put_answer(out: &mut Vec<u8>, ask: u64, codec: CodecId, body: &[u8]) {
    let mut head = [0; 14];
    head[6..14].copy_from_slice(&ask.to_le_bytes());
    put_message(out, head, Kind::Answer, codec, body);
}

/// Appends a [`Frame::Ack`].
#[inline]
pub fn put_ack(out: &mut Vec<u8>, position: u64) {
    let mut head = [0; 14];
    head[4] = Kind::Ack.number();
    head[6..14].copy_from_slice(&position.to_le_bytes());
    put_with_length(out, head, &[]);
}

/// Appends a [`Frame::Control`].
#[inline]
pub fn put_control(out: &mut Vec<u8>, body: &[u8]) {
    put_with_length(out, [0, 0, 0, 0, Kind::Control.number(), 0], body);
}

/// Appends a message, given as one frame without its length, as [`Frame::Chunk`]s that each keep `frame_max`.
///
/// They must follow each other on one lane, with no other frame in between.
pub fn put_chunks(out: &mut Vec<u8>, whole: &[u8], frame_max: usize) {
    let mut parts = whole.chunks(frame_max.saturating_sub(CHUNK_HEAD).max(1)).peekable();
    while let Some(part) = parts.next() {
        let last = u8::from(parts.peek().is_none());
        put_with_length(out, [0, 0, 0, 0, Kind::Chunk.number(), 0, last], part);
    }
}

/// What a chunk has before its part, in bytes after the length.
const CHUNK_HEAD: usize = 3;

/// `head` has its kind and codec still to come; other flags may be there.
#[inline]
fn put_message<const N: usize>(
    out: &mut Vec<u8>,
    mut head: [u8; N],
    kind: Kind,
    codec: CodecId,
    body: &[u8],
) {
    head[4] = kind.number();
    head[5] |= flags::of_codec(codec);
    put_with_length(out, head, body);
}

#[inline]
fn put_with_length<const N: usize>(out: &mut Vec<u8>, mut head: [u8; N], body: &[u8]) {
    head[..4].copy_from_slice(&length_field(N - 4 + body.len()));
    out.reserve(N + body.len());
    out.extend_from_slice(&head);
    out.extend_from_slice(body);
}

/// A length beyond the field is written as the largest, which every peer refuses.
#[inline]
pub(super) fn length_field(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

impl Frame<'_> {
    /// Appends the frame, of whatever kind. What decodes from these bytes is equal to it.
    ///
    /// # Errors
    /// A text longer than its limit, or an empty chunk; nothing was appended then.
    pub fn put(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.push(self.kind().number());
        out.push(0);
        if let Err(error) = self.put_fields(out, start + 5) {
            out.truncate(start);
            return Err(error);
        }
        let length = length_field(out.len() - start - 4);
        out[start..start + 4].copy_from_slice(&length);
        Ok(())
    }

    fn put_fields(&self, out: &mut Vec<u8>, flags_at: usize) -> Result<(), FrameError> {
        match *self {
            Self::Tell { target, codec, trace, body } => {
                put_long(out, target);
                out[flags_at] = flags::of_codec(codec) | put_parts(out, None, trace);
                out.extend_from_slice(body);
            }
            Self::Ask { target, ask, codec, deadline, trace, body } => {
                put_long(out, target);
                put_long(out, ask);
                out[flags_at] = flags::of_codec(codec) | put_parts(out, deadline, trace);
                out.extend_from_slice(body);
            }
            Self::Answer { ask, codec, body } => {
                put_long(out, ask);
                out[flags_at] = flags::of_codec(codec);
                out.extend_from_slice(body);
            }
            Self::Lost { ask: id, why: what }
            | Self::Interrupt { target: id, what }
            | Self::Terminated { watch: id, reason: what } => {
                put_long(out, id);
                out.push(what);
            }
            Self::Watch { target, watch } | Self::Unwatch { target, watch } => {
                put_long(out, target);
                put_long(out, watch);
            }
            Self::LookUp { request, type_name, path } => {
                put_long(out, request);
                put_text(out, "type name", type_name, TEXT_MAX)?;
                put_text(out, "path", path, PATH_MAX)?;
            }
            Self::Found { request, outcome, target, text } => {
                put_long(out, request);
                out.push(outcome);
                put_long(out, target);
                put_text(out, "text", text, TEXT_MAX)?;
            }
            Self::Chunk { body: [], .. } => return Err(FrameError::EmptyChunk),
            Self::Chunk { last, body } => {
                out.push(u8::from(last));
                out.extend_from_slice(body);
            }
            Self::Ack { position } => put_long(out, position),
            Self::Control { body } => out.extend_from_slice(body),
        }
        Ok(())
    }
}

fn put_long(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, field: &'static str, text: &str, most: usize) -> Result<(), FrameError> {
    let length = text.len();
    let too_long = FrameError::TextTooLong { field, length, most };
    let field = u16::try_from(length).ok().filter(|_| length <= most).ok_or(too_long)?;
    out.extend_from_slice(&field.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Appends the parts that are there; the flags that say so.
#[inline]
pub(super) fn put_parts(out: &mut Vec<u8>, deadline: Option<u32>, trace: Option<Trace>) -> u8 {
    let mut flags = 0;
    if let Some(deadline) = deadline {
        flags |= flags::DEADLINE;
        out.extend_from_slice(&deadline.to_le_bytes());
    }
    if let Some(Trace { id, span, flags: sampled }) = trace {
        flags |= flags::TRACE;
        out.extend_from_slice(&id);
        out.extend_from_slice(&span);
        out.push(sampled);
    }
    flags
}
