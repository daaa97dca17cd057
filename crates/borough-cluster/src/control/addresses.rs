//! Where peers listen, as they proved it in a handshake.

use std::collections::{HashMap, VecDeque};

use borough_protocol::incarnation::{Address, Incarnation, Uid};

/// More than this are not remembered; who is forgotten is found through the machine, or speaks again.
const REMEMBERED: usize = 4096;

/// The addresses of those who were met last. The machine knows the members; this is for those it does not know yet.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    known: HashMap<Uid, Address>,
    /// In the order they were first met.
    met: VecDeque<Uid>,
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
}
