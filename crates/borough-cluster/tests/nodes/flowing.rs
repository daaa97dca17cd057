//! How fast messages flow from one node to another, in simulated time: whatever time goes by was waited for.

use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, Reply};
use borough_cluster::{Limits, Node, NodeBuilder};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::rig::{Rig, within};

#[derive(Serialize, Deserialize)]
enum Pour {
    Bytes(Vec<u8>),
    Total(Reply<usize>),
}

#[derive(Default)]
struct Sink(usize);

impl Actor for Sink {
    type Msg = Pour;

    async fn receive(&mut self, pour: Pour, _: &mut Context<Self>) -> Result<(), Fault> {
        match pour {
            Pour::Bytes(bytes) => self.0 += bytes.len(),
            Pour::Total(reply) => reply.send(self.0),
        }
        Ok(())
    }
}

async fn two_nodes(limits: Limits) -> ([Node; 2], ActorRef<Pour>) {
    let set = |node: NodeBuilder| node.limits(limits.clone());
    let [here, there] = Rig::new(51).cluster_with(["a:1", "b:1"], set).await;
    let sink = there.actor(Sink::default).name("sink").spawn().unwrap();
    there.expose(&sink).unwrap();
    let sink = within(here.lookup::<Pour>("/sink").on("b:1")).await.unwrap();
    // The connection is made.
    within(sink.ask(Pour::Total)).await.unwrap();
    ([here, there], sink)
}

/// How long it takes until so many messages of that size were handled.
async fn takes(sink: &ActorRef<Pour>, messages: usize, size: usize) -> Duration {
    let before = within(sink.ask(Pour::Total)).await.unwrap();
    let begun = Instant::now();
    for _ in 0..messages {
        within(sink.tell(Pour::Bytes(vec![7; size]))).await.unwrap();
    }
    let total = within(sink.ask(Pour::Total).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!(total - before, messages * size);
    begun.elapsed()
}

#[tokio::test(start_paused = true)]
async fn messages_of_no_size_wait_for_acknowledgements_that_could_be_given() {
    const BYTES: usize = 16 * 1024 * 1024;
    let (_nodes, sink) = two_nodes(Limits::default()).await;
    let sizes = [500, 5_000, 20_000, 60_000, 1_000_000];
    let mut took = Vec::new();
    for size in sizes {
        took.push((size, takes(&sink, BYTES / size, size).await));
    }
    let longest = Duration::from_millis(100);
    assert!(took.iter().all(|(_, took)| *took < longest), "bytes, and how long 16 MiB took: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_small_window_is_no_reason_to_wait_for_the_time_of_an_acknowledgement() {
    const WINDOW: usize = 16 * 1024;
    let limits = Limits { frame_max: 4096, queue_bytes: 4096, unacked_max: WINDOW, ..Limits::default() };
    let (_nodes, sink) = two_nodes(limits).await;
    let took = takes(&sink, 1000, 1000).await;
    assert!(took < Duration::from_millis(200), "60 windows took {took:?}");
}
