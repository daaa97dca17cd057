//! What happened before what: for each author, how many of its changes are known.
//!
//! A clock that covers a change's dot belongs to a document in which that change has taken effect. So two nodes can
//! tell from their clocks alone what the other lacks.

#[cfg(feature = "serde")]
mod wire;

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::incarnation::Uid;

/// Who makes changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Author {
    /// The table's log. Its count is the index of the newest entry that has taken effect.
    Table,
    /// A node. Its count is the number of its own changes.
    Node(Uid),
}

/// One change: the author's `count`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dot {
    /// Who made it.
    pub author: Author,
    /// Which of the author's changes it is, counted from 1; 0 is no change and covered by every clock.
    pub count: u64,
}

/// How many changes of each author are known. An author without an entry has made none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "wire::Claim"))]
pub struct VectorClock {
    // First, so that unequal clocks are told apart without walking the entries.
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    hash: u64,
    // Sorted by author, no count is 0.
    entries: Vec<(Author, u64)>,
}

impl VectorClock {
    /// How many changes of the author are known.
    pub fn count(&self, author: Author) -> u64 {
        self.find(author).map_or(0, |at| self.entries[at].1)
    }

    /// Whether the change is among the known ones.
    pub fn covers(&self, dot: Dot) -> bool {
        dot.count == 0 || dot.count <= self.count(dot.author)
    }

    /// Counts one more change of the author.
    pub fn advance(&mut self, author: Author) -> Dot {
        let count = self.count(author).saturating_add(1);
        self.raise(author, count);
        Dot { author, count }
    }

    /// The author has made at least that many changes; true if that is news.
    pub fn raise(&mut self, author: Author, to: u64) -> bool {
        match self.find(author) {
            Ok(at) => {
                let count = self.entries[at].1;
                if to <= count {
                    return false;
                }
                self.hash ^= entry_hash(author, count) ^ entry_hash(author, to);
                self.entries[at].1 = to;
            }
            Err(at) => {
                if to == 0 {
                    return false;
                }
                self.hash ^= entry_hash(author, to);
                self.entries.insert(at, (author, to));
            }
        }
        true
    }

    /// Takes the larger count of each author; true if that is news.
    pub fn merge(&mut self, other: &Self) -> bool {
        let mut news = false;
        let mut fresh = Vec::new();
        let mut at = 0;
        for &(author, count) in &other.entries {
            while self.entries.get(at).is_some_and(|mine| mine.0 < author) {
                at += 1;
            }
            let mine = self.entries.get_mut(at).filter(|mine| mine.0 == author);
            let known = mine.as_ref().map_or(0, |mine| mine.1);
            if count <= known {
                continue;
            }
            news = true;
            self.hash ^= entry_hash(author, count);
            if let Some(mine) = mine {
                self.hash ^= entry_hash(author, known);
                mine.1 = count;
            } else {
                fresh.push((author, count));
            }
        }
        if !fresh.is_empty() {
            self.entries.append(&mut fresh);
            self.entries.sort_by_key(|entry| entry.0);
        }
        news
    }

    /// Which of the two knows more; `None` if each knows what the other does not.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self.exceeds(other), other.exceeds(self)) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            (true, true) => None,
        }
    }

    /// Forgets the author; true if it had an entry.
    pub fn remove(&mut self, author: Author) -> bool {
        let Ok(at) = self.find(author) else { return false };
        let (_, count) = self.entries.remove(at);
        self.hash ^= entry_hash(author, count);
        true
    }

    /// Forgets every author that `keep` is false for.
    pub fn retain(&mut self, keep: impl Fn(Author) -> bool) {
        let hash = &mut self.hash;
        self.entries.retain(|&(author, count)| {
            let kept = keep(author);
            if !kept {
                *hash ^= entry_hash(author, count);
            }
            kept
        });
    }

    /// A number that differs between different clocks, as far as 64 bits can; known without walking the entries.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The authors with their counts, in the order of authors.
    pub fn iter(&self) -> impl Iterator<Item = (Author, u64)> + '_ {
        self.entries.iter().copied()
    }

    /// How many authors have an entry.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no change is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries of the other clock that count further than this one, in the order of authors. Walks both once.
    pub fn missing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (Author, u64)> + 'a {
        let mut at = 0;
        other.iter().filter(move |&(author, count)| {
            while self.entries.get(at).is_some_and(|mine| mine.0 < author) {
                at += 1;
            }
            self.entries.get(at).filter(|mine| mine.0 == author).is_none_or(|mine| mine.1 < count)
        })
    }

    /// Whether it knows a change that the other does not.
    fn exceeds(&self, other: &Self) -> bool {
        other.missing(self).next().is_some()
    }

    fn find(&self, author: Author) -> Result<usize, usize> {
        // The table is first in the order, and most that is asked for.
        if author == Author::Table {
            return if self.entries.first().is_some_and(|entry| entry.0 == author) { Ok(0) } else { Err(0) };
        }
        self.entries.binary_search_by_key(&author, |entry| entry.0)
    }
}

/// Takes entries in any order; of two for one author the larger counts.
impl FromIterator<(Author, u64)> for VectorClock {
    fn from_iter<I: IntoIterator<Item = (Author, u64)>>(entries: I) -> Self {
        let mut clock = Self::default();
        for (author, count) in entries {
            clock.raise(author, count);
        }
        clock
    }
}

/// One more word into a hash. Hashes of records are combined by XOR, so each must be scrambled well by itself.
pub(crate) const fn mix(hash: u64, word: u64) -> u64 {
    let mut z = hash.rotate_left(23).wrapping_add(word).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn entry_hash(author: Author, count: u64) -> u64 {
    // No uid is 0.
    let author = match author {
        Author::Table => 0,
        Author::Node(uid) => uid.get(),
    };
    mix(mix(1, author), count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn node(number: u64) -> Author {
        Author::Node(Uid::new(number).unwrap())
    }

    fn clocks() -> impl Strategy<Value = VectorClock> {
        proptest::collection::vec((0_u64..6, 0_u64..4), 0..6).prop_map(|entries| {
            let author = |number| if number == 0 { Author::Table } else { node(number) };
            entries.into_iter().map(|(number, count)| (author(number), count)).collect()
        })
    }

    #[test]
    fn a_clock_covers_what_its_author_has_done_so_far() {
        let mut clock = VectorClock::default();
        let first = clock.advance(node(1));
        assert_eq!(first, Dot { author: node(1), count: 1 });
        assert!(clock.covers(first));
        assert!(!clock.covers(Dot { count: 2, ..first }));
        assert!(!clock.covers(Dot { author: Author::Table, count: 1 }));
        assert!(clock.covers(Dot { author: Author::Table, count: 0 }));
    }

    #[test]
    fn a_count_is_never_lowered() {
        let mut clock = VectorClock::default();
        assert!(clock.raise(Author::Table, 7));
        assert!(!clock.raise(Author::Table, 6));
        assert_eq!(clock.count(Author::Table), 7);
    }

    #[test]
    fn a_forgotten_author_leaves_no_trace_in_the_hash() {
        let mut clock: VectorClock = [(Author::Table, 3)].into_iter().collect();
        let before = clock.hash();
        clock.advance(node(4));
        clock.advance(node(5));
        assert!(clock.remove(node(4)));
        clock.retain(|author| author == Author::Table);
        assert_eq!((clock.hash(), clock.len()), (before, 1));
    }

    proptest! {
        #[test]
        fn the_merge_of_two_clocks_is_their_least_upper_bound(a in clocks(), b in clocks()) {
            let mut both = a.clone();
            let news = both.merge(&b);
            prop_assert_eq!(news, both != a);
            for clock in [&a, &b] {
                prop_assert!(matches!(clock.compare(&both), Some(Ordering::Less | Ordering::Equal)));
            }
            for (author, count) in both.iter() {
                prop_assert_eq!(count, a.count(author).max(b.count(author)));
            }
            let mut other = b.clone();
            other.merge(&a);
            prop_assert_eq!(both, other);
        }

        #[test]
        fn what_a_clock_misses_of_another_is_what_a_merge_would_raise(a in clocks(), b in clocks()) {
            let missing: Vec<_> = a.missing(&b).collect();
            let raised: Vec<_> = b.iter().filter(|(author, count)| a.count(*author) < *count).collect();
            prop_assert_eq!(missing, raised);
        }

        #[test]
        fn clocks_are_equal_exactly_if_their_hashes_are(a in clocks(), b in clocks()) {
            prop_assert_eq!(a == b, a.hash() == b.hash());
            prop_assert_eq!(a == b, a.compare(&b) == Some(Ordering::Equal));
        }
    }
}
