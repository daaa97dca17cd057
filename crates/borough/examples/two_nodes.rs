//! Two terminals, one cluster.
//!
//! ```sh
//! cargo run --example two_nodes -- 25520          # the first node: nobody to look for, it founds the cluster
//! cargo run --example two_nodes -- 25521 25520    # the second looks for the first, and writes into its guest book
//! ```
//!
//! Each prints who is there, whenever that changes. Ctrl-C leaves the cluster in order; `kill -9` does not, and the other notices by itself.

use borough::prelude::*;
use serde::{Deserialize, Serialize};

/// What can be said to a guest book, from any node.
#[derive(Serialize, Deserialize)]
enum GuestBook {
    Sign(String),
    Guests(Reply<Vec<String>>),
}

#[derive(Default)]
struct Guests(Vec<String>);

impl Actor for Guests {
    type Msg = GuestBook;
    async fn receive(&mut self, msg: GuestBook, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            GuestBook::Sign(name) => {
                println!("{name} signs the guest book");
                self.0.push(name);
            }
            GuestBook::Guests(reply) => reply.send(self.0.clone()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let mut ports = std::env::args().skip(1);
    let own = ports.next().unwrap_or_else(|| "25520".to_owned());
    let seeds: Vec<_> = ports.map(|port| format!("127.0.0.1:{port}")).collect();
    let node = Node::builder("two-nodes").listen(format!("127.0.0.1:{own}")).seeds(&seeds).start().await?;

    // Others reach an actor that is exposed; it has a name to be found by.
    let guests = node.actor(Guests::default).name("guests").spawn()?;
    node.expose(&guests)?;

    let shown = tokio::spawn(show(node.topology()));
    if let Some(first) = seeds.first() {
        sign(&node, first).await?;
    }
    node.run_until_signal().await?;
    Ok(shown.await?)
}

/// Finds the guest book of another node, signs it, reads it, and watches it.
async fn sign(node: &Node, other: &str) -> Result<(), borough::Error> {
    node.wait_for(2).await?;
    let guests = node.lookup::<GuestBook>("/guests").on(other).await?;
    guests.tell(GuestBook::Sign(node.node_id().to_string())).await?;
    println!("the guest book of {other} says: {}", guests.ask(GuestBook::Guests).await?.join(", "));
    let stopped = guests.stopped();
    tokio::spawn(async move {
        let gone = stopped.await;
        println!("{} is gone: {:?}", gone.path, gone.reason);
    });
    Ok(())
}

/// Prints how the node stands to its cluster and who is up, whenever that changes.
async fn show(mut topology: Topology) {
    let mut before = String::new();
    while let Ok(now) = topology.changed().await {
        let up: Vec<_> = now.up().map(|member| member.node_id().as_str()).collect();
        let line = format!("{}, up: {}", now.standing, up.join(" "));
        if line != before {
            println!("{line}");
            before = line;
        }
    }
}
