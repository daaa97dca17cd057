//! What the program does, one file a subject.

mod entities;
mod events;
mod members;
mod orders;
mod shards;

use anyhow::Result;

use crate::arguments::{Arguments, Command};
use crate::client::Client;
use crate::demo;

/// Does what was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { target, command } = arguments;
    let client = Client::new(&target);
    let json = target.json;
    match command {
        Command::Demo(options) => demo::run(options, json),
        Command::Node(options) => demo::run_node(options),
        Command::Members => members::show(&client, json),
        Command::Shards { kind } => shards::show(&client, kind.as_deref(), json),
        Command::Entities => entities::show(&client, json),
        Command::Explain { kind, id } => entities::explain(&client, &kind, &id, json),
        Command::Events { count } => events::follow(&client, count, json),
        Command::Drain { node } => orders::tell(&client, "drain", &node, json),
        Command::Leave { node } => orders::tell(&client, "leave", &node, json),
        Command::Down { node } => orders::tell(&client, "down", &node, json),
        Command::Move { shard, node, kind } => orders::move_shard(&client, kind, shard, node, json),
    }
}
