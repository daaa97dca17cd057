//! Who hosts what.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use borough_management::view::{Place, ShardMap};

use crate::client::Client;
use crate::output;

pub(super) fn show(client: &Client, kind: Option<&str>, json: bool) -> Result<()> {
    let mut shards = client.shards()?;
    if let Some(kind) = kind {
        let known: Vec<_> = shards.kinds.iter().map(|map| map.kind.clone()).collect();
        shards.kinds.retain(|map| map.kind == kind);
        if shards.kinds.is_empty() {
            bail!("the cluster has no type {kind:?}; it has: {}", known.join(", "));
        }
    }
    if json {
        return output::json(&shards);
    }
    if shards.kinds.is_empty() {
        output::line("no type was started in this cluster yet")?;
    }
    for map in &shards.kinds {
        let owned = map.places.iter().filter(|place| place.owner.is_some()).count();
        let shards = output::counted(map.shards as usize, "shard");
        output::line(format_args!("{}: {owned} of {shards} have an owner", map.kind))?;
        let mut table = output::table(&["NODE", "SHARDS", "MOVING AWAY", "NUMBERS"]);
        for (owner, places) in by_owner(map) {
            let moving = places.iter().filter(|place| place.moving_to.is_some()).count();
            let numbers = output::runs(places.iter().map(|place| place.shard));
            table.add_row([owner, places.len().to_string(), moving.to_string(), numbers]);
        }
        output::line(table)?;
    }
    Ok(())
}

/// Hosts without a shard are shown too.
fn by_owner(map: &ShardMap) -> BTreeMap<String, Vec<&Place>> {
    let mut owners: BTreeMap<String, Vec<&Place>> =
        map.hosts.iter().map(|host| (host.clone(), Vec::new())).collect();
    for place in &map.places {
        let owner = place.owner.clone().unwrap_or_else(|| "(nobody yet)".to_owned());
        owners.entry(owner).or_default().push(place);
    }
    owners
}
