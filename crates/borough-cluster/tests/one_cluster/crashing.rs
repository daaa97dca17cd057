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
async fn restart_in_order(mut rig: Rig, seeds: usize, order: &[usize]) -> Outcome {
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

/// The orders of so many nodes, each once.
fn orders(nodes: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..nodes {
        let longer = |order: Vec<usize>| {
            let left: Vec<_> = (0..nodes).filter(|node| !order.contains(node)).collect();
            left.into_iter().map(move |node| [order.clone(), vec![node]].concat())
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}

/// How many seeds, and the order.
fn three_in_every_order(rig: impl Fn() -> Rig) {
    let cases = [1, 2].into_iter().flat_map(|seeds| orders(3).into_iter().map(move |order| (seeds, order)));
    each(cases, |(seeds, order)| {
        let rig = &rig;
        async move { restart_in_order(rig(), seeds, &order).await }
    });
}

/// Set to 1, all orders of five nodes are tried, each with one seed and with two: for several minutes.
const ALL_ORDERS: &str = "BOROUGH_ALL_ORDERS";

/// Every fifth order from that one on: every node is the first of some, and the last. With one seed and with two by turns.
fn five_in_many_orders(from: usize, rig: impl Fn() -> Rig) {
    let orders = orders(5);
    assert_eq!(orders.len(), 120);
    let cases: Vec<(usize, Vec<usize>)> = if std::env::var(ALL_ORDERS).is_ok_and(|value| value == "1") {
        [1, 2].into_iter().flat_map(|seeds| orders.iter().map(move |order| (seeds, order.clone()))).collect()
    } else {
        let some = orders.into_iter().skip(from).step_by(5).enumerate();
        some.map(|(number, order)| (1 + number % 2, order)).collect()
    };
    each(cases, |(seeds, order)| {
        let rig = &rig;
        async move { restart_in_order(rig(), seeds, &order).await }
    });
}

#[test]
fn three_nodes_restart_in_every_order() {
    three_in_every_order(|| Rig::new(3000, 3));
}

#[test]
fn three_nodes_with_directories_restart_in_every_order() {
    three_in_every_order(|| Rig::durable(3100, 3));
}

#[test]
fn five_nodes_restart_in_many_orders() {
    five_in_many_orders(0, || Rig::new(4000, 5));
}

#[test]
fn five_nodes_with_directories_restart_in_many_orders() {
    five_in_many_orders(2, || Rig::durable(4100, 5));
}
