//! Who hosts what.

use borough_cluster::{NodeId, ShardMap, ShardPlace, Uid};

use crate::bureau::Bureau;
use crate::view;

/// The shards of every type, by this node's copy of the table.
pub(crate) fn shards(bureau: &Bureau) -> view::Shards {
    let kinds = bureau.node.shard_maps().into_iter().map(map).collect();
    view::Shards { seen_by: bureau.name(), kinds }
}

fn map(map: ShardMap) -> view::ShardMap {
    let mut hosts: Vec<_> = map.hosts.into_iter().map(named).collect();
    hosts.sort_unstable();
    view::ShardMap {
        kind: map.kind.to_string(),
        shards: map.shards,
        hosts,
        places: map.places.into_iter().map(place).collect(),
    }
}

fn place(place: ShardPlace) -> view::Place {
    view::Place {
        shard: place.shard,
        owner: place.owner.map(named),
        epoch: place.epoch.get(),
        moving_to: place.moving_to.map(named),
    }
}

fn named((node, _): (NodeId, Uid)) -> String {
    node.to_string()
}
