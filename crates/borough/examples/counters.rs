//! Counters that two nodes share: `cargo run --example counters`.
//!
//! Each counter lives on one of the nodes; which one is nobody's concern. Both count, either can be asked, and both say the same. Then one leaves, and no count is lost.

use borough::prelude::*;

/// What can be said to a counter, from any node.
#[derive(Serialize, Deserialize)]
enum Counter {
    Increment,
    Value(Reply<u64>),
}

/// A counter; its value moves with it.
#[derive(Default, Serialize, Deserialize)]
struct CounterEntity {
    value: u64,
}

impl Actor for CounterEntity {
    type Msg = Counter;
    async fn receive(&mut self, msg: Counter, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Counter::Increment => self.value += 1,
            Counter::Value(reply) => reply.send(self.value),
        }
        Ok(())
    }
}

const FRUITS: [&str; 4] = ["apples", "pears", "plums", "quinces"];

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let east = Node::builder("market").node_id("east").listen("127.0.0.1:0").start().await?;
    let west =
        Node::builder("market").node_id("west").listen("127.0.0.1:0").seed(east.address()).start().await?;
    let topology = west.wait_for(2).await?;
    println!("{} nodes are up", topology.up().count());
    let at_east = east.shard("counters", |_id| CounterEntity::default()).migrate_state().start().await?;
    let at_west = west.shard("counters", |_id| CounterEntity::default()).migrate_state().start().await?;

    // Two stalls count at the same time, each at its own node.
    tokio::try_join!(count(&at_east, 3), count(&at_west, 4))?;

    println!("east says: {}", read(&at_east).await?);
    println!("west says: {}", read(&at_west).await?);

    east.leave().await?;
    println!("east has left");
    println!("west says: {}", read(&at_west).await?);
    west.leave().await?;
    Ok(())
}

/// Counts each fruit so many times.
async fn count(counters: &Region<Counter>, times: u64) -> Result<(), borough::Error> {
    for fruit in FRUITS {
        for _ in 0..times {
            counters.tell(fruit, Counter::Increment).await?;
        }
        // What one task sends to one counter is handled in that order: an answer says that all before it was counted.
        counters.ask(fruit, Counter::Value).await?;
    }
    Ok(())
}

/// What each counter says, by way of that node.
async fn read(counters: &Region<Counter>) -> Result<String, borough::Error> {
    let mut said = Vec::new();
    for fruit in FRUITS {
        said.push(format!("{fruit} {}", counters.ask(fruit, Counter::Value).await?));
    }
    Ok(said.join(", "))
}
