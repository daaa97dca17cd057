//! Speaking to all nodes at once: `cargo run --example broadcast`.
//!
//! Three nodes, two of them with a notice board of the same name. One call tells all, or asks all, and says of each node what became of it: the one without a board is named, not passed over.

use borough::prelude::*;

/// What can be said to a notice board, from any node.
#[derive(Serialize, Deserialize)]
enum Board {
    Pin(String),
    Notices(Reply<Vec<String>>),
}

/// The board of one node. It has no id: it is an actor with a name, and stays where it is.
#[derive(Default)]
struct BoardActor {
    notices: Vec<String>,
}

impl Actor for BoardActor {
    type Msg = Board;
    async fn receive(&mut self, msg: Board, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Board::Pin(notice) => self.notices.push(notice),
            Board::Notices(reply) => reply.send(self.notices.clone()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let north = Node::builder("town").node_id("north").listen("127.0.0.1:0").start().await?;
    let seed = north.address();
    let south =
        Node::builder("town").node_id("south").listen("127.0.0.1:0").seed(seed.clone()).start().await?;
    let west = Node::builder("town").node_id("west").listen("127.0.0.1:0").seed(seed).start().await?;
    for node in [&north, &south] {
        // Others reach what is exposed, by its name.
        let board = node.actor(BoardActor::default).name("board").spawn()?;
        node.expose(&board)?;
    }
    west.wait_for(3).await?;

    for (name, told) in west.broadcast("/board").tell_with(|| Board::Pin("market on Friday".into())).await {
        match told {
            Ok(()) => println!("{name} was told"),
            Err(error) => println!("{name} was not: {error}"),
        }
    }
    // Of one sender and one board: what was told first is handled first.
    for (name, notices) in west.broadcast("/board").ask(Board::Notices).await {
        if let Ok(notices) = notices {
            println!("{name} says: {}", notices.join(", "));
        }
    }
    for node in [west, south, north] {
        node.leave().await?;
    }
    Ok(())
}
