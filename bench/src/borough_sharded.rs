//! Borough's entities under the workloads, through the public API as its README shows it: default settings but for the number of
//! shards, which is the same in every program. Nothing here is tuned for the benchmark.

use crate::driver::{Breath, Job};
use crate::remote::{Item, Role, Total};
use crate::sharded::{self, Host, Id, Ids, Resident, SHARDS};
use crate::sharded_pair::{self, Guest, Link, Pair};
use ::borough::{Actor, Context, Fault, Node, Region, Reply};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
enum Msg {
    Tell(u64),
    Ask(u64, Reply<u64>),
    Sum(Reply<u64>),
}

struct ResidentEntity(Resident);

impl Actor for ResidentEntity {
    type Msg = Msg;

    async fn receive(&mut self, msg: Msg, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Msg::Tell(number) => self.0.accept(number),
            Msg::Ask(number, reply) => reply.send(self.0.answer(number)),
            Msg::Sum(reply) => reply.send(self.0.sum()),
        }
        Ok(())
    }
}

/// One node, which lives as long as its region is used.
#[derive(Clone)]
struct Borough {
    region: Region<Msg>,
    _node: Arc<Node>,
}

impl Host for Borough {
    async fn start() -> Self {
        let node = Node::builder("bench").listen("127.0.0.1:0").start().await.expect("a node");
        node.wait_for(1).await.expect("a member");
        let region = node.shard("residents", |_| ResidentEntity(Resident::default())).shards(SHARDS);
        let region = region.start().await.expect("a region");
        Self { region, _node: Arc::new(node) }
    }

    fn flood(
        &self,
        ids: Ids,
        numbers: Range<u64>,
        _breath: Breath,
    ) -> Option<impl Future<Output = ()> + Send> {
        let region = self.region.clone();
        Some(async move {
            for number in numbers {
                region.tell(ids.of(number).bytes(), Msg::Tell(number)).await.expect("told");
            }
        })
    }

    async fn ask(&self, id: Id, number: u64) -> u64 {
        self.region.ask(id.bytes(), |reply| Msg::Ask(number, reply)).await.expect("answered")
    }

    async fn sum(&self, id: Id) -> u64 {
        self.region.ask(id.bytes(), Msg::Sum).await.expect("answered")
    }
}

#[derive(Serialize, Deserialize)]
enum Far {
    Tell(Item),
    Ask(Item, Reply<u64>),
    Total(Reply<Total>),
}

struct GuestEntity(Guest);

impl Actor for GuestEntity {
    type Msg = Far;

    async fn receive(&mut self, msg: Far, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Far::Tell(item) => self.0.accept(&item),
            Far::Ask(item, reply) => reply.send(self.0.answer(&item)),
            Far::Total(reply) => reply.send(self.0.total()),
        }
        Ok(())
    }
}

struct Two;

impl Pair for Two {
    type Link = FarLink;

    async fn serve() -> SocketAddr {
        let node = Node::builder("bench").listen("127.0.0.1:0").start().await.expect("a node");
        let region = node.shard("guests", |_| GuestEntity(Guest::default())).shards(SHARDS);
        let region = region.start().await.expect("a region");
        let address = node.address().as_str().parse().expect("an address of numbers");
        tokio::spawn(async move {
            let _alive = (node, region);
            pending::<()>().await;
        });
        address
    }

    async fn connect(server: SocketAddr) -> FarLink {
        let node = Node::builder("bench").listen("127.0.0.1:0").seed(server.to_string());
        let node = node.start().await.expect("a node");
        node.wait_for(2).await.expect("both are members");
        let region = node.shard_proxy::<Far>("guests").shards(SHARDS).start().await.expect("a proxy");
        FarLink { region, _node: Arc::new(node) }
    }
}

/// The client's node, which lives as long as its region is used.
#[derive(Clone)]
struct FarLink {
    region: Region<Far>,
    _node: Arc<Node>,
}

impl Link for FarLink {
    async fn flood(&self, ids: Ids, numbers: Range<u64>, _breath: Breath) {
        for number in numbers {
            self.region.tell(ids.of(number).bytes(), Far::Tell(Item::new(number))).await.expect("told");
        }
    }

    async fn ask(&self, id: Id, item: Item) -> u64 {
        self.region.ask(id.bytes(), |reply| Far::Ask(item, reply)).await.expect("answered")
    }

    async fn total(&self, id: Id) -> Total {
        self.region.ask(id.bytes(), Far::Total).await.expect("answered")
    }
}

/// Runs one workload inside one process.
pub(crate) fn run(job: Option<Job>) -> ExitCode {
    sharded::run::<Borough>(job)
}

/// Plays one role of two processes.
pub(crate) fn play(role: Option<Role>) -> ExitCode {
    sharded_pair::run::<Two>(role)
}
