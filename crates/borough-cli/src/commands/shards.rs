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
            table.add_row([owner, places.len().to_string(), moving.to_string(), numbers(&places)]);
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

/// Runs of numbers as `3-7`.
fn numbers(places: &[&Place]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for place in places {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == place.shard => *last = place.shard,
            _ => runs.push((place.shard, place.shard)),
        }
    }
    let said = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(said).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Place, numbers};

    #[test]
    fn numbers_in_a_row_are_shown_by_the_first_and_the_last() {
        let place = |shard| Place { shard, owner: None, epoch: 1, moving_to: None };
        let places: Vec<_> = [0, 1, 2, 5, 7, 8].map(place).into();
        assert_eq!(numbers(&places.iter().collect::<Vec<_>>()), "0-2 5 7-8");
    }
}
