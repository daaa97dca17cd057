//! Where peers listen, as they proved it in a handshake; and which names of those that were dialled do not resolve.

use std::collections::{HashMap, HashSet, VecDeque};

use borough_protocol::incarnation::{Address, Incarnation, Uid};

use crate::discovery::DiscoveryError;

/// More than this are not remembered; who is forgotten is found through the machine, or speaks again.
const REMEMBERED: usize = 4096;

/// The addresses of those who were met last. The machine knows the members; this is for those it does not know yet.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    known: HashMap<Uid, Address>,
    /// In the order they were first met.
    met: VecDeque<Uid>,
    /// Those whose names did not resolve when they were last dialled.
    unresolved: HashSet<Address>,
    /// Why the discovery could not say the seeds when it was last asked.
    discovery: Option<String>,
}

impl Addresses {
    /// Somebody was met.
    pub(super) fn meet(&mut self, who: &Incarnation) {
        if self.known.insert(who.uid, who.address.clone()).is_none() {
            self.met.push_back(who.uid);
            if self.met.len() > REMEMBERED
                && let Some(oldest) = self.met.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }

    /// Where it listens.
    pub(super) fn of(&self, uid: Uid) -> Option<&Address> {
        self.known.get(&uid)
    }

    /// Whether one who listens there has proved it since the process started, as far as it is remembered.
    pub(super) fn has_answered(&self, address: &Address) -> bool {
        self.known.values().any(|known| known == address)
    }

    /// That address was dialled, and its name does or does not resolve.
    pub(super) fn note_name(&mut self, address: &Address, resolves: bool) {
        if resolves {
            self.unresolved.remove(address);
        } else if !self.unresolved.contains(address) {
            if self.unresolved.len() == REMEMBERED {
                // Those that are still dialled come back at once.
                self.unresolved.clear();
            }
            self.unresolved.insert(address.clone());
        }
    }

    /// Whether its name did not resolve when it was last dialled.
    pub(super) fn is_unresolved(&self, address: &Address) -> bool {
        self.unresolved.contains(address)
    }

    /// The discovery was asked, and failed or not.
    pub(super) fn note_discovery<T>(&mut self, found: &Result<T, DiscoveryError>) {
        self.discovery = found.as_ref().err().map(ToString::to_string);
    }

    /// Why the discovery could not say the seeds when it was last asked.
    pub(super) fn discovery_error(&self) -> Option<&str> {
        self.discovery.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_without_number_are_not_all_remembered() {
        let mut addresses = Addresses::default();
        let who = |number| Incarnation { address: Address::new("a:1"), uid: Uid::new(number).unwrap() };
        for number in 1..=2 * REMEMBERED as u64 {
            addresses.meet(&who(number));
        }
        assert_eq!((addresses.known.len(), addresses.met.len()), (REMEMBERED, REMEMBERED));
        assert!(addresses.of(who(1).uid).is_none() && addresses.of(who(5000).uid).is_some());
    }

    #[test]
    fn a_name_is_unresolved_until_it_resolves_and_not_more_are_remembered_than_may() {
        let mut addresses = Addresses::default();
        let seed = Address::new("seed.invalid:1");
        addresses.note_name(&seed, false);
        assert!(addresses.is_unresolved(&seed));
        addresses.note_name(&seed, true);
        assert!(!addresses.is_unresolved(&seed));
        for number in 0..2 * REMEMBERED {
            addresses.note_name(&Address::new(format!("seed-{number}.invalid:1")), false);
        }
        assert!(addresses.unresolved.len() <= REMEMBERED, "{}", addresses.unresolved.len());
    }
}
