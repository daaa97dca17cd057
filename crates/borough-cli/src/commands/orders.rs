//! What a cluster can be told to do.

use anyhow::{Result, bail};
use borough_management::view::{Accepted, MoveOrder};

use crate::client::Client;
use crate::output;

/// `drain`, `leave` or `down`.
pub(super) fn tell(client: &Client, order: &str, node: &str, json: bool) -> Result<()> {
    let members = client.members()?;
    if !members.members.iter().any(|member| member.node == node) {
        let known: Vec<_> = members.members.iter().map(|member| member.node.as_str()).collect();
        bail!("no member is called {node:?}; there are: {}", known.join(", "));
    }
    said(&client.order(order, node)?, json)
}

/// A type need not be named where there is one alone.
pub(super) fn move_shard(
    client: &Client,
    kind: Option<String>,
    shard: u32,
    node: String,
    json: bool,
) -> Result<()> {
    let kind = match kind {
        Some(kind) => kind,
        None => only_kind(client)?,
    };
    said(&client.move_shard(&MoveOrder { kind, shard, node })?, json)
}

fn only_kind(client: &Client) -> Result<String> {
    let mut kinds: Vec<_> = client.shards()?.kinds.into_iter().map(|map| map.kind).collect();
    match (kinds.pop(), kinds.is_empty()) {
        (Some(kind), true) => Ok(kind),
        (Some(last), false) => bail!("name the type with --type: {}, {last}", kinds.join(", ")),
        (None, _) => bail!("no type was started in the cluster at {} yet", client.endpoint()),
    }
}

pub(super) fn said(accepted: &Accepted, json: bool) -> Result<()> {
    if json {
        return output::json(accepted);
    }
    output::line(&accepted.accepted)
}
