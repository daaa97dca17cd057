//! What waits in a mailbox, in the order it will leave.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::mem;
use std::sync::Arc;

use super::Letter;

/// Ranks an item; items of higher rank leave first, items of equal rank in order of arrival.
pub(crate) type Rank<T> = Arc<dyn Fn(&T) -> i64 + Send + Sync>;

/// A buffer that grew beyond this many items is given back once the mailbox is empty.
const KEPT_WHEN_IDLE: usize = 64;

pub(crate) enum Queue<T> {
    Fifo(VecDeque<T>),
    Ranked(Box<Ranked<T>>),
}

pub(crate) struct Ranked<T> {
    heap: BinaryHeap<Entry<T>>,
    /// Those that leave after all that came before them, and before all that comes after.
    in_order: VecDeque<InOrder<T>>,
    rank: Rank<T>,
    arrived: u64,
}

struct InOrder<T> {
    arrived: u64,
    /// How many of those that came before it are in the heap still.
    older: usize,
    item: T,
}

struct Entry<T> {
    rank: i64,
    arrived: u64,
    item: T,
}

impl<T: Letter> Queue<T> {
    pub(crate) fn ranked(rank: Rank<T>) -> Self {
        let ranked = Ranked { heap: BinaryHeap::new(), in_order: VecDeque::new(), rank, arrived: 0 };
        Self::Ranked(Box::new(ranked))
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(items) => items.len(),
            Self::Ranked(ranked) => ranked.heap.len() + ranked.in_order.len(),
        }
    }

    /// Where an item belongs. The user's own function may say so: to be called by the one who sends it.
    pub(crate) fn rank(&self, item: &T) -> i64 {
        match self {
            Self::Fifo(_) => 0,
            Self::Ranked(ranked) => (ranked.rank)(item),
        }
    }

    /// Puts an item where it belongs; by the one who sends it, as [`Queue::rank`].
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Self::Fifo(items) => items.push_back(item),
            Self::Ranked(ranked) => ranked.rank_and_push(item),
        }
    }

    /// Puts in up to `room` items, from the front; the others stay. By the one who sends them, as [`Queue::rank`].
    pub(crate) fn push_some(&mut self, items: &mut VecDeque<T>, room: usize) {
        match self {
            Self::Fifo(queue) if items.len() > room => queue.extend(items.drain(..room)),
            Self::Fifo(queue) if queue.is_empty() => mem::swap(queue, items),
            Self::Fifo(queue) => queue.append(items),
            Self::Ranked(ranked) => {
                for item in items.drain(..room.min(items.len())) {
                    ranked.rank_and_push(item);
                }
            }
        }
    }

    /// Puts an item where its sender said that it belongs.
    pub(crate) fn push_ranked(&mut self, item: T, rank: i64) {
        match self {
            Self::Fifo(items) => items.push_back(item),
            Self::Ranked(ranked) => ranked.push(item, rank),
        }
    }

    /// Takes the item that has waited longest of those that may; a ranked queue has no such notion and gives none.
    pub(crate) fn displace_oldest(&mut self, may: impl Fn(&T) -> bool) -> Option<T> {
        match self {
            Self::Fifo(items) => items.iter().position(may).and_then(|oldest| items.remove(oldest)),
            Self::Ranked(_) => None,
        }
    }

    /// Moves up to `limit` items to the empty `batch`, in leaving order.
    ///
    /// A ranked queue gives one at a time: an urgent item must not wait behind a taken batch.
    #[inline]
    pub(crate) fn take(&mut self, batch: &mut VecDeque<T>, limit: usize) {
        debug_assert!(batch.is_empty());
        match self {
            // Its buffer stays here, where the next one comes in.
            Self::Fifo(items) if items.len() == 1 => {
                if let Some(item) = items.pop_front() {
                    if batch.capacity() == 0 {
                        batch.reserve_exact(1);
                    }
                    batch.push_back(item);
                }
            }
            Self::Fifo(items) if items.len() <= limit => mem::swap(items, batch),
            Self::Fifo(items) => batch.extend(items.drain(..limit)),
            Self::Ranked(ranked) => batch.extend(ranked.pop()),
        }
    }

    /// As [`Queue::take`], for a queue in which some weigh more than one: up to `limit` in weight. One that is heavier alone gives what
    /// of it may leave. Gives by how much those moved weigh more than they are.
    pub(crate) fn take_heavy(&mut self, batch: &mut VecDeque<T>, limit: usize) -> usize {
        match self {
            Self::Fifo(items) => move_some(items, batch, limit, Cut::First),
            Self::Ranked(_) => {
                self.take(batch, limit);
                0
            }
        }
    }

    /// As [`Queue::push_some`], for items of which some weigh more than one: up to `room` in weight, to the last of it. Gives by how
    /// much those put in weigh more than they are.
    pub(crate) fn push_some_heavy(&mut self, items: &mut VecDeque<T>, room: usize) -> usize {
        match self {
            Self::Fifo(queue) => move_some(items, queue, room, Cut::Any),
            Self::Ranked(_) => {
                self.push_some(items, room);
                0
            }
        }
    }

    /// Gives everything, in leaving order.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        match self {
            Self::Fifo(items) => mem::take(items).into(),
            Self::Ranked(ranked) => {
                let mut entries = mem::take(&mut ranked.heap).into_sorted_vec();
                entries.reverse();
                let in_order = mem::take(&mut ranked.in_order).into_iter().map(|waiting| waiting.item);
                entries.into_iter().map(|entry| entry.item).chain(in_order).collect()
            }
        }
    }

    /// Before a rest: keeps one small buffer here, where the next item comes in, and gives back what a burst
    /// left behind. Both are empty.
    #[inline]
    pub(crate) fn settle(&mut self, batch: Option<&mut VecDeque<T>>) {
        let (Self::Fifo(items), Some(batch)) = (self, batch) else { return };
        if items.capacity() < batch.capacity() {
            mem::swap(items, batch);
        }
        if batch.capacity() > 0 {
            *batch = VecDeque::new();
        }
        if items.capacity() > KEPT_WHEN_IDLE {
            *items = VecDeque::new();
        }
    }
}

/// Which items may be cut in two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// One with which there is nothing to move otherwise: it is work.
    First,
    /// The first for which the room is not enough.
    Any,
}

/// Moves items of up to `room` in weight. Gives by how much they weigh more than they are.
fn move_some<T: Letter>(from: &mut VecDeque<T>, to: &mut VecDeque<T>, mut room: usize, cut: Cut) -> usize {
    let mut extra = 0;
    let mut is_first = true;
    while room > 0
        && let Some(next) = from.front_mut()
    {
        let weight = next.weight();
        let moved = if weight <= room {
            from.pop_front()
        } else if is_first || cut == Cut::Any {
            next.cut(room)
        } else {
            None
        };
        let Some(moved) = moved else { break };
        room = room.saturating_sub(weight);
        extra += moved.weight() - 1;
        is_first = false;
        to.push_back(moved);
    }
    extra
}

impl<T: Letter> Ranked<T> {
    #[inline(never)]
    fn rank_and_push(&mut self, item: T) {
        let rank = (self.rank)(&item);
        self.push(item, rank);
    }

    fn push(&mut self, item: T, rank: i64) {
        self.arrived += 1;
        let arrived = self.arrived;
        if item.is_expendable() {
            self.heap.push(Entry { rank, arrived, item });
        } else {
            self.in_order.push_back(InOrder { arrived, older: self.heap.len(), item });
        }
    }

    fn pop(&mut self) -> Option<T> {
        if self.in_order.front().is_some_and(|first| first.older == 0) {
            return self.in_order.pop_front().map(|first| first.item);
        }
        let Entry { arrived, item, .. } = self.heap.pop()?;
        for later in self.in_order.iter_mut().filter(|waiting| waiting.arrived > arrived) {
            later.older -= 1;
        }
        Some(item)
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then(other.arrived.cmp(&self.arrived))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo(_) => "Fifo",
            Self::Ranked(_) => "Ranked",
        })
    }
}
