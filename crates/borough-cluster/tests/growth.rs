//! What owners, routes and tables of many shards and types cost, by an allocator that counts what one thread takes: all nodes run on it. A program of
//! its own, because the allocator is that of all of it.
//!
//! Work that is repeated for every other shard allocates, so it shows in bytes, on a busy machine as on an idle one.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Node, Region};

const NODES: u64 = 3;
const PATIENCE: Duration = Duration::from_secs(120);

struct Echo;

impl Actor for Echo {
    type Msg = (u64, Reply<u64>);

    async fn receive(&mut self, (number, reply): Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(number);
        Ok(())
    }
}

type Echoes = Region<(u64, Reply<u64>)>;

/// A cluster in which no shard has an owner, and the first node's regions.
async fn cluster(types: u64, shards: u32) -> (Vec<Node>, Vec<Echoes>) {
    let network = MemoryNetwork::new(1);
    let mut nodes = Vec::new();
    for number in 1..=NODES {
        let node = Node::builder("test").listen(format!("n:{number}")).seed("n:1");
        nodes.push(node.simulated(&network, number, 0).start().await.unwrap());
    }
    let mut regions = Vec::new();
    for node in &nodes {
        node.wait_for(3).await.unwrap();
        for number in 0..types {
            // An id is the number of its shard.
            let by_number = |id: &[u8]| std::str::from_utf8(id).map_or(0, |id| id.parse().unwrap_or(0));
            let region = node.shard(format!("type-{number}"), |_| Echo).shards(shards).shard_by(by_number);
            regions.push(region.keeps_own_state().start().await.unwrap());
        }
    }
    regions.truncate(usize::try_from(types).unwrap());
    (nodes, regions)
}

/// Asks every shard at once, and waits for all answers.
async fn ask_all(regions: &[Echoes], shards: u32) {
    let mut asks = Vec::new();
    for region in regions {
        for shard in 0..u64::from(shards) {
            let region = region.clone();
            asks.push(tokio::spawn(async move {
                region.ask(shard, |reply| (shard, reply)).timeout(PATIENCE).await.unwrap()
            }));
        }
    }
    for (number, ask) in asks.into_iter().enumerate() {
        assert_eq!(ask.await.unwrap(), number as u64 % u64::from(shards));
    }
}

/// How many bytes are taken for each shard until all have been asked once.
fn bytes_a_shard(types: u64, shards: u32) -> u64 {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (_nodes, regions) = runtime.block_on(cluster(types, shards));
    let taken = allocation_counter::measure(|| runtime.block_on(ask_all(&regions, shards)));
    taken.bytes_total / (types * u64::from(shards))
}

/// Holds that a shard costs the same where there are 16 times as many.
fn assert_linear(few: u64, many: u64) {
    assert!(many < 2 * few, "{few} bytes for each shard, {many} where there are 16 times as many");
}

#[test]
fn a_shard_costs_the_same_however_many_its_type_has() {
    assert_linear(bytes_a_shard(1, 256), bytes_a_shard(1, 4096));
}

#[test]
fn a_shard_costs_the_same_however_many_types_there_are() {
    assert_linear(bytes_a_shard(4, 64), bytes_a_shard(64, 64));
}
