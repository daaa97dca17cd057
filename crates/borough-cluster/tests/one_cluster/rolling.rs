//! Nodes leave in order and are started again, one after the other, and nothing is cut.

use std::time::Duration;

use crate::rig::{BOUND, Outcome, Rig, after, all_of, each, secs};

/// The first node without seeds, and the others name it, as in the README.
async fn as_in_the_readme(mut rig: Rig, nodes: usize) -> Result<Rig, String> {
    let others: Vec<_> = (1..nodes).collect();
    for number in &others {
        rig.seeds_of(*number, &[0]);
    }
    rig.form_in_order(&[0], &others).await?;
    Ok(rig)
}

/// Every node leaves and is started again, one after the other: no second cluster, no count lost.
async fn roll(rig: &mut Rig) -> Outcome {
    for number in rig.running() {
        rig.leave(number).await?;
        rig.start(number).await;
        let settled = rig.until_settled(BOUND).await.map_err(|why| format!("node {number} restarted: {why}"));
        all_of([settled, rig.founded_once(), rig.judge()])?;
    }
    rig.run(secs(10)).await;
    let concluded = rig.conclude(BOUND).await;
    all_of([rig.founded_once(), concluded])
}

/// Down for that many milliseconds.
#[test]
fn the_first_node_comes_back_to_the_cluster_it_left() {
    each([0, 500, 1500, 4000, 20_000], |millis| async move {
        let mut rig = as_in_the_readme(Rig::new(30, 3), 3).await?;
        rig.leave(0).await?;
        after(Duration::from_millis(millis)).await;
        rig.start(0).await;
        rig.run(secs(20)).await;
        let concluded = rig.conclude(BOUND).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[tokio::test(start_paused = true)]
async fn all_nodes_are_restarted_where_the_first_has_no_seeds() -> Outcome {
    roll(&mut as_in_the_readme(Rig::new(31, 3), 3).await?).await
}

#[tokio::test(start_paused = true)]
async fn both_nodes_of_the_readme_are_restarted() -> Outcome {
    roll(&mut as_in_the_readme(Rig::new(32, 2), 2).await?).await
}

/// How many nodes, and how many of them are seeds.
#[test]
fn all_nodes_are_restarted_whatever_the_seeds() {
    each([(3, 1), (3, 2), (3, 3), (5, 2)], |(nodes, seeds)| async move {
        let mut rig = Rig::new(33, nodes);
        rig.form(&(0..seeds).collect::<Vec<_>>()).await?;
        roll(&mut rig).await
    });
}

/// Down for that many milliseconds.
#[test]
fn the_first_node_comes_back_with_its_directory_to_the_cluster_it_left() {
    each([0, 500, 1500, 4000, 20_000], |millis| async move {
        let mut rig = as_in_the_readme(Rig::durable(34, 3), 3).await?;
        rig.leave(0).await?;
        after(Duration::from_millis(millis)).await;
        rig.start(0).await;
        rig.run(secs(20)).await;
        let concluded = rig.conclude(BOUND).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// How many nodes.
#[test]
fn all_nodes_with_directories_are_restarted_where_the_first_has_no_seeds() {
    each(
        [2, 3],
        |nodes| async move { roll(&mut as_in_the_readme(Rig::durable(35, nodes), nodes).await?).await },
    );
}

/// How many nodes, and how many of them are seeds.
#[test]
fn all_nodes_with_directories_are_restarted_whatever_the_seeds() {
    each([(3, 1), (3, 2), (3, 3), (5, 2)], |(nodes, seeds)| async move {
        let mut rig = Rig::durable(36, nodes);
        rig.form(&(0..seeds).collect::<Vec<_>>()).await?;
        roll(&mut rig).await
    });
}
