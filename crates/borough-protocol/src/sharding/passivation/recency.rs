//! By the time of the last message alone: the least recent goes (LRU), or the most recent but one (MRU).

use super::chains::Chains;

#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// One chain, the least recent first.
    chains: Chains,
    most_recent_goes: bool,
}

impl Recency {
    pub(super) fn new(most_recent_goes: bool) -> Self {
        Self { chains: Chains::new(1), most_recent_goes }
    }

    pub(super) fn len(&self) -> u32 {
        self.chains.len(0)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.chains.chain_of(slot).is_some()
    }

    pub(super) fn touch(&mut self, slot: u32) {
        self.chains.append(0, slot);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.chains.remove(slot);
    }

    pub(super) fn victim(&mut self) -> Option<u32> {
        let slot = if self.most_recent_goes {
            // The most recent one has just been given a message.
            let last = self.chains.last(0)?;
            self.chains.before(last).unwrap_or(last)
        } else {
            self.chains.first(0)?
        };
        self.chains.remove(slot);
        Some(slot)
    }
}
