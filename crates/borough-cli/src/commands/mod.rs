//! What the program does, one file a subject.

mod certs;
mod data;
mod entities;
mod events;
mod ids;
mod members;
mod orders;
mod recover;
mod settings;
mod shards;
mod tools;
mod top;

use anyhow::Result;

use crate::arguments::{Arguments, Command, DataCommand};
use crate::client::Client;
use crate::demo;

/// Does what was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { target, command } = arguments;
    let json = target.json;
    // Only who asks a node needs certificates that can be read.
    let client = || Client::new(&target);
    match command {
        Command::Demo(options) => demo::run(&options, json),
        Command::Node(options) => demo::run_node(options),
        Command::Top { once } => top::show(&client()?, once, json),
        Command::Certs { folder, nodes, hosts } => certs::make(&folder, &nodes, &hosts, json),
        Command::Data { command: DataCommand::Inspect { directory } } => data::inspect(&directory, json),
        Command::Data { command: DataCommand::Reset { directory, dry_run } } => {
            data::reset(&directory, dry_run, json)
        }
        Command::Sim(options) => tools::run(tools::SIM, &options.arguments),
        Command::Bench(options) => tools::run(tools::BENCH, &options.arguments),
        Command::Members => members::show(&client()?, json),
        Command::Shards { kind } => shards::show(&client()?, kind.as_deref(), json),
        Command::Entities => entities::show(&client()?, json),
        Command::Ids { kind, shard } => ids::show(&client()?, &kind, shard, json),
        Command::Explain { kind, id } => entities::explain(&client()?, &kind, &id, json),
        Command::Settings { changed } => settings::show(&client()?, changed, json),
        Command::Events { count } => events::follow(&client()?, count, json),
        Command::Drain { node } => orders::tell(&client()?, "drain", &node, json),
        Command::Leave { node } => orders::tell(&client()?, "leave", &node, json),
        Command::Down { node } => orders::tell(&client()?, "down", &node, json),
        Command::Recover { yes: false, .. } => recover::plan(&client()?, json),
        Command::Recover { yes: true, dead } => recover::recover(&client()?, dead, json),
        Command::Move { shard, node, kind } => orders::move_shard(&client()?, kind, shard, node, json),
    }
}
