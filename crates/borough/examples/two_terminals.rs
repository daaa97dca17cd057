//! Two terminals, one cluster; then kill each in turn.
//!
//! ```sh
//! cargo run --example two_terminals -- 25520          # the first node: nobody to look for, it founds the cluster
//! cargo run --example two_terminals -- 25521 25520    # the second looks for the first, and writes into its guest book
//! ```
//!
//! Each prints who is there, whenever that changes. Ctrl-C leaves in order, and the other goes on; started again, the first or the second, it joins the same cluster. After a `kill -9` of the second the first goes on, too. After one of the first the second stands still,
//! and says why and what helps: start the first again, or have a third node from the beginning (`-- 25522 25520 25521`). A store that both reach will help, too, once Borough can vote in one.

use borough::Standing;
use borough::prelude::*;

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
    let node =
        Node::builder("two-terminals").listen(format!("127.0.0.1:{own}")).seeds(&seeds).start().await?;

    // Others reach an actor that is exposed; it has a name to be found by.
    let guests = node.actor(Guests::default).name("guests").spawn()?;
    node.expose(&guests)?;

    let shown = tokio::spawn(show(node.topology()));
    // The signals come first: from here on Ctrl-C leaves in order, also while it still looks for the other.
    let (ended, signed) = tokio::join!(node.run_until_signal(), sign(&node, seeds.first()));
    ended?;
    shown.await?;
    signed
}

/// Finds the guest book of another node, if there is one to look for, signs it, and reads it.
async fn sign(node: &Node, other: Option<&String>) -> Result<(), borough::Error> {
    let Some(other) = other else { return Ok(()) };
    node.wait_for(2).await?;
    let guests = node.lookup::<GuestBook>("/guests").on(other).await?;
    guests.tell(GuestBook::Sign(node.node_id().to_string())).await?;
    println!("the guest book of {other} says: {}", guests.ask(GuestBook::Guests).await?.join(", "));
    Ok(())
}

/// Prints which cluster the node is in, how it stands to it, who is up and how many of them may be lost, whenever that changes.
async fn show(mut topology: Topology) {
    let mut cluster = None;
    let mut before = String::new();
    while let Ok(now) = topology.changed().await {
        // Which founding it is: nodes that show the same one are in one cluster, also after restarts.
        if let Some(founding) = now.cluster.filter(|founding| cluster != Some(*founding)) {
            println!("cluster {founding:?}");
            cluster = Some(founding);
        }
        let up: Vec<_> = now.up().map(|member| member.node_id().as_str()).collect();
        let line = format!("{}, up: {}; may lose {}", now.standing, up.join(" "), now.tolerates());
        if line == before {
            continue;
        }
        println!("{line}");
        before = line;
        if now.standing == Standing::Suspended {
            explain(&now);
        }
    }
}

/// Why a node stands still, and what helps.
fn explain(now: &TopologySnapshot) {
    let voters: Vec<_> = now.voting().collect();
    let names: Vec<_> = voters.iter().map(|voter| voter.node_id().as_str()).collect();
    println!("  why: too few voters hear me; I need {} of {}.", names.len() / 2 + 1, names.join(", "));
    println!(
        "  They may be dead, or I may be cut off. I cannot know, so I do nothing that they may be doing."
    );
    println!(
        "  what helps: start them again. And three nodes in place of two: any two go on without the third."
    );
    println!("  A store that both reach would help, too, but Borough cannot vote in one yet.");
}
