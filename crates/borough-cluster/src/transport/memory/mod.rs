//! A network inside one process, with faults, for tests and for simulated nodes.
//!
//! Promise: in one current-thread runtime with paused time, the same seed and the same calls give the same bytes
//! at the same moments. A direction between two addresses can be cut, healed, delayed or slowed; connections can
//! be refused and reset. As with TCP a stream carries bytes in order or ends with an error: a cut holds bytes
//! back, and what was held arrives once it is healed.
//!
//! ```text
//!        cut: new dials wait, bytes wait, writers stall when the pipe is full
//! open ------------------------------------------------------------------------> cut
//!   ^ <------------------------------------------------------------------ heal ---+
//!   |
//!   +-- reset: both ends of every connection fail; new ones may be made
//! ```

mod link;
mod listener;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use borough_protocol::incarnation::Address;
use borough_protocol::random::Random;
use tokio::sync::Notify;

use self::link::{Condition, Link};
use self::listener::{MemoryListener, Queue};
use self::stream::MemoryStream;
use super::{Boxed, Listener, Stream, Transport, Unresolved};

/// A network of named addresses. Clones are the same network.
#[derive(Clone)]
pub struct MemoryNetwork {
    state: Arc<Mutex<State>>,
    /// Something changed that one who dials or accepts may wait for.
    changed: Arc<Notify>,
}

struct State {
    listeners: BTreeMap<Address, Queue>,
    /// Addresses whose names do not resolve.
    unresolved: BTreeSet<Address>,
    /// What is wrong from one address to another; nothing for those that are not in it.
    conditions: BTreeMap<(Address, Address), Condition>,
    links: BTreeMap<u64, Link>,
    next_id: u64,
    random: Random,
}

impl MemoryNetwork {
    /// A network without faults; what it draws follows from the seed.
    pub fn new(seed: u64) -> Self {
        let state = State {
            listeners: BTreeMap::new(),
            unresolved: BTreeSet::new(),
            conditions: BTreeMap::new(),
            links: BTreeMap::new(),
            next_id: 0,
            random: Random::seeded(seed),
        };
        Self { state: Arc::new(Mutex::new(state)), changed: Arc::new(Notify::new()) }
    }

    /// The way of one node into this network. It dials from this address, which is how faults know its direction.
    pub fn transport(&self, own: Address) -> MemoryTransport {
        MemoryTransport { network: self.clone(), own }
    }

    /// From now on nothing gets from one to the other. Writers stall once the pipe is full, dials between the two
    /// wait, and neither side hears that the other is gone.
    pub fn cut(&self, from: &Address, to: &Address) {
        self.change(from, to, |condition| condition.cut = true);
    }

    /// From now on dials from one to the other are refused. Connections that stand go on.
    pub fn refuse(&self, from: &Address, to: &Address) {
        self.change(from, to, |condition| condition.refuses = true);
    }

    /// From now on the name in that address does not resolve, wherever it is dialled from. Connections that stand go on.
    pub fn unresolve(&self, address: &Address) {
        self.lock().unresolved.insert(address.clone());
    }

    /// From now on the name in that address resolves again.
    pub fn resolve(&self, address: &Address) {
        self.lock().unresolved.remove(address);
    }

    /// From now on each chunk waits so long, drawn by the seed. Order is kept.
    pub fn delay(&self, from: &Address, to: &Address, delay: RangeInclusive<Duration>) {
        self.change(from, to, |condition| condition.delay = (*delay.start(), *delay.end()));
    }

    /// From now on `to` reads at most that many bytes a second of what `from` sends; 0 is taken as 1.
    pub fn slow(&self, from: &Address, to: &Address, bytes_a_second: u32) {
        self.change(from, to, |condition| condition.bytes_a_second = Some(bytes_a_second.max(1)));
    }

    /// Ends every fault from one to the other. What was held back arrives.
    pub fn heal(&self, from: &Address, to: &Address) {
        self.change(from, to, |condition| *condition = Condition::default());
    }

    /// Ends every fault.
    pub fn heal_all(&self) {
        self.lock().unresolved.clear();
        let directions: Vec<_> = self.lock().conditions.keys().cloned().collect();
        for (from, to) in directions {
            self.heal(&from, &to);
        }
    }

    /// Breaks all connections between the two, whoever made them: both ends fail, what was under way is lost.
    pub fn reset(&self, one: &Address, other: &Address) {
        let mut wakers = Vec::new();
        for link in self.lock().links.values_mut().filter(|link| link.is_between(one, other)) {
            link.reset(&mut wakers);
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How many connections have at least one end that is held.
    pub fn connections(&self) -> usize {
        self.lock().links.len()
    }

    fn change(&self, from: &Address, to: &Address, change: impl FnOnce(&mut Condition)) {
        let mut wakers = Vec::new();
        {
            let mut state = self.lock();
            let condition = state.conditions.entry((from.clone(), to.clone())).or_default();
            change(condition);
            let condition = *condition;
            for link in state.links.values_mut() {
                link.set_condition(from, to, condition, &mut wakers);
            }
        }
        // Outside of the lock: what is woken may be dropped at once, and drops streams with it.
        wakers.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn dial(&self, from: Address, to: Address) -> io::Result<MemoryStream> {
        if self.lock().unresolved.contains(&to) {
            return Err(Unresolved::error(&to, &"no such name"));
        }
        let delay = self.lock().round_trip(&from, &to);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        loop {
            let changed = self.changed.notified();
            match self.lock().connect(&from, &to) {
                Dialled::Connected(link) => {
                    self.changed.notify_waiters();
                    return Ok(MemoryStream::new(self.clone(), link, link::DIALER));
                }
                Dialled::Refused => {
                    let text = format!("cannot connect to {to}: refused");
                    return Err(io::Error::new(io::ErrorKind::ConnectionRefused, text));
                }
                Dialled::Wait => {}
            }
            changed.await;
        }
    }
}

impl fmt::Debug for MemoryNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryNetwork").field("connections", &self.connections()).finish_non_exhaustive()
    }
}

enum Dialled {
    Connected(u64),
    Refused,
    Wait,
}

impl State {
    fn condition(&self, from: &Address, to: &Address) -> Condition {
        self.conditions.get(&(from.clone(), to.clone())).copied().unwrap_or_default()
    }

    fn round_trip(&mut self, from: &Address, to: &Address) -> Duration {
        let there = self.condition(from, to).draw_delay(&mut self.random);
        there + self.condition(to, from).draw_delay(&mut self.random)
    }

    fn connect(&mut self, from: &Address, to: &Address) -> Dialled {
        let (there, back) = (self.condition(from, to), self.condition(to, from));
        if there.cut || back.cut {
            return Dialled::Wait;
        }
        let Some(queue) = self.listeners.get_mut(to).filter(|_| !there.refuses) else {
            return Dialled::Refused;
        };
        if queue.is_full() {
            return Dialled::Wait;
        }
        let id = self.next_id;
        self.next_id += 1;
        queue.push(id, from.clone());
        self.links.insert(id, Link::new([from.clone(), to.clone()], [there, back]));
        Dialled::Connected(id)
    }
}

/// One node's way into a [`MemoryNetwork`].
#[derive(Clone, Debug)]
pub struct MemoryTransport {
    network: MemoryNetwork,
    own: Address,
}

impl Transport for MemoryTransport {
    fn bind(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Listener>>> {
        let listener = MemoryListener::bind(&self.network, address);
        Box::pin(async move { Ok(Box::new(listener?) as Box<dyn Listener>) })
    }

    fn dial(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        let (from, to) = (self.own.clone(), address.clone());
        Box::pin(async move { Ok(Box::new(self.network.dial(from, to).await?) as Box<dyn Stream>) })
    }

    fn secure(&self, stream: Box<dyn Stream>) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move { Ok(stream) })
    }
}

#[cfg(test)]
mod tests;
