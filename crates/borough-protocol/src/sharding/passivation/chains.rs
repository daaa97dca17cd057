//! Slots in chains: the order in which each policy keeps them.
//!
//! A slot is in one chain or in none. Links are numbers of slots, so a slot takes twelve bytes and nothing is allocated by a move.

use alloc::vec;
use alloc::vec::Vec;

/// No slot; never the number of one.
pub(super) const NONE: u32 = u32::MAX;

const NO_CHAIN: u16 = u16::MAX;

#[derive(Clone, Debug)]
pub(super) struct Chains {
    nodes: Vec<Node>,
    ends: Vec<Ends>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    after: u32,
    chain: u16,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
    len: u32,
}

impl Chains {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Node>();
    pub(super) const BYTES_PER_CHAIN: usize = size_of::<Ends>();

    /// So many empty chains.
    pub(super) fn new(chains: u16) -> Self {
        let empty = Ends { first: NONE, last: NONE, len: 0 };
        Self { nodes: Vec::new(), ends: vec![empty; usize::from(chains)] }
    }

    /// The chain a slot is in.
    pub(super) fn chain_of(&self, slot: u32) -> Option<u16> {
        self.nodes.get(slot as usize).map(|node| node.chain).filter(|&chain| chain != NO_CHAIN)
    }

    pub(super) fn len(&self, chain: u16) -> u32 {
        self.ends[usize::from(chain)].len
    }

    pub(super) fn first(&self, chain: u16) -> Option<u32> {
        some(self.ends[usize::from(chain)].first)
    }

    pub(super) fn last(&self, chain: u16) -> Option<u32> {
        some(self.ends[usize::from(chain)].last)
    }

    /// The one before a slot in its chain.
    pub(super) fn before(&self, slot: u32) -> Option<u32> {
        self.nodes.get(slot as usize).and_then(|node| some(node.before))
    }

    /// The one after a slot in its chain.
    pub(super) fn after(&self, slot: u32) -> Option<u32> {
        self.nodes.get(slot as usize).and_then(|node| some(node.after))
    }

    /// Puts a slot at the end of a chain, out of the one it is in.
    pub(super) fn append(&mut self, chain: u16, slot: u32) {
        let place = slot as usize;
        if place >= self.nodes.len() {
            self.nodes.resize(place + 1, Node { before: NONE, after: NONE, chain: NO_CHAIN });
        }
        self.remove(slot);
        let ends = &mut self.ends[usize::from(chain)];
        let last = core::mem::replace(&mut ends.last, slot);
        ends.len += 1;
        match some(last) {
            Some(last) => self.nodes[last as usize].after = slot,
            None => ends.first = slot,
        }
        self.nodes[place] = Node { before: last, after: NONE, chain };
    }

    /// Takes a slot out of its chain; which one that was.
    pub(super) fn remove(&mut self, slot: u32) -> Option<u16> {
        let chain = self.chain_of(slot)?;
        let node = &mut self.nodes[slot as usize];
        node.chain = NO_CHAIN;
        let (before, after) = (node.before, node.after);
        let ends = &mut self.ends[usize::from(chain)];
        ends.len -= 1;
        match some(before) {
            Some(before) => self.nodes[before as usize].after = after,
            None => ends.first = after,
        }
        match some(after) {
            Some(after) => self.nodes[after as usize].before = before,
            None => ends.last = before,
        }
        Some(chain)
    }
}

fn some(slot: u32) -> Option<u32> {
    (slot != NONE).then_some(slot)
}

#[cfg(test)]
mod tests {
    use super::Chains;
    use std::vec::Vec;

    fn backwards(chains: &Chains, chain: u16) -> Vec<u32> {
        core::iter::successors(chains.last(chain), |&slot| chains.before(slot)).collect()
    }

    #[test]
    fn a_slot_moves_from_chain_to_chain_and_leaves_no_gap() {
        let mut chains = Chains::new(2);
        for slot in 0..4 {
            chains.append(0, slot);
        }
        chains.append(1, 2);
        chains.append(0, 0);
        assert_eq!(backwards(&chains, 0), [0, 3, 1]);
        assert_eq!(backwards(&chains, 1), [2]);
        assert_eq!((chains.first(0), chains.len(0)), (Some(1), 3));
        assert_eq!(chains.chain_of(2), Some(1));
    }

    #[test]
    fn the_last_slot_leaves_an_empty_chain() {
        let mut chains = Chains::new(1);
        chains.append(0, 5);
        assert_eq!(chains.remove(5), Some(0));
        assert_eq!(chains.remove(5), None);
        assert_eq!((chains.first(0), chains.last(0), chains.len(0)), (None, None, 0));
    }
}
