//! The ways to all peers.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::node::{Node, Peer};

use super::counts::add;
use super::dial::Use;
use super::outbound::{Means, Outbound};
use super::queue::Queue;

/// When there are this many ways, and again at each doubling, those that nobody goes any more are looked for.
const LOOK_AT: usize = 64;

/// Whom this node speaks to. When it is dropped, what waits may still go out on connections there are; no new one is made.
pub(super) struct Peers {
    means: Means,
    // Ordered, so that a simulation goes the same way every time.
    lives: BTreeMap<Uid, Arc<Queue>>,
    places: BTreeMap<Address, Arc<Queue>>,
    look_at: usize,
}

impl Peers {
    pub(super) fn new(means: Means) -> Self {
        Self { means, lives: BTreeMap::new(), places: BTreeMap::new(), look_at: LOOK_AT }
    }

    /// Sends a message, or counts it as dropped if nobody knows where to.
    pub(super) fn send(&mut self, to: &Peer, machine: &Node, message: Vec<u8>) {
        let queue = match to {
            Peer::Node(uid) => self.way_to_life(*uid, machine),
            Peer::Address(address) => Some(self.way_to_place(address)),
        };
        let dropped = queue.map_or(1, |queue| queue.put(message).unwrap_or(1));
        add(&self.means.counters.dropped, dropped);
    }

    /// What waits for that life still goes out if it is connected; then the connection is closed.
    pub(super) fn close(&mut self, uid: Uid) {
        if let Some(queue) = self.lives.remove(&uid) {
            queue.finish();
        }
    }

    fn way_to_life(&mut self, uid: Uid, machine: &Node) -> Option<Arc<Queue>> {
        if let Some(queue) = self.lives.get(&uid).filter(|queue| !queue.is_over()) {
            return Some(queue.clone());
        }
        let address = {
            let addresses = self.means.addresses.lock().unwrap_or_else(PoisonError::into_inner);
            addresses.of(uid).or_else(|| machine.address_of(uid)).cloned()?
        };
        let queue = self.begin(address, Use::ToLife(uid));
        self.lives.insert(uid, queue.clone());
        Some(queue)
    }

    fn way_to_place(&mut self, address: &Address) -> Arc<Queue> {
        if let Some(queue) = self.places.get(address).filter(|queue| !queue.is_over()) {
            return queue.clone();
        }
        let queue = self.begin(address.clone(), Use::ToWhoever);
        self.places.insert(address.clone(), queue.clone());
        queue
    }

    fn begin(&mut self, address: Address, what_for: Use) -> Arc<Queue> {
        if self.lives.len() + self.places.len() >= self.look_at {
            self.lives.retain(|_, queue| !queue.is_over());
            self.places.retain(|_, queue| !queue.is_over());
            self.look_at = 2 * (self.lives.len() + self.places.len()) + LOOK_AT;
        }
        let queue = Arc::new(Queue::default());
        let outbound = Outbound { means: self.means.clone(), address, what_for, queue: queue.clone() };
        tokio::spawn(outbound.run());
        queue
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        for queue in self.lives.values().chain(self.places.values()) {
            queue.finish();
        }
    }
}
