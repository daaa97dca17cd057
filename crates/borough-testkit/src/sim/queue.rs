//! What is to happen, in the order of time; what was planned first comes first among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::moment::Moment;

/// A queue of things to come. The heap holds small keys only; the things themselves do not move until they happen.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    keys: BinaryHeap<Reverse<Key>>,
    shelves: Vec<Option<T>>,
    free: Vec<u32>,
    planned: u32,
}

/// Compared field by field: time, then order of planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    at: Moment,
    planned: u32,
    place: u32,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { keys: BinaryHeap::new(), shelves: Vec::new(), free: Vec::new(), planned: 0 }
    }
}

impl<T> Queue<T> {
    /// Plans it for that moment.
    ///
    /// # Panics
    /// After four billion things in one run: their order would no longer be certain.
    pub(crate) fn plan(&mut self, at: Moment, thing: T) {
        let place = if let Some(place) = self.free.pop() {
            self.shelves[place as usize] = Some(thing);
            place
        } else {
            self.shelves.push(Some(thing));
            u32::try_from(self.shelves.len() - 1).expect("fewer things at once than in a run")
        };
        self.keys.push(Reverse(Key { at, planned: self.planned, place }));
        self.planned = self.planned.checked_add(1).expect("a run is shorter than that");
    }

    /// When the next thing happens.
    pub(crate) fn next_at(&self) -> Option<Moment> {
        self.keys.peek().map(|Reverse(key)| key.at)
    }

    /// Takes the next thing, if it happens by `until`.
    pub(crate) fn take(&mut self, until: Moment) -> Option<(Moment, T)> {
        if self.next_at()? > until {
            return None;
        }
        let Reverse(key) = self.keys.pop()?;
        self.free.push(key.place);
        let thing = self.shelves[key.place as usize].take()?;
        Some((key.at, thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut Queue<&'static str>, until: u64) -> Vec<(u64, &'static str)> {
        std::iter::from_fn(|| queue.take(Moment::at(until))).map(|(at, thing)| (at.nanos(), thing)).collect()
    }

    #[test]
    fn things_happen_in_the_order_of_time_then_of_planning() {
        let mut queue = Queue::default();
        for (at, thing) in [(5, "c"), (3, "a"), (5, "d"), (4, "b"), (9, "e")] {
            queue.plan(Moment::at(at), thing);
        }
        assert_eq!(drain(&mut queue, 5), [(3, "a"), (4, "b"), (5, "c"), (5, "d")]);
        assert_eq!(drain(&mut queue, 9), [(9, "e")]);
    }

    #[test]
    fn shelves_are_used_again() {
        let mut queue = Queue::default();
        for at in 0..100 {
            queue.plan(Moment::at(at), "one");
            queue.plan(Moment::at(at), "two");
            assert_eq!(drain(&mut queue, at).len(), 2);
        }
        assert_eq!(queue.shelves.len(), 2);
    }
}
