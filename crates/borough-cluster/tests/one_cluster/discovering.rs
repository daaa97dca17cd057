//! Seeds are discovered, and the list is not complete at first, as a DNS name that shows only pods that are ready.
//!
//! A discovered list is never known to be complete: founding needs `expect = 3` nodes that are in no cluster.

use std::fs;
use std::future::ready;
use std::time::Duration;

use borough_cluster::{Address, Discovery, DiscoveryError, NodeBuilder, Seeds};
use tokio::time::Instant;

use crate::rig::{BOUND, Outcome, Rig, address, after, all_of, each, secs};

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

/// As pods of a `StatefulSet` that are recreated: the addresses are new, and what was on the volumes is not. They are shown the new addresses alone, one of them first.
#[test]
fn all_nodes_come_back_with_other_addresses_and_their_directories() {
    each(0..3, |first| async move {
        let mut rig = Rig::durable(44, 2 * NODES);
        for number in 0..2 * NODES {
            rig.set_up(number, move |builder| discovered(builder, number / NODES * NODES + first));
        }
        rig.form_in_order(&[0, 1, 2], &[]).await?;
        let cluster = rig.view(0).cluster;
        let voters = rig.view(0).voters.now.clone();
        for number in 0..NODES {
            rig.crash(number);
        }
        after(secs(1)).await;
        for number in 0..NODES {
            fs::rename(rig.directory(number), rig.directory(NODES + number)).unwrap();
            rig.start(NODES + number).await;
        }
        rig.until_settled(BOUND).await?;
        let view = rig.view(NODES);
        let same = if (view.cluster, &view.voters.now) == (cluster, &voters) {
            Ok(())
        } else {
            Err(format!("{:?} became {:?}, {voters:?} {:?}", cluster, view.cluster, view.voters.now))
        };
        let concluded = rig.conclude(BOUND).await;
        all_of([same, rig.founded_once(), concluded])
    });
}

/// A list that is complete, as a file has it, and cannot be read before that moment.
struct Unreadable {
    all: Vec<Address>,
    until: Instant,
}

impl Discovery for Unreadable {
    fn seeds(&self) -> Seeds<'_> {
        let is_readable = Instant::now() >= self.until;
        let found =
            if is_readable { Ok(self.all.clone()) } else { Err(DiscoveryError::Other("unreadable".into())) };
        Box::pin(ready(found))
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// The cluster was closed, so each node counts as fresh. Without a list none of them knows whom it must ask.
#[test]
fn nodes_of_a_closed_cluster_whose_list_cannot_be_read_found_nothing() {
    each([()], |()| async move {
        let mut rig = Rig::durable(197, NODES);
        let nodes = [0, 1, 2];
        rig.form(&nodes).await?;
        rig.run(secs(5)).await;
        rig.node(0).close_cluster().await.map_err(|error| error.to_string())?;
        after(secs(10)).await;
        for number in nodes {
            rig.crash(number);
        }
        after(secs(1)).await;
        let until = Instant::now() + secs(20);
        rig.set_up_all(move |builder| {
            let all = (0..NODES).map(address).collect();
            builder.discovery(Unreadable { all, until })
        });
        rig.cut(&[0], &[1, 2]);
        for number in nodes {
            rig.start(number).await;
        }
        rig.run(secs(19)).await;
        let nothing_founded = rig.founded_once();
        rig.heal();
        let concluded = rig.conclude(secs(60)).await;
        all_of([nothing_founded, rig.founded_times(2), concluded])
    });
}
