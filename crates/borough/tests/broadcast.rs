//! Speaking to the actor of one name on every node, over real sockets.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::time::Duration;

use borough::cluster::{BroadcastError, RemoteLookupError};
use borough::prelude::*;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// An actor that hands on what it is told.
struct Board(UnboundedSender<String>);

impl Actor for Board {
    type Msg = String;
    async fn receive(&mut self, notice: String, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        drop(self.0.send(notice));
        Ok(())
    }
}

async fn node(name: &str, seed: Option<&Node>) -> Node {
    let seeds = seed.map(|seed| seed.address().to_string());
    Node::builder("boards").node_id(name).listen("127.0.0.1:0").seeds(seeds).start().await.unwrap()
}

fn board(node: &Node) -> UnboundedReceiver<String> {
    let (tell, told) = unbounded_channel();
    let board = node.actor(move || Board(tell.clone())).name("board").spawn().unwrap();
    node.expose(&board).unwrap();
    told
}

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("it takes too long")
}

#[tokio::test]
async fn a_broadcast_reaches_each_node_that_has_the_actor_and_names_those_that_have_not() {
    let first = node("first", None).await;
    let (second, third) = (node("second", Some(&first)).await, node("third", Some(&first)).await);
    let mut boards = [board(&first), board(&second)];
    soon(first.wait_for(3)).await.unwrap();

    let mut told = soon(first.broadcast::<String>("/board").tell("closed today".into())).await;

    told.sort_by_key(|(name, _)| name.to_string());
    assert!(matches!(&told[..2], [(_, Ok(())), (_, Ok(()))]), "{told:?}");
    let (name, missing) = &told[2];
    assert_eq!(name.as_str(), "third");
    assert!(matches!(missing, Err(BroadcastError::Lookup(RemoteLookupError::Actor(_)))), "{missing:?}");
    for board in &mut boards {
        assert_eq!(soon(board.recv()).await.unwrap(), "closed today");
    }
    drop((second, third));
}
