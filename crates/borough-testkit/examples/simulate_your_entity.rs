//! An entity of one's own under the simulator: whole clusters in one process, from seeds, while nodes crash, are cut off, join, leave and are replaced.
//!
//! Two shops keep a stock of things. One is right. The other has a mistake that no test of a single node finds: a field that does not move with the
//! entity. The simulator finds it, and names the seed that shows it every time.
//!
//! `cargo run -p borough-testkit --example simulate_your_entity` runs ten seeds; a number behind `--` runs as many.

use std::collections::BTreeMap;

use borough::ShardBuilder;
use borough::prelude::*;
use borough_testkit::{Fate, History, Random, Simulation};

/// What may be said to a shelf.
#[derive(Serialize, Deserialize)]
enum Shelf {
    /// So many more of a thing.
    Put(String, u32),
    /// How many of each thing there are.
    Count(Reply<BTreeMap<String, u32>>),
}

#[derive(Default, Serialize, Deserialize)]
struct ShelfEntity {
    things: BTreeMap<String, u32>,
}

impl Actor for ShelfEntity {
    type Msg = Shelf;
    async fn receive(&mut self, msg: Shelf, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Shelf::Put(thing, count) => *self.things.entry(thing).or_default() += count,
            Shelf::Count(reply) => reply.send(self.things.clone()),
        }
        Ok(())
    }
}

/// As the program itself starts it.
fn shelves(node: &Node) -> ShardBuilder<ShelfEntity> {
    node.shard("shelves", |_id| ShelfEntity::default()).shards(32).migrate_state()
}

/// The same, but somebody took the things for something that can be made anew.
#[derive(Default, Serialize, Deserialize)]
struct LeakyEntity {
    #[serde(skip)]
    things: BTreeMap<String, u32>,
}

impl Actor for LeakyEntity {
    type Msg = Shelf;
    async fn receive(&mut self, msg: Shelf, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Shelf::Put(thing, count) => *self.things.entry(thing).or_default() += count,
            Shelf::Count(reply) => reply.send(self.things.clone()),
        }
        Ok(())
    }
}

fn leaky(node: &Node) -> ShardBuilder<LeakyEntity> {
    node.shard("shelves", |_id| LeakyEntity::default()).shards(32).migrate_state()
}

/// What is sent, drawn from the seed.
fn deliveries(random: &mut Random) -> (String, Shelf) {
    let thing = if random.per_mille(500) { "apples" } else { "pears" };
    let count = u32::try_from(random.between(1, 9)).unwrap_or(1);
    (format!("shelf-{}", random.below(25)), Shelf::Put(thing.to_owned(), count))
}

/// What must hold of each shelf: all is there that nothing could have taken, and nothing that was never put there.
fn adds_up(history: &History<Shelf>, things: &BTreeMap<String, u32>) -> Result<(), String> {
    for thing in ["apples", "pears"] {
        let (mut least, mut most) = (0, 0);
        for sent in history.sent() {
            let Shelf::Put(what, count) = &sent.message else { continue };
            if what == thing && sent.fate != Fate::Refused {
                most += count;
                least += if sent.fate == Fate::Sure { *count } else { 0 };
            }
        }
        let there = things.get(thing).copied().unwrap_or(0);
        if !(least..=most).contains(&there) {
            return Err(format!("{there} {thing}, and it must be {least} to {most}"));
        }
    }
    Ok(())
}

fn main() {
    let seeds = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10);
    let right = Simulation::of(shelves).nodes(3..=5).seeds(0..seeds).workload(deliveries);
    let summary = right.invariant(Shelf::Count, |history, things| adds_up(history, &things)).run();
    println!("{} clusters, {} messages, {} strikes:", summary.seeds, summary.messages, summary.strikes);
    println!("every shelf that is right adds up");

    let leaky = Simulation::of(leaky).nodes(3..=5).seeds(0..seeds).workload(deliveries);
    match leaky.invariant(Shelf::Count, |history, things| adds_up(history, &things)).try_run() {
        Ok(_) => println!("the mistake was not found: run more seeds"),
        Err(failure) => println!("the mistake is found: {failure}"),
    }
}
