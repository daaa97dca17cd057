//! Entities that move while they are at work: `cargo run --example migrate`.
//!
//! A thousand odometers live on one node and are driven without a pause. A second node joins and takes its share of them; the first leaves, and the second has them all. Every kilometre is
//! counted, in order, and no ask fails: state, queue and timers move with each shard, one shard at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use borough::cluster::ShardNews;
use borough::prelude::*;

/// What can be said to an odometer.
#[derive(Serialize, Deserialize)]
enum Odometer {
    /// The kilometre of that number; says how far it has come.
    Drive(u64, Reply<u64>),
    Total(Reply<u64>),
}

/// All of it moves: `migrate_state` writes it with serde.
#[derive(Default, Serialize, Deserialize)]
struct OdometerEntity {
    kilometres: u64,
    out_of_order: u64,
}

impl Actor for OdometerEntity {
    type Msg = Odometer;
    async fn receive(&mut self, msg: Odometer, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Odometer::Drive(number, reply) => {
                self.out_of_order += u64::from(number != self.kilometres);
                self.kilometres += 1;
                reply.send(self.kilometres);
            }
            Odometer::Total(reply) => reply.send(self.kilometres - self.out_of_order),
        }
        Ok(())
    }
}

const CARS: u64 = 1000;

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let first = Node::builder("fleet").node_id("first").listen("127.0.0.1:0").start().await?;
    let odometers = start(&first).await?;
    for car in 0..CARS {
        odometers.ask(car, |reply| Odometer::Drive(0, reply)).await?;
    }
    println!("{CARS} cars are on the road, all on the first node");

    let second =
        Node::builder("fleet").node_id("second").listen("127.0.0.1:0").seed(first.address()).start().await?;
    second.wait_for(2).await?;
    let mut events = second.shard_events();
    let odometers = start(&second).await?;
    let arrived = Arc::new(AtomicBool::new(false));
    let driven = tokio::spawn(drive(odometers.clone(), arrived.clone()));

    let mut moved = 0;
    while moved < 50 {
        moved += u32::from(matches!(events.recv().await?.what, ShardNews::Moved { .. }));
    }
    println!("{moved} shards have moved to the second node, while they drive");
    first.leave().await?;
    println!("the first node has left, while they drive");

    arrived.store(true, Ordering::Relaxed);
    let rounds = driven.await??;
    let mut wrong = 0;
    for car in 0..CARS {
        wrong += u32::from(odometers.ask(car, Odometer::Total).await? != rounds);
    }
    println!("{wrong} cars have a kilometre too few, too many or out of order");
    second.leave().await?;
    Ok(())
}

async fn start(node: &Node) -> Result<Region<Odometer>, borough::Error> {
    Ok(node.shard("odometers", |_id| OdometerEntity::default()).migrate_state().start().await?)
}

/// Drives all cars, round after round, until it is told to end; gives how far each has come. An ask that fails ends it.
async fn drive(odometers: Region<Odometer>, arrived: Arc<AtomicBool>) -> Result<u64, borough::Error> {
    let mut rounds = 1;
    while !arrived.load(Ordering::Relaxed) {
        for car in 0..CARS {
            odometers.ask(car, |reply| Odometer::Drive(rounds, reply)).await?;
        }
        rounds += 1;
    }
    Ok(rounds)
}
