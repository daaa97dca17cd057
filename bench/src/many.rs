//! Many types of entities, or many shards of one, on a cluster of three nodes that has just formed: each shard is asked once, all at the
//! same time, and none of them has an owner before. What is measured is how the cost of owners, routes and tables grows.
//!
//! All three nodes are in this process, over loopback TCP, so that its processor time is that of the whole cluster.

use crate::driver::{self, Figure, Job};
use borough::{Actor, Context, Fault, Node, Region, Reply};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shards of each type where there are many types: the default.
const SHARDS: u64 = 256;
const NODES: usize = 3;
/// How long an ask may take here. The default is 5 s, which is the goal.
const PATIENCE: Duration = Duration::from_secs(170);

/// How long all nodes may take to leave afterwards, which is no part of the figure.
const LEAVE_PATIENCE: Duration = Duration::from_secs(30);

struct Echo;

impl Actor for Echo {
    type Msg = (u64, Reply<u64>);

    async fn receive(&mut self, (number, reply): Self::Msg, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(number);
        Ok(())
    }
}

/// Whether a workload is one of these.
pub(crate) fn has(workload: &str) -> bool {
    matches!(workload, "many_types" | "many_shards")
}

/// Runs one workload; the count is that of all shards together.
pub(crate) fn run(job: Option<Job>) -> ExitCode {
    driver::on_two_workers(job, async move |job: Job| {
        let (types, shards) = match job.workload.as_str() {
            "many_types" => (job.count.div_ceil(SHARDS), SHARDS),
            "many_shards" => (1, job.count),
            _ => return None,
        };
        Some(measure(types, shards).await)
    })
}

async fn measure(types: u64, shards: u64) -> Figure {
    let before = Instant::now();
    let nodes = nodes().await;
    let formed = before.elapsed();
    let before = Instant::now();
    let regions = start(&nodes, types, shards).await;
    let started = before.elapsed();
    let (begin, used) = (Instant::now(), processor_time());
    let asks: Vec<_> = regions.into_iter().map(|region| tokio::spawn(ask_all(region, shards))).collect();
    let mut sum = 0;
    for answered in asks {
        sum += answered.await.expect("asked");
    }
    let elapsed = begin.elapsed();
    let used = processor_time().zip(used).map_or(0.0, |(after, before)| after - before);
    let stopped = stop(nodes).await;
    eprintln!(
        "{types} types of {shards} shards: formed in {formed:.1?}, types started in {started:.1?}, all answered in {elapsed:.2?} with {used:.2} s of processor time, {stopped}"
    );
    Figure {
        value: elapsed.as_secs_f64() * 1e3,
        unit: "ms",
        sum,
        expected: types * driver::sum_below(shards),
    }
}

async fn nodes() -> Vec<Arc<Node>> {
    let mut nodes: Vec<Arc<Node>> = Vec::new();
    for _ in 0..NODES {
        let mut builder = Node::builder("bench").listen("127.0.0.1:0");
        if let Some(first) = nodes.first() {
            builder = builder.seed(first.address().to_string());
        }
        nodes.push(Arc::new(builder.start().await.expect("a node")));
    }
    for node in &nodes {
        node.wait_for(NODES).await.expect("all are members");
    }
    nodes
}

/// All nodes leave at once; gives how long that took, in words.
async fn stop(nodes: Vec<Arc<Node>>) -> String {
    let begin = Instant::now();
    let leave = |node: Arc<Node>| tokio::spawn(async move { node.leave().await });
    let leaves: Vec<_> = nodes.into_iter().map(leave).collect();
    let all = async {
        for leave in leaves {
            leave.await.expect("no panic").expect("left");
        }
    };
    match tokio::time::timeout(LEAVE_PATIENCE, all).await {
        Ok(()) => format!("all nodes left in {:.2?}", begin.elapsed()),
        Err(_) => format!("not all nodes left within {LEAVE_PATIENCE:?}"),
    }
}

/// Starts all types on all nodes at once; gives the regions of the first node.
async fn start(nodes: &[Arc<Node>], types: u64, shards: u64) -> Vec<Region<<Echo as Actor>::Msg>> {
    let starts: Vec<_> = nodes
        .iter()
        .flat_map(|node| (0..types).map(move |number| (node.clone(), number)))
        .map(|(node, number)| tokio::spawn(start_type(node, number, shards)))
        .collect();
    let mut regions = Vec::new();
    for start in starts {
        regions.push(start.await.expect("started"));
    }
    regions.truncate(usize::try_from(types).expect("few types"));
    regions
}

async fn start_type(node: Arc<Node>, number: u64, shards: u64) -> Region<<Echo as Actor>::Msg> {
    let shards = u32::try_from(shards).expect("few shards");
    // An id is the number of its shard.
    let by_number = |id: &[u8]| std::str::from_utf8(id).ok().and_then(|id| id.parse().ok()).unwrap_or(0);
    let region = node.shard(format!("type-{number}"), |_| Echo).shards(shards).shard_by(by_number);
    region.keeps_own_state().start().await.expect("a region")
}

/// Asks each shard of the type; gives the sum of the answers.
async fn ask_all(region: Region<<Echo as Actor>::Msg>, shards: u64) -> u64 {
    let region = Arc::new(region);
    let asks: Vec<_> = (0..shards)
        .map(|shard| {
            let region = region.clone();
            tokio::spawn(async move {
                region.ask(shard, |reply| (shard, reply)).timeout(PATIENCE).await.expect("answered")
            })
        })
        .collect();
    let mut sum = 0;
    for answered in asks {
        sum += answered.await.expect("asked");
    }
    sum
}

/// What this process has used so far, in seconds; `None` where the system does not say.
fn processor_time() -> Option<f64> {
    // Of one process, in ticks of which there are a hundred to the second everywhere.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut after_name = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || after_name.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}
