//! The remote workloads, written once: a program is two processes of one binary, a server that holds a [`Sink`] and a
//! client that tells and asks it. Every measured program, peer or ours, includes these files beside the `driver` and
//! brings only its own way to reach the sink ([`Pair`], [`Link`]). So the messages, the checks and the places where the
//! clock starts and stops are the same for everybody.
//!
//! ```text
//! <program> server                              prints its address, serves until its standard input ends
//! <program> client <address> <workload> <count> measures, prints the one line of a figure
//! ```
//!
//! Uses `std`, `tokio` and `serde` alone, because the peers include it too (`#[path]`), outside our workspace.

mod ask;
mod message;
mod role;
mod sink;
mod tell;

pub(crate) use ask::{ASKERS, by_tasks};
pub(crate) use message::{Item, Total};
pub(crate) use role::Role;
pub(crate) use sink::Sink;

use crate::driver::{self, Breath, Figure, Job, refuse};
use std::future::Future;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

/// What a program must bring: how its two processes come together.
pub(crate) trait Pair: 'static {
    /// The client's end.
    type Link: Link;

    /// Starts the server's side with one sink; the address that [`Pair::connect`] takes.
    fn serve() -> impl Future<Output = SocketAddr> + Send;

    /// Starts the client's side and finds the sink.
    fn connect(server: SocketAddr) -> impl Future<Output = Self::Link> + Send;
}

/// The way to a sink in another process.
pub(crate) trait Link: Send {
    /// Tells the items below `count`, in their order; a sender that never waits takes the breaths offered.
    fn flood(&mut self, count: u64, breath: Breath) -> impl Future<Output = ()> + Send;

    /// Asks with one item; the answer is its number.
    fn ask(&mut self, seq: u64) -> impl Future<Output = u64> + Send;

    /// Asks with the items below `count`, [`ASKERS`] under way at a time; the sum of the answers.
    fn ask_many(&mut self, count: u64) -> impl Future<Output = u64> + Send;

    /// Asks what the sink has seen; answered after everything told before.
    fn total(&mut self) -> impl Future<Output = Total> + Send;
}

/// Plays one role of the pair, on a runtime of two workers as every program on tokio.
pub(crate) fn run<P: Pair>(role: Option<Role>) -> ExitCode {
    match role {
        Some(Role::Server) => serve(P::serve()),
        Some(Role::Client(server, job)) => driver::on_two_workers(Some(job), move |job| async move {
            let mut link = P::connect(server).await;
            measure(&mut link, &job).await
        }),
        None => refuse("usage: server | client <address> <workload> <count>"),
    }
}

/// `None` if no workload has this name.
async fn measure(link: &mut impl Link, job: &Job) -> Option<Figure> {
    Some(match job.workload.as_str() {
        "remote_tell" => tell::flood(link, job.count).await,
        "remote_ask1" => ask::one_at_a_time(link, job.count).await,
        "remote_ask1000" => ask::at_once(link, job.count).await,
        _ => return None,
    })
}

/// Starts a server, prints its address, and ends with its standard input, so that no server outlives the harness, however that
/// ends.
pub(crate) fn serve(start: impl Future<Output = SocketAddr> + Send + 'static) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return refuse("the runtime does not start") };
    let address = match runtime.block_on(async { tokio::spawn(start).await }) {
        Ok(address) => address,
        Err(panicked) => return refuse(&panicked.to_string()),
    };
    println!("{address}");
    std::io::stdout().flush().ok();
    // Whatever ends the input, an error too, ends the server.
    std::io::stdin().read_to_end(&mut Vec::new()).ok();
    std::process::exit(0)
}
