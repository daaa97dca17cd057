//! Borough between two processes, through the public API: two nodes of one cluster, a supervised actor with the default
//! bounded mailbox, found by its path. Nothing here is tuned for the benchmark.

use crate::driver::Breath;
use crate::remote::{self, Item, Link, Pair, Role, Sink, Total};
use ::borough::{Actor, ActorRef, Context, Fault, Node, Reply};
use serde::{Deserialize, Serialize};
use std::future::pending;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

const SERVER: &str = "node-1";
const CLIENT: &str = "node-2";

#[derive(Serialize, Deserialize)]
enum Msg {
    Tell(Item),
    Ask(Item, Reply<u64>),
    Total(Reply<Total>),
}

#[derive(Default)]
struct SinkActor {
    sink: Sink,
}

impl Actor for SinkActor {
    type Msg = Msg;

    async fn receive(&mut self, msg: Msg, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Msg::Tell(item) => self.sink.accept(&item),
            Msg::Ask(item, reply) => reply.send(self.sink.answer(&item)),
            Msg::Total(reply) => reply.send(self.sink.total()),
        }
        Ok(())
    }
}

struct Borough;

impl Pair for Borough {
    type Link = SinkLink;

    async fn serve() -> SocketAddr {
        let node =
            Node::builder("bench").node_id(SERVER).listen("127.0.0.1:0").start().await.expect("a node");
        let sink = node.actor(SinkActor::default).name("sink").spawn().expect("a sink");
        node.expose(&sink).expect("a free name");
        let address = node.address().as_str().parse().expect("an address of numbers");
        tokio::spawn(async move {
            let _alive = (node, sink);
            pending::<()>().await;
        });
        address
    }

    async fn connect(server: SocketAddr) -> SinkLink {
        let node = Node::builder("bench").node_id(CLIENT).listen("127.0.0.1:0").seed(server.to_string());
        let node = node.start().await.expect("a node");
        node.wait_for(2).await.expect("both are members");
        let sink = node.lookup::<Msg>("/sink").on(SERVER).await.expect("the sink is exposed");
        SinkLink { sink, _node: Arc::new(node) }
    }
}

/// The client's node, which lives as long as its ref is used.
#[derive(Clone)]
struct SinkLink {
    sink: ActorRef<Msg>,
    _node: Arc<Node>,
}

impl Link for SinkLink {
    async fn flood(&mut self, count: u64, _breath: Breath) {
        for seq in 0..count {
            self.sink.tell(Msg::Tell(Item::new(seq))).await.expect("told");
        }
    }

    async fn ask(&mut self, seq: u64) -> u64 {
        self.sink.ask(|reply| Msg::Ask(Item::new(seq), reply)).await.expect("answered")
    }

    async fn ask_many(&mut self, count: u64) -> u64 {
        remote::by_tasks(self, count).await
    }

    async fn total(&mut self) -> Total {
        self.sink.ask(Msg::Total).await.expect("answered")
    }
}

/// Plays one role of the pair.
pub(crate) fn play(role: Option<Role>) -> ExitCode {
    remote::run::<Borough>(role)
}
