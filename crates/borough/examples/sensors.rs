//! The city of sensors: `cargo run --release --example sensors`.
//!
//! Eight nodes, here in one process, host a hundred thousand sensors in 256 shards. Each node is told of an eighth of them, and finds each wherever it lives. Then a node leaves,
//! and every reading is still there.

use std::time::{Duration, Instant};

use borough::cluster::KindStats;
use borough::prelude::*;
use tokio::task::JoinSet;

/// What can be said to a sensor.
#[derive(Serialize, Deserialize)]
enum Sensor {
    Reading(f32),
    Count(Reply<u32>),
}

/// A sensor; what it has measured moves with it.
#[derive(Default, Serialize, Deserialize)]
struct SensorEntity {
    readings: u32,
    newest: f32,
}

impl Actor for SensorEntity {
    type Msg = Sensor;
    async fn receive(&mut self, msg: Sensor, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Sensor::Reading(value) => (self.readings, self.newest) = (self.readings + 1, value),
            Sensor::Count(reply) => reply.send(self.readings),
        }
        Ok(())
    }
}

const SENSORS: u64 = 100_000;
const NODES: u64 = 8;

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let (mut nodes, mut regions) = (Vec::<Node>::new(), Vec::new());
    for number in 1..=NODES {
        // Eight nodes share one machine here, so each may be kept waiting for longer than the 400 ms that are meant for a machine a node.
        let node = Node::builder("city").node_id(format!("node-{number}")).listen("127.0.0.1:0");
        let node = node.max_pause(Duration::from_secs(2)).failover_target(Duration::from_secs(12));
        let node = node.seeds(nodes.first().map(Node::address)).start().await?;
        // No shard is given away before all eight are there to have some.
        let sensors = node.shard("sensors", |_id| SensorEntity::default()).shards(256).min_regions(8);
        regions.push(sensors.migrate_state().start().await?);
        nodes.push(node);
    }
    nodes[0].wait_for(nodes.len()).await?;
    println!("{NODES} nodes are up");

    let began = Instant::now();
    each_an_eighth(&regions, report).await?;
    println!("{} readings taken in {:?}", each_an_eighth(&regions, count).await?, began.elapsed());
    let mut hosted = 0;
    for (name, stats) in nodes[0].sharding_stats().await {
        let entities = stats?.kinds.iter().map(KindStats::entities).sum::<usize>();
        println!("{name} hosts {entities} sensors");
        hosted += entities;
    }
    println!("{hosted} sensors in all");

    let (leaves, _) = (nodes.remove(3), regions.remove(3));
    let began = Instant::now();
    leaves.leave().await?;
    println!("{} has left after {:?}, and its sensors have moved", leaves.node_id(), began.elapsed());
    println!("{} readings", each_an_eighth(&regions, count).await?);
    for node in nodes {
        node.leave().await?;
    }
    Ok(())
}

/// Has each node do something with its share of the sensors, all at the same time; gives the sum of what they say.
async fn each_an_eighth<F>(
    regions: &[Region<Sensor>],
    act: impl Fn(Region<Sensor>, u64) -> F,
) -> Result<u64, borough::Error>
where
    F: Future<Output = Result<u64, borough::Error>> + Send + 'static,
{
    let (mut tasks, mut sum) = (JoinSet::new(), 0);
    for share in 0..NODES {
        // After one has left another does its part.
        let region = regions.iter().cycle().nth(usize::try_from(share)?).ok_or("there are no nodes")?;
        tasks.spawn(act(region.clone(), share));
    }
    while let Some(said) = tasks.join_next().await {
        sum += said??;
    }
    Ok(sum)
}

async fn report(sensors: Region<Sensor>, share: u64) -> Result<u64, borough::Error> {
    for id in (share..SENSORS).step_by(8) {
        sensors.tell(id, Sensor::Reading(21.5)).await?;
    }
    Ok(0)
}

/// How many readings there are in that share.
async fn count(sensors: Region<Sensor>, share: u64) -> Result<u64, borough::Error> {
    let mut readings = 0;
    for id in (share..SENSORS).step_by(8) {
        readings += u64::from(sensors.ask(id, Sensor::Count).await?);
    }
    Ok(readings)
}
