//! The sharded workloads between two processes, written once: the server hosts entities, the client is a node that hosts none and tells and
//! asks them by id. A program, peer or ours, brings only its two nodes ([`Pair`]) and its way to an entity ([`Link`]).
//!
//! Roles, messages and answers are those of the workloads without shards (`remote`), ids those of the sharded ones inside one process
//! (`sharded`): a thousand of them, at random.

mod ask;
mod guest;
mod tell;

pub(crate) use guest::Guest;

use crate::driver::{self, Breath, Figure, Job, refuse};
use crate::remote::{self, Item, Role, Total};
use crate::sharded::{Id, Ids};
use std::future::Future;
use std::net::SocketAddr;
use std::ops::Range;
use std::process::ExitCode;

const IDS: u64 = 1000;

/// What a program must bring: how its two nodes come together.
pub(crate) trait Pair: 'static {
    /// The client's way to entities.
    type Link: Link;

    /// Starts the node that hosts entities, each a [`Guest`]; the address that [`Pair::connect`] takes.
    fn serve() -> impl Future<Output = SocketAddr> + Send;

    /// Starts the node that hosts none, ready to send.
    fn connect(server: SocketAddr) -> impl Future<Output = Self::Link> + Send;
}

/// The way to entities in another process.
pub(crate) trait Link: Clone + Send + Sync + 'static {
    /// Tells the item of each number to the id that `ids` gives it; a sender that never waits takes the breaths offered.
    fn flood(&self, ids: Ids, numbers: Range<u64>, breath: Breath) -> impl Future<Output = ()> + Send;

    /// Asks an entity with an item; the answer is its number.
    fn ask(&self, id: Id, item: Item) -> impl Future<Output = u64> + Send;

    /// Asks what an entity has seen; answered after everything told to it before.
    fn total(&self, id: Id) -> impl Future<Output = Total> + Send;
}

/// Plays one role of the pair, on a runtime of two workers.
pub(crate) fn run<P: Pair>(role: Option<Role>) -> ExitCode {
    match role {
        Some(Role::Server) => remote::serve(P::serve()),
        Some(Role::Client(server, job)) => driver::on_two_workers(Some(job), move |job| async move {
            let link = P::connect(server).await;
            measure(&link, &job).await
        }),
        None => refuse("usage: server | client <address> <workload> <count>"),
    }
}

/// `None` if no workload has this name.
async fn measure(link: &impl Link, job: &Job) -> Option<Figure> {
    let ids = Ids::shuffled(IDS);
    // Every entity is awake, and the place of its shard known.
    ask::by_tasks(link, ids, 4 * IDS).await;
    Some(match job.workload.as_str() {
        "remote_sharded_tell" | "remote_sharded_flood" => tell::flood(link, ids, job.count).await,
        "remote_sharded_ask1" => ask::one_at_a_time(link, ids, job.count).await,
        "remote_sharded_ask1000" => ask::at_once(link, ids, job.count).await,
        _ => return None,
    })
}
