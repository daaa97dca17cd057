//! The ways to other nodes, for messages to entities.
//!
//! An ask to an entity outlives the node it was sent to: that one may give its shards away and leave in order, and the answer comes from
//! elsewhere. So it does not fail with the link, but when the table says that the node it went to is gone and did not leave in order, or the
//! one that has its shard by then, or that the shard began anew.

use std::collections::{BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_actor::ActorId;
use borough_actor::remote::{self, Carrier, Head, Home, Interruption, Lost, Sending, Unsent, WatchAway};
use borough_protocol::incarnation::{Incarnation, Uid};
use borough_protocol::sharding::{Entry, Epoch, KindId, ShardId};
use borough_protocol::table::{Removal, Table};
use borough_wire::codec::CodecId;

use crate::link::{Hub, Link, next_number};

/// So many ways to one shard are remembered; asks by older ones end by their time.
const WAYS_MAX: usize = 16;

/// All of them, for one type of entities.
pub(super) struct Peers {
    /// How the type's messages are encoded.
    codec: CodecId,
    known: Mutex<HashMap<Uid, Arc<dyn Carrier>>>,
    /// The ways that were opened to each shard, the newest last.
    opened: Mutex<HashMap<u32, Vec<Opened>>>,
}

/// A way to one shard. It has a number of its own, by which the asks that went by it are found.
struct Opened {
    to: Uid,
    tag: Epoch,
    number: u32,
}

impl Peers {
    pub(super) fn new(codec: CodecId) -> Self {
        Self { codec, known: Mutex::default(), opened: Mutex::default() }
    }

    /// The way to that member; `None` if it is none.
    pub(super) fn to(&self, uid: Uid, table: &Table, hub: &Arc<Hub>) -> Option<Arc<dyn Carrier>> {
        let member = table.member(uid)?;
        let way = || Arc::new(self.way(&member.incarnation, hub));
        Some(self.lock().entry(uid).or_insert_with(|| way()).clone())
    }

    /// A way of its own to a shard that member has by that tag; `None` if it is no member.
    pub(super) fn open(
        &self,
        shard: u32,
        (to, tag): (Uid, Epoch),
        table: &Table,
        hub: &Arc<Hub>,
    ) -> Option<Arc<dyn Carrier>> {
        let member = table.member(to)?;
        let way = self.way(&member.incarnation, hub);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let ways = opened.entry(shard).or_default();
        if ways.len() >= WAYS_MAX {
            ways.remove(0);
        }
        ways.push(Opened { to, tag, number: way.number });
        Some(Arc::new(way))
    }

    /// Fails the asks that nobody will answer by what the table says.
    pub(super) fn follow(&self, id: Option<KindId>, table: &Table, hub: &Hub) {
        let mut lost = BTreeSet::new();
        self.lock().retain(|uid, way| {
            if is_lost(*uid, table) {
                lost.insert(way.number());
            }
            table.member(*uid).is_some()
        });
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).retain(|number, ways| {
            let entry = id.and_then(|kind| table.shard(ShardId { kind, number: *number }));
            ways.retain(|way| {
                let is_over = way.is_over(entry, table);
                if is_over {
                    lost.insert(way.number);
                }
                !is_over
            });
            !ways.is_empty()
        });
        remote::carriers_lost(hub.system_handle(), &lost);
    }

    /// This node's life is over: nothing comes back that was asked of others.
    pub(super) fn clear(&self, hub: &Hub) {
        let mut lost: BTreeSet<u32> = self.lock().drain().map(|(_, way)| way.number()).collect();
        let opened = std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        lost.extend(opened.into_values().flatten().map(|way| way.number));
        remote::carriers_lost(hub.system_handle(), &lost);
    }

    fn way(&self, to: &Incarnation, hub: &Arc<Hub>) -> Lasting {
        Lasting { link: hub.link(to), number: next_number(), codec: self.codec }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uid, Arc<dyn Carrier>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether that node is gone, and did not leave in order.
fn is_lost(uid: Uid, table: &Table) -> bool {
    let left = table.removed().get(&uid).is_some_and(|removed| removed.why == Removal::Goodbye);
    table.member(uid).is_none() && !left
}

impl Opened {
    /// Whether nobody has any more what went by it: the one it went to, or the one that has the shard by now, is lost, or it began anew.
    fn is_over(&self, entry: Option<&Entry>, table: &Table) -> bool {
        let began_anew = |entry: &Entry| entry.lineage > self.tag;
        // One that had frozen it may have sent it on.
        let went_with_its_owner = |entry: &Entry| entry.moving.is_none() && is_lost(entry.owner, table);
        is_lost(self.to, table) || entry.is_some_and(|entry| began_anew(entry) || went_with_its_owner(entry))
    }
}

/// A link, under a number of its own: asks by it do not fail when the link does. What goes by it is encoded as the type says, and not as the node:
/// whoever has the type has agreed to that.
struct Lasting {
    link: Arc<Link>,
    number: u32,
    codec: CodecId,
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
        self.codec
    }

    fn reads(&self, codec: CodecId) -> bool {
        self.link.reads(codec)
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

    fn say(&self, head: Head, body: &[u8]) {
        self.link.say(head, body);
    }

    fn answer(&self, ask: u64, codec: CodecId, body: &[u8]) -> Result<(), Unsent> {
        self.link.answer(ask, codec, body)
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
