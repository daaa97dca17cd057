//! The items a reader has in hand: taken from its mailbox, not attended to yet.

use std::collections::{VecDeque, vec_deque};

use super::Letter;

/// One pointer in size, and nothing behind it until the first item: every idle reader has one.
#[derive(Debug)]
pub struct Batch<T>(Option<Box<InHand<T>>>);

#[derive(Debug)]
struct InHand<T> {
    items: VecDeque<T>,
    /// By how much they weigh more than they are.
    extra: usize,
}

impl<T> Default for InHand<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), extra: 0 }
    }
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Letter> Batch<T> {
    /// Takes the first item. If it weighs more than one, [`Batch::lighten`] is to be called: nearly none does, and nearly every
    /// message comes by here.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.as_mut()?.items.pop_front()
    }

    /// An item was popped that weighs so much more than one.
    pub fn lighten(&mut self, extra: usize) {
        if let Some(in_hand) = &mut self.0 {
            in_hand.extra -= extra;
        }
    }

    /// Puts an item before the others.
    pub fn push_front(&mut self, item: T) {
        let in_hand = self.0.get_or_insert_default();
        in_hand.extra += item.weight() - 1;
        in_hand.items.push_front(item);
    }
}

impl<T> Batch<T> {
    /// The items, the first first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|in_hand| in_hand.items.iter())
    }

    /// What the items weigh together: as much as they are, or more.
    #[inline]
    pub fn weight(&self) -> usize {
        self.0.as_ref().map_or(0, |in_hand| in_hand.items.len() + in_hand.extra)
    }

    /// How many items it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |in_hand| in_hand.items.len())
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn buffer(&mut self) -> &mut VecDeque<T> {
        &mut self.0.get_or_insert_default().items
    }

    /// The buffer, if there ever was an item.
    #[inline]
    pub(super) fn used_buffer(&mut self) -> Option<&mut VecDeque<T>> {
        self.0.as_mut().map(|in_hand| &mut in_hand.items)
    }

    /// What was put into the buffer weighs so much more than it is.
    pub(super) fn add_extra(&mut self, extra: usize) {
        self.0.get_or_insert_default().extra += extra;
    }
}

impl<T> IntoIterator for Batch<T> {
    type Item = T;
    type IntoIter = vec_deque::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(|in_hand| in_hand.items).unwrap_or_default().into_iter()
    }
}
