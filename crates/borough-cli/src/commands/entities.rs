//! Single entities.

use anyhow::Result;
use borough::cluster::Epoch;

use crate::client::Client;
use crate::output;

pub(super) fn show(client: &Client, json: bool) -> Result<()> {
    let entities = client.entities()?;
    if json {
        return output::json(&entities);
    }
    if entities.busiest.is_empty() {
        output::line("no entity has messages waiting")?;
    } else {
        let mut table = output::table(&["TYPE", "ID", "NODE", "WAITING"]);
        for busy in entities.busiest {
            table.add_row([busy.kind, busy.id, busy.node, busy.waiting.to_string()]);
        }
        output::line(table)?;
    }
    output::line("")?;
    if entities.slowest.is_empty() {
        output::line("no turn was timed in the last minute")?;
    } else {
        let mut table = output::table(&["TYPE", "ID", "NODE", "SLOWEST TURN"]);
        for slow in entities.slowest {
            table.add_row([slow.kind, slow.id, slow.node, output::short(slow.took_nanos)]);
        }
        output::line(table)?;
    }
    Ok(())
}

pub(super) fn explain(client: &Client, kind: &str, id: &str, json: bool) -> Result<()> {
    let location = client.explain(kind, id)?;
    if json {
        return output::json(&location);
    }
    // Whether the entity has been made is not known to the table.
    let shard = location.shard;
    match &location.node {
        Some(node) => {
            output::line(format_args!("{kind}/{id} belongs to shard {shard}, which is on node {node}"))?;
        }
        None => output::line(format_args!("{kind}/{id} belongs to shard {shard}, which is on no node now"))?,
    }
    let since =
        location.since_millis.map_or_else(String::new, |millis| format!(", for {}", output::lasting(millis)));
    output::line(format_args!("owned since epoch {}{since}", Epoch::new(location.epoch)))?;
    output::line(location.why)
}
