//! A frame whose body is encoded straight into the lane's buffer, behind the frame's head.

use super::put::{length_field, put_chunks, put_parts};
use super::{Kind, TooLarge, Trace, flags};
use crate::codec::CodecId;
use crate::limits::Sizes;

/// A frame that is begun at the end of a buffer: append its body, then [`close`](Self::close) it or [`abandon`](Self::abandon) it.
///
/// ```text
/// Open::tell(out, ...) -> the codec appends to out -> close: the length is filled in, or the frame becomes chunks
///                                                  `-> abandon: as if it had never begun
/// ```
///
/// Until then the buffer ends in the middle of a frame: nothing else may be appended, and nothing sent.
#[derive(Debug)]
#[must_use = "a frame that is neither closed nor abandoned leaves the buffer broken"]
pub struct Open {
    /// Where the frame begins.
    start: usize,
}

impl Open {
    /// Begins a [`Frame::Tell`](super::Frame::Tell).
    #[inline]
    pub fn tell(out: &mut Vec<u8>, target: u64, codec: CodecId, trace: Option<Trace>) -> Self {
        let start = out.len();
        let mut head = [0; 14];
        head[4] = Kind::Tell.number();
        head[6..14].copy_from_slice(&target.to_le_bytes());
        out.extend_from_slice(&head);
        out[start + 5] = flags::of_codec(codec) | put_parts(out, None, trace);
        Self { start }
    }

    /// Begins a [`Frame::Ask`](super::Frame::Ask). `deadline` is in milliseconds.
    #[inline]
    pub fn ask(
        out: &mut Vec<u8>,
        target: u64,
        ask: u64,
        codec: CodecId,
        deadline: Option<u32>,
        trace: Option<Trace>,
    ) -> Self {
        let start = out.len();
        let mut head = [0; 22];
        head[4] = Kind::Ask.number();
        head[6..14].copy_from_slice(&target.to_le_bytes());
        head[14..22].copy_from_slice(&ask.to_le_bytes());
        out.extend_from_slice(&head);
        out[start + 5] = flags::of_codec(codec) | put_parts(out, deadline, trace);
        Self { start }
    }

    /// Begins a [`Frame::Answer`](super::Frame::Answer).
    #[inline]
    pub fn answer(out: &mut Vec<u8>, ask: u64, codec: CodecId) -> Self {
        let start = out.len();
        let mut head = [0; 14];
        head[4] = Kind::Answer.number();
        head[5] = flags::of_codec(codec);
        head[6..14].copy_from_slice(&ask.to_le_bytes());
        out.extend_from_slice(&head);
        Self { start }
    }

    /// Begins a [`Frame::Control`](super::Frame::Control).
    #[inline]
    pub fn control(out: &mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0, 0, 0, 0, Kind::Control.number(), 0]);
        Self { start }
    }

    /// Ends the frame, as chunks if it is larger than the peer takes in one.
    ///
    /// # Errors
    /// [`TooLarge`] if the peer would refuse the message; it is taken back out of the buffer then.
    ///
    /// # Panics
    /// If the buffer was shortened since the frame was begun.
    #[inline]
    pub fn close(self, out: &mut Vec<u8>, peer: Sizes) -> Result<(), TooLarge> {
        let length = out.len() - self.start - 4;
        if length > peer.frame_max {
            return self.cut(out, peer);
        }
        out[self.start..self.start + 4].copy_from_slice(&length_field(length));
        Ok(())
    }

    /// Takes the frame back out of the buffer, with what was appended since.
    pub fn abandon(self, out: &mut Vec<u8>) {
        out.truncate(self.start);
    }

    #[cold]
    fn cut(self, out: &mut Vec<u8>, peer: Sizes) -> Result<(), TooLarge> {
        let whole = out.split_off(self.start + 4);
        out.truncate(self.start);
        if whole.len() > peer.message_max {
            return Err(TooLarge { length: whole.len(), most: peer.message_max });
        }
        put_chunks(out, &whole, peer.frame_max);
        Ok(())
    }
}
