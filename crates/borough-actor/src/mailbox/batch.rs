//! The items a reader has in hand: taken from its mailbox, not attended to yet.

use std::collections::{VecDeque, vec_deque};

/// One pointer in size, and nothing behind it until the first item: every idle reader has one.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "the size of the pointer is the point")]
pub(crate) struct Batch<T>(Option<Box<VecDeque<T>>>);

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Batch<T> {
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.as_mut()?.pop_front()
    }

    pub(crate) fn push_front(&mut self, item: T) {
        self.buffer().push_front(item);
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |items| items.len())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn buffer(&mut self) -> &mut VecDeque<T> {
        self.0.get_or_insert_default()
    }

    /// The buffer, if there ever was an item.
    #[inline]
    pub(super) fn used_buffer(&mut self) -> Option<&mut VecDeque<T>> {
        self.0.as_deref_mut()
    }
}

impl<T> IntoIterator for Batch<T> {
    type Item = T;
    type IntoIter = vec_deque::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(|items| *items).unwrap_or_default().into_iter()
    }
}
