//! Messages that follow each other and go to the same target: taken from a buffer at once.

use super::Plain;
use super::front::{each, keeps};

/// Plain messages for one target, at least one, each checked, as they lie one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    target: u64,
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Run<'a> {
    /// The run at the front of `bytes`: of at most `count_max` messages, and of `bytes_max` bytes unless the first has more. It ends
    /// before a frame of more than `frame_max` bytes after its length, and before all that is no plain message.
    #[inline]
    pub(super) fn first(
        bytes: &'a [u8],
        frame_max: usize,
        count_max: usize,
        bytes_max: usize,
    ) -> Option<Self> {
        let (first, mut rest) = Plain::first(bytes)?;
        let mut end = bytes.len() - rest.len();
        if !keeps(frame_max, end) {
            return None;
        }
        let mut count = 1;
        while count < count_max {
            let Some((next, after)) = Plain::first(rest) else { break };
            let (next_end, length) = (bytes.len() - after.len(), rest.len() - after.len());
            if next.target != first.target || next_end > bytes_max || !keeps(frame_max, length) {
                break;
            }
            (rest, end) = (after, next_end);
            count += 1;
        }
        Some(Self { target: first.target, count, bytes: &bytes[..end] })
    }

    /// Who all of them are for.
    #[inline]
    pub fn target(&self) -> u64 {
        self.target
    }

    /// How many they are.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Their frames, each with its length: what [`Plain::first`] takes.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// One after the other.
    pub fn messages(&self) -> impl Iterator<Item = Plain<'a>> + use<'a> {
        each(self.bytes, Plain::first)
    }
}
