//! Where others connect to, inside the process.

use std::collections::VecDeque;
use std::io;
use std::task::Waker;

use borough_protocol::incarnation::Address;

use super::MemoryNetwork;
use super::link;
use super::stream::MemoryStream;
use crate::transport::{Boxed, Listener, Stream};

/// How many may wait to be accepted; further dials wait, as they do when a kernel's queue is full.
const BACKLOG: usize = 128;

/// Those who wait to be accepted at one address.
pub(super) struct Queue {
    /// Which listener it belongs to: an address may be bound again after the first is gone.
    listener: u64,
    waiting: VecDeque<(u64, Address)>,
}

impl Queue {
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= BACKLOG
    }

    pub(super) fn push(&mut self, link: u64, from: Address) {
        self.waiting.push_back((link, from));
    }
}

pub(super) struct MemoryListener {
    network: MemoryNetwork,
    address: Address,
    id: u64,
}

impl MemoryListener {
    pub(super) fn bind(network: &MemoryNetwork, address: &Address) -> io::Result<Self> {
        let mut state = network.lock();
        if state.listeners.contains_key(address) {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another node does"));
        }
        let id = state.next_id;
        state.next_id += 1;
        state.listeners.insert(address.clone(), Queue { listener: id, waiting: VecDeque::new() });
        Ok(Self { network: network.clone(), address: address.clone(), id })
    }

    fn take(&self) -> Option<(u64, Address)> {
        self.network.lock().listeners.get_mut(&self.address)?.waiting.pop_front()
    }
}

impl Listener for MemoryListener {
    fn accept(&mut self) -> Boxed<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            loop {
                let changed = self.network.changed.notified();
                if let Some((link, from)) = self.take() {
                    // There is room for one who waits.
                    self.network.changed.notify_waiters();
                    let stream = MemoryStream::new(self.network.clone(), link, link::ACCEPTOR);
                    return Ok((Box::new(stream) as Box<dyn Stream>, from.to_string()));
                }
                changed.await;
            }
        })
    }

    fn local_address(&self) -> io::Result<Address> {
        Ok(self.address.clone())
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        let mut wakers = Vec::new();
        {
            let mut state = self.network.lock();
            if state.listeners.get(&self.address).is_some_and(|queue| queue.listener == self.id)
                && let Some(queue) = state.listeners.remove(&self.address)
            {
                for (link, _) in queue.waiting {
                    state.let_go(link, link::ACCEPTOR, &mut wakers);
                }
            }
        }
        wakers.into_iter().for_each(Waker::wake);
        self.network.changed.notify_waiters();
    }
}
