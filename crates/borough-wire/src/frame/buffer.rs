//! What was read from a connection and not yet taken: frames are parsed where they lie.

use super::front::LENGTH;
use super::{Answers, Frame, FrameError, Run};
use crate::limits::READ_BUFFER;

/// A buffer to read into and to take frames from.
///
/// ```text
///  taken | frames and a part of one | spare
/// 0      start                     end     bytes.len()
/// ```
///
/// It holds little at first; once a read has filled it as much as the largest frame, but not more than [`READ_BUFFER`]; and more only for a frame
/// that does not fit, only as its bytes arrive, and only to the limit. Once empty, it holds no more than before.
#[derive(Debug)]
pub struct FrameBuffer {
    /// Initialised to its whole length, so that a socket may write anywhere in it.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    frame_max: usize,
    /// Whether the last read took all there was to spare: more may be waiting.
    was_full: bool,
}

/// What a buffer holds at first: most connections say little.
const FIRST: usize = 8 * 1024;

impl FrameBuffer {
    /// An empty buffer for frames of at most `frame_max` bytes after the length.
    pub fn new(frame_max: usize) -> Self {
        Self { bytes: vec![0; FIRST], start: 0, end: 0, frame_max, was_full: false }
    }

    /// What it holds once much has come.
    fn large(&self) -> usize {
        self.frame_max.clamp(FIRST, READ_BUFFER)
    }

    /// Where to read into; never empty. Tell [`filled`](Self::filled) how much was read.
    ///
    /// Call it when [`next`](Self::next) has no more frames: what is left is then less than one.
    pub fn spare(&mut self) -> &mut [u8] {
        let wants_more = self.was_full && self.bytes.len() < self.large();
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > READ_BUFFER {
                self.bytes = vec![0; READ_BUFFER];
            }
        } else if self.start > 0 && (wants_more || self.bytes.len() - self.end < self.bytes.len() / 2) {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if wants_more {
            self.bytes.resize(self.large(), 0);
        }
        if self.end == self.bytes.len() {
            // Full: twice as much, but not more than the frame that has begun.
            let (now, twice) = (self.bytes.len(), self.bytes.len() * 2);
            let wanted = self.length().map(|length| LENGTH + length).filter(|wanted| *wanted > now);
            let grown = wanted.map_or(twice, |wanted| wanted.min(twice));
            self.bytes.resize(grown, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Takes note that `read` bytes were read into [`spare`](Self::spare).
    ///
    /// # Panics
    /// If that is more than there was to spare.
    pub fn filled(&mut self, read: usize) {
        assert!(read <= self.bytes.len() - self.end, "more was read than there was to spare");
        self.end += read;
        self.was_full = self.end == self.bytes.len();
    }

    /// Appends bytes that were read elsewhere.
    pub fn extend(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let spare = self.spare();
            let (now, later) = bytes.split_at(spare.len().min(bytes.len()));
            spare[..now.len()].copy_from_slice(now);
            self.filled(now.len());
            bytes = later;
        }
    }

    /// Takes the next frame, or none if it has not arrived whole.
    ///
    /// # Errors
    /// [`FrameError`]: the connection is to be closed. A frame that is too long is known by its first four bytes.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend what it owns")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        Ok(self.next_sized()?.map(|(frame, _)| frame))
    }

    /// As [`next`](Self::next), with the number of bytes that the frame took, its length included.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub fn next_sized(&mut self) -> Result<Option<(Frame<'_>, usize)>, FrameError> {
        let Some(length) = self.length() else { return Ok(None) };
        if length > self.frame_max {
            return Err(FrameError::TooLong { length, most: self.frame_max });
        }
        let begin = self.start + LENGTH;
        if length > self.end - begin {
            return Ok(None);
        }
        self.start = begin + length;
        let frame = Frame::decode(&self.bytes[begin..begin + length])?;
        Ok(Some((frame, LENGTH + length)))
    }

    /// Takes the plain messages at the front that go to one target: at most `count_max`, and `bytes_max` bytes unless the first has
    /// more. None if there is none: what is there instead, be it a mistake, [`next`](Self::next) says.
    #[inline]
    pub fn next_run(&mut self, count_max: usize, bytes_max: usize) -> Option<Run<'_>> {
        let waiting = &self.bytes[self.start..self.end];
        let run = Run::first(waiting, self.frame_max, count_max, bytes_max)?;
        self.start += run.bytes().len();
        Some(run)
    }

    /// Takes the answers at the front. None if there is none: what is there instead, be it a mistake, [`next`](Self::next) says.
    #[inline]
    pub fn next_answers(&mut self) -> Option<Answers<'_>> {
        let answers = Answers::first(&self.bytes[self.start..self.end], self.frame_max)?;
        self.start += answers.bytes().len();
        Some(answers)
    }

    /// How many bytes wait that are no whole frame: if a connection ends and this is not 0, it ended in the middle of one.
    pub fn left(&self) -> usize {
        self.end - self.start
    }

    /// The length of the frame that begins at `start`, once its field is there.
    #[inline]
    fn length(&self) -> Option<usize> {
        let field = self.bytes[self.start..self.end].first_chunk::<LENGTH>()?;
        usize::try_from(u32::from_le_bytes(*field)).ok()
    }
}
