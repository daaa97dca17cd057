//! Which entities live.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::client::Client;
use crate::output;

/// What lives in one shard.
#[derive(Serialize)]
struct Living {
    shard: u32,
    ids: Vec<String>,
}

pub(super) fn show(client: &Client, kind: &str, shard: Option<u32>, json: bool) -> Result<()> {
    let shards = client.shards()?;
    let Some(map) = shards.kinds.iter().find(|map| map.kind == kind) else {
        let known: Vec<_> = shards.kinds.iter().map(|map| &*map.kind).collect();
        bail!("the cluster has no type {kind:?}; it has: {}", known.join(", "));
    };
    let wanted = match shard {
        Some(shard) => vec![shard],
        // A shard that never had an owner has no entity.
        None => map.places.iter().map(|place| place.shard).collect(),
    };
    let mut all = Vec::new();
    for shard in wanted {
        let mut after = None;
        let mut ids = Vec::new();
        loop {
            let page = client.entity_ids(kind, shard, after.as_deref())?;
            if json {
                ids.extend(page.ids);
            } else {
                page.ids.iter().try_for_each(output::line)?;
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if !ids.is_empty() {
            all.push(Living { shard, ids });
        }
    }
    if json { output::json(&all) } else { Ok(()) }
}
