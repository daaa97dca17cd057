//! Nodes crash and are started again while a quorum of the voters lives.

use std::time::Duration;

use crate::rig::{BOUND, Outcome, Rig, after, all_of, each, secs};

const RUNS: u64 = 20;

/// Both crash and are started again within two seconds, drawn; in every second run at the same moments.
async fn restart_both(rig: &mut Rig, one: usize, other: usize) {
    let is_together = rig.random.below(2) == 1;
    let mut draw = |low, high| Duration::from_millis(rig.random.between(low, high));
    let apart = if is_together { 0 } else { 600 };
    let (second_crash, first_start, second_start) = (draw(0, apart), draw(100, 2000), draw(0, apart));
    let swap = rig.random.below(2) == 1;
    let (one, other) = if swap { (other, one) } else { (one, other) };
    rig.crash(one);
    after(second_crash).await;
    rig.crash(other);
    after(first_start).await;
    rig.start(one).await;
    after(second_start).await;
    rig.start(other).await;
}

#[test]
fn both_seeds_restart_while_three_voters_live() {
    each(0..RUNS, |run| async move {
        let mut rig = Rig::new(1000 + run, 5);
        rig.form(&[0, 1]).await?;
        restart_both(&mut rig, 0, 1).await;
        rig.run(secs(20)).await;
        let concluded = rig.conclude(BOUND).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[test]
fn two_of_three_seeds_restart_while_the_third_is_down_and_three_voters_live() {
    each(0..RUNS, |run| async move {
        let mut rig = Rig::new(2000 + run, 7);
        rig.form(&[0, 1, 2]).await?;
        rig.crash(2);
        rig.until_settled(BOUND).await?;
        restart_both(&mut rig, 0, 1).await;
        rig.run(secs(20)).await;
        let without = rig.conclude(BOUND).await;
        all_of([rig.founded_once(), without])?;
        rig.start(2).await;
        let concluded = rig.conclude(BOUND).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// The nodes crash and are started again one after the other, in that order, each once the cluster is whole.
async fn restart_in_order(seed: u64, nodes: usize, seeds: usize, order: &[usize]) -> Outcome {
    let mut rig = Rig::new(seed, nodes);
    rig.form(&(0..seeds).collect::<Vec<_>>()).await?;
    for number in order {
        let down = Duration::from_millis(rig.random.between(100, 5000));
        rig.crash(*number);
        rig.run(down).await;
        rig.start(*number).await;
        let settled = rig.until_settled(BOUND).await.map_err(|why| format!("node {number} restarted: {why}"));
        all_of([rig.founded_once(), settled, rig.judge()])?;
    }
    rig.run(secs(10)).await;
    let concluded = rig.conclude(BOUND).await;
    all_of([rig.founded_once(), concluded])
}

/// How many seeds, and the order.
#[test]
fn three_nodes_restart_in_every_order() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let cases = [1, 2].into_iter().flat_map(|seeds| ORDERS.map(|order| (seeds, order)));
    each(cases, |(seeds, order)| async move { restart_in_order(3000, 3, seeds, &order).await });
}

/// How many seeds, and the order.
#[test]
fn five_nodes_restart_in_drawn_orders() {
    const ORDERS: [[usize; 5]; 5] =
        [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 0, 3, 4, 2], [3, 0, 4, 1, 2], [2, 4, 0, 3, 1]];
    let cases = [1, 2].into_iter().flat_map(|seeds| ORDERS.map(|order| (seeds, order)));
    each(cases, |(seeds, order)| async move { restart_in_order(4000, 5, seeds, &order).await });
}
