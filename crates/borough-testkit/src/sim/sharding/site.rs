//! Everything of sharding on one node: its region, its lanes, its ways and its senders.

use std::collections::BTreeMap;
use std::sync::Arc;

use borough_protocol::flaws::Flaws;
use borough_protocol::incarnation::Uid;
use borough_protocol::machine::Machine;
use borough_protocol::sharding::region::{Patience, Region};
use borough_protocol::sharding::{Epoch, ShardId};
use borough_protocol::table::Table;
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};

use super::lane::Lane;
use super::message::{Item, Key, MessageId};
use super::route::Route;
use crate::sim::clock::Clock;
use crate::sim::moment::Moment;

/// The sharding of one life.
#[derive(Debug)]
pub(in crate::sim) struct Site {
    pub(in crate::sim) region: Region,
    pub(in crate::sim) lanes: BTreeMap<ShardId, Lane>,
    pub(in crate::sim) routes: BTreeMap<ShardId, Route>,
    pub(in crate::sim) senders: Vec<Sender>,
    /// Whether it was told that the table is newer, and has not looked yet.
    pub(in crate::sim) table_is_due: bool,
    /// It leaves: nothing more is sent from here.
    pub(in crate::sim) is_leaving: bool,
    pub(in crate::sim) term: Term,
    /// The version of the node's table that was looked at last.
    pub(in crate::sim) seen: Version,
    cluster: u64,
    flaws: Flaws,
    wake: Option<Moment>,
    wakes: u32,
}

/// Somebody who sends, one message after another.
#[derive(Debug, Default)]
pub(in crate::sim) struct Sender {
    /// To which entity it sends for now, and how many more messages.
    pub(in crate::sim) burst: Option<(ShardId, u8, u32)>,
    /// What it has looked up a way for.
    pub(in crate::sim) guarded: Option<(ShardId, MessageId, Uid, Epoch)>,
    /// How many messages went to each entity.
    pub(in crate::sim) sent: BTreeMap<(ShardId, u8), u32>,
}

impl Site {
    pub(in crate::sim) fn new(me: Uid, table: &Table, senders: u8, patience: Patience, flaws: Flaws) -> Self {
        Self {
            region: Region::new(me, Arc::new(table.clone()), patience, flaws),
            lanes: BTreeMap::new(),
            routes: BTreeMap::new(),
            senders: (0..senders).map(|_| Sender::default()).collect(),
            table_is_due: false,
            is_leaving: false,
            term: table.version().term,
            seen: table.version(),
            cluster: table.cluster().tag(),
            flaws,
            wake: None,
            wakes: 0,
        }
    }

    pub(in crate::sim) fn key(&self, shard: ShardId) -> Key {
        (self.cluster, shard)
    }

    /// The lane of that shard.
    pub(in crate::sim) fn lane(&mut self, me: Uid, shard: ShardId) -> &mut Lane {
        let table = self.region.table();
        self.lanes.entry(shard).or_insert_with(|| Lane::new(me, shard, table.clone(), self.flaws))
    }

    /// The number and moment of a wake to plan, unless one that comes early enough is planned.
    pub(in crate::sim) fn plan_wake(&mut self, now: Moment, clock: &Clock) -> Option<(Moment, u32)> {
        let due = clock.when(self.region.next_deadline())?.max(now);
        if self.wake.is_some_and(|planned| planned <= due) {
            return None;
        }
        self.wake = Some(due);
        self.wakes += 1;
        Some((due, self.wakes))
    }

    /// Whether the wake of that number is the one planned, and its time has come.
    pub(in crate::sim) fn take_wake(&mut self, number: u32, local: Timestamp) -> bool {
        let is_planned = self.wake.is_some() && self.wakes == number;
        if is_planned {
            self.wake = None;
        }
        is_planned && self.region.next_deadline() <= local
    }

    /// Everything that is lost with it.
    pub(in crate::sim) fn messages(&self) -> (Vec<MessageId>, Vec<MessageId>) {
        let id = |item: &Item| if let Item::Message { id, .. } = item { Some(*id) } else { None };
        let held = self.routes.values().flat_map(|route| route.held().iter().filter_map(id));
        let guarded = self.senders.iter().filter_map(|sender| sender.guarded.map(|(_, id, ..)| id));
        (held.chain(guarded).collect(), self.lanes.values().flat_map(Lane::messages).collect())
    }
}
