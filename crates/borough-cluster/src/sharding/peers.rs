//! The ways to other nodes, for messages to entities.
//!
//! An ask to an entity outlives the node it was sent to: that one may give its shards away and leave in order, and the answer comes from
//! elsewhere. So it does not fail with the link, but when the table says that the node is gone and did not leave in order.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_actor::ActorId;
use borough_actor::remote::{self, Carrier, Head, Home, Interruption, Lost, Sending, Unsent, WatchAway};
use borough_protocol::incarnation::Uid;
use borough_protocol::table::{Removal, Table};
use borough_wire::codec::CodecId;

use crate::link::{Hub, Link, next_number};

/// All of them, for one type of entities.
#[derive(Default)]
pub(super) struct Peers {
    known: Mutex<HashMap<Uid, Arc<dyn Carrier>>>,
}

impl Peers {
    /// The way to that member; `None` if it is none.
    pub(super) fn to(&self, uid: Uid, table: &Table, hub: &Arc<Hub>) -> Option<Arc<dyn Carrier>> {
        let member = table.member(uid)?;
        let way = || Arc::new(Lasting { link: hub.link(&member.incarnation), number: next_number() });
        Some(self.lock().entry(uid).or_insert_with(|| way()).clone())
    }

    /// Fails the asks that went to those who are gone and left nothing behind.
    pub(super) fn follow(&self, table: &Table, hub: &Hub) {
        self.lock().retain(|uid, way| {
            let is_member = table.member(*uid).is_some();
            let left = table.removed().get(uid).is_some_and(|removed| removed.why == Removal::Goodbye);
            if !is_member && !left {
                remote::carrier_lost(hub.system_handle(), way.number());
            }
            is_member
        });
    }

    /// This node's life is over: nothing comes back that was asked of others.
    pub(super) fn clear(&self, hub: &Hub) {
        for (_, way) in self.lock().drain() {
            remote::carrier_lost(hub.system_handle(), way.number());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uid, Arc<dyn Carrier>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A link, under a number of its own: asks by it do not fail when the link does.
struct Lasting {
    link: Arc<Link>,
    number: u32,
}

impl Carrier for Lasting {
    fn number(&self) -> u32 {
        self.number
    }

    fn home(&self) -> &Arc<dyn Home> {
        self.link.home()
    }

    fn uid(&self) -> u64 {
        self.link.uid()
    }

    fn address(&self) -> &str {
        self.link.address()
    }

    #[inline]
    fn codec(&self) -> CodecId {
        self.link.codec()
    }

    fn is_lost(&self) -> bool {
        self.link.is_lost()
    }

    #[inline]
    fn try_send(&self, head: Head, body: &[u8]) -> Result<(), Unsent> {
        self.link.try_send(head, body)
    }

    fn send(self: Arc<Self>, head: Head, body: Vec<u8>) -> Pin<Box<dyn Sending>> {
        self.link.clone().send(head, body)
    }

    fn answer(&self, ask: u64, body: &[u8]) -> Result<(), Unsent> {
        self.link.answer(ask, body)
    }

    fn lose(&self, ask: u64, why: Lost) {
        self.link.lose(ask, why);
    }

    fn interrupt(&self, target: u64, what: Interruption) {
        self.link.interrupt(target, what);
    }

    fn watch(&self, target: u64, watch: u64, by: Option<ActorId>, watcher: WatchAway) {
        self.link.watch(target, watch, by, watcher);
    }

    fn unwatch(&self, target: u64, watch: u64) {
        self.link.unwatch(target, watch);
    }
}
