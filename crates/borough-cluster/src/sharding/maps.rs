//! Who hosts what, as a whole.

use std::sync::Arc;

use borough_protocol::incarnation::{NodeId, Uid};
use borough_protocol::sharding::Epoch;
use borough_protocol::table::{KindTable, Table};

use crate::node::Node;

/// The shards of one type, by a node's copy of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardMap {
    /// The type.
    pub kind: Arc<str>,
    /// How many shards it has.
    pub shards: u32,
    /// Who can host them, those that leave among them.
    pub hosts: Vec<(NodeId, Uid)>,
    /// Each shard that has ever had an owner, by number.
    pub places: Vec<ShardPlace>,
}

/// Where one shard is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardPlace {
    /// Its number.
    pub shard: u32,
    /// Who owns it; `None` while the lease of an owner that was removed is waited for.
    pub owner: Option<(NodeId, Uid)>,
    /// Since which epoch.
    pub epoch: Epoch,
    /// To whom it is moving.
    pub moving_to: Option<(NodeId, Uid)>,
}

impl Node {
    /// The shards of every type that the cluster knows, by name, started on this node or not.
    ///
    /// By this node's copy of the table, which may be a little behind; empty while it is in no cluster.
    pub fn shard_maps(&self) -> Vec<ShardMap> {
        let Some(table) = self.sharding().sight().table else { return Vec::new() };
        let mut maps: Vec<_> = table.kinds().iter().map(|kind| map(&table, kind)).collect();
        maps.sort_by(|a, b| a.kind.cmp(&b.kind));
        maps
    }
}

fn map(table: &Table, kind: &KindTable) -> ShardMap {
    let named = |uid: Uid| table.member(uid).map(|member| (member.facts.id.clone(), uid));
    let places = kind.shards().iter().map(|(shard, entry)| ShardPlace {
        shard: *shard,
        owner: named(entry.owner),
        epoch: entry.epoch,
        moving_to: entry.moving.and_then(|(to, _)| named(to)),
    });
    ShardMap {
        kind: kind.kind().name.clone(),
        shards: kind.kind().shards,
        hosts: kind.hosts().iter().filter_map(|uid| named(*uid)).collect(),
        places: places.collect(),
    }
}
