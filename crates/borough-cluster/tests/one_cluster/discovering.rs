//! Seeds are discovered, and the list is not complete at first, as a DNS name that shows only pods that are ready.
//!
//! A discovered list is never known to be complete: founding needs `expect = 3` nodes that are in no cluster.

use std::future::ready;
use std::time::Duration;

use borough_cluster::{Address, Discovery, NodeBuilder, Seeds};
use tokio::time::Instant;

use crate::rig::{BOUND, Outcome, Rig, address, all_of, secs};

/// Nodes of one generation.
const NODES: usize = 3;
/// So long the list is not complete.
const PARTIAL: Duration = Duration::from_secs(4);

/// Shows one address at first, and all of them later.
struct Grows {
    first: Address,
    all: Vec<Address>,
    complete: Instant,
}

impl Discovery for Grows {
    fn seeds(&self) -> Seeds<'_> {
        let is_complete = Instant::now() >= self.complete;
        let shown = if is_complete { self.all.clone() } else { vec![self.first.clone()] };
        Box::pin(ready(Ok(shown)))
    }
}

/// Discovers that address alone for [`PARTIAL`] after each start, and then the three nodes of the same generation.
fn discovered(builder: NodeBuilder, first: usize) -> NodeBuilder {
    let generation = first / NODES * NODES;
    let all = (generation..generation + NODES).map(address).collect();
    let discovery = Grows { first: address(first), all, complete: Instant::now() + PARTIAL };
    builder.discovery(discovery).expect(NODES)
}

/// All are started together; `first` says which address a node is shown first.
async fn all_start(seed: u64, first: fn(usize) -> usize) -> Outcome {
    let mut rig = Rig::new(seed, NODES);
    for number in 0..NODES {
        rig.set_up(number, move |builder| discovered(builder, first(number)));
        rig.start(number).await;
    }
    rig.run(secs(20)).await;
    let concluded = rig.conclude(BOUND).await;
    all_of([rig.founded_once(), concluded])
}

#[tokio::test(start_paused = true)]
async fn nodes_that_are_shown_themselves_first_found_one_cluster() -> Outcome {
    all_start(40, |number| number).await
}

#[tokio::test(start_paused = true)]
async fn nodes_that_are_shown_the_same_address_first_found_one_cluster() -> Outcome {
    all_start(41, |_| 1).await
}

#[tokio::test(start_paused = true)]
async fn a_restarted_node_that_is_shown_itself_first_founds_nothing() -> Outcome {
    let mut rig = Rig::new(42, NODES);
    for number in 0..NODES {
        rig.set_up(number, |builder| discovered(builder, 0));
    }
    rig.form_in_order(&[0, 1, 2], &[]).await?;
    rig.set_up(2, |builder| discovered(builder, 2));
    rig.crash(2);
    rig.run(secs(5)).await;
    rig.start(2).await;
    rig.run(secs(20)).await;
    let concluded = rig.conclude(BOUND).await;
    all_of([rig.founded_once(), concluded])
}

/// As pods that are deleted and recreated: nothing of them is the same.
#[tokio::test(start_paused = true)]
async fn all_nodes_are_replaced_by_nodes_with_other_addresses() -> Outcome {
    let mut rig = Rig::new(43, 2 * NODES);
    for number in 0..2 * NODES {
        rig.set_up(number, move |builder| discovered(builder, number / NODES * NODES));
    }
    rig.form_in_order(&[0, 1, 2], &[]).await?;
    for number in 0..NODES {
        rig.crash(number);
    }
    for number in NODES..2 * NODES {
        rig.start(number).await;
    }
    rig.run(secs(20)).await;
    let concluded = rig.conclude(BOUND).await;
    all_of([rig.founded_times(2), concluded])
}
