//! Single entities.

use anyhow::Result;

use crate::client::Client;
use crate::output;

pub(super) fn show(client: &Client, json: bool) -> Result<()> {
    let entities = client.entities()?;
    if json {
        return output::json(&entities);
    }
    if entities.busiest.is_empty() {
        println!("no entity has messages waiting");
        return Ok(());
    }
    let mut table = output::table(&["TYPE", "ID", "NODE", "WAITING"]);
    for busy in entities.busiest {
        table.add_row([busy.kind, busy.id, busy.node, busy.waiting.to_string()]);
    }
    println!("{table}");
    Ok(())
}

pub(super) fn explain(client: &Client, kind: &str, id: &str, json: bool) -> Result<()> {
    let location = client.explain(kind, id)?;
    if json {
        return output::json(&location);
    }
    let place = location.node.as_deref().unwrap_or("nowhere now");
    println!("{kind}/{id} lives on {place}, in shard {}", location.shard);
    let since =
        location.since_millis.map_or_else(String::new, |millis| format!(", for {}", output::lasting(millis)));
    println!("owned since epoch {}{since}", location.epoch);
    println!("{}", location.why);
    Ok(())
}
