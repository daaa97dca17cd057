//! The network is cut and healed, and no process ends.

use std::time::Duration;

use borough_cluster::{Standing, Strategy};

use crate::rig::{BOUND, Outcome, Rig, all_of, secs};

/// Seven nodes, three of them seeds.
const SEEDS: [usize; 3] = [0, 1, 2];

/// The network is cut for a minute between the nodes that have a quorum of the voters and all others.
async fn cut_for_a_minute(rig: &Rig, quorum: &[usize], others: &[usize]) -> Outcome {
    let founding = rig.view(quorum[0]).cluster;
    rig.cut(quorum, others);
    rig.may_lose(others);
    rig.run(secs(3)).await;
    let before = hosted(rig, others).await;
    rig.run(secs(57)).await;
    let now = hosted(rig, others).await;
    let kept = (now == before && before.iter().sum::<usize>() > 0).then_some(()).ok_or_else(|| {
        format!("nodes {others:?} had {before:?} entities when they were suspended, and have {now:?}")
    });
    let works = |number: &usize| {
        let view = rig.view(*number);
        (view.standing == Standing::Member && view.cluster == founding)
            .then_some(())
            .ok_or_else(|| format!("node {number} of the quorum does not work: {}", rig.standings()))
    };
    let suspended = |number: &usize| {
        (rig.view(*number).standing == Standing::Suspended)
            .then_some(())
            .ok_or_else(|| format!("node {number} is not suspended: {}", rig.standings()))
    };
    let quorum: Outcome = quorum.iter().try_for_each(works);
    let others: Outcome = others.iter().try_for_each(suspended);
    rig.heal();
    let concluded = rig.conclude(BOUND).await;
    all_of([quorum, others, kept, rig.founded_once(), concluded])
}

/// How many entities each of these nodes has in memory.
async fn hosted(rig: &Rig, nodes: &[usize]) -> Vec<usize> {
    let mut counts = Vec::new();
    for number in nodes {
        counts.push(rig.hosted(*number).await);
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn the_side_with_most_voters_goes_on_though_it_is_the_smaller_one() -> Outcome {
    let mut rig = Rig::new(1, 7);
    rig.form(&SEEDS).await?;
    let age = rig.by_age();
    cut_for_a_minute(&rig, &age[2..5], &[age[0], age[1], age[5], age[6]]).await
}

#[tokio::test(start_paused = true)]
async fn the_same_with_a_static_quorum() -> Outcome {
    let mut rig = Rig::new(2, 7);
    rig.voters = Some(5);
    rig.form_with(&SEEDS, |builder| builder.strategy(Strategy::StaticQuorum { quorum: 3 })).await?;
    let age = rig.by_age();
    cut_for_a_minute(&rig, &age[2..5], &[age[0], age[1], age[5], age[6]]).await
}

#[tokio::test(start_paused = true)]
async fn the_oldest_goes_on_alone_where_the_oldest_is_kept() -> Outcome {
    let mut rig = Rig::new(3, 7);
    rig.voters = Some(1);
    rig.form_with(&SEEDS, |builder| builder.strategy(Strategy::KeepOldest)).await?;
    let age = rig.by_age();
    cut_for_a_minute(&rig, &age[..1], &age[1..]).await
}

#[tokio::test(start_paused = true)]
async fn the_only_voter_goes_on_though_the_node_that_left_comes_back_beside_the_other() -> Outcome {
    let mut rig = Rig::new(4, 3);
    rig.form(&[0, 1, 2]).await?;
    let age = rig.by_age();
    let [voter, other, leaver] = age[..] else { return Err(rig.standings()) };
    rig.leave(leaver).await?;
    rig.until_settled(BOUND).await?;
    rig.cut(&[voter], &[other, leaver]);
    rig.may_lose(&[other]);
    rig.run(secs(2)).await;
    rig.start(leaver).await;
    rig.run(secs(60)).await;
    let works = (rig.view(voter).standing == Standing::Member).then_some(()).ok_or_else(|| rig.standings());
    rig.heal();
    let concluded = rig.conclude(BOUND).await;
    all_of([works, rig.founded_once(), concluded])
}

/// All links are down for so long; no node loses its membership, and no entity its state.
async fn outage(nodes: usize, seeds: &[usize], time: Duration) -> Outcome {
    let mut rig = Rig::new(5, nodes);
    rig.form(seeds).await?;
    let all: Vec<_> = (0..nodes).collect();
    let before: Vec<_> = all.iter().map(|number| rig.node(*number).uid()).collect();
    rig.cut(&all, &all);
    rig.run(time).await;
    rig.heal();
    let concluded = rig.conclude(BOUND).await;
    let same = all.iter().try_for_each(|number| {
        (rig.node(*number).uid() == before[*number])
            .then_some(())
            .ok_or_else(|| format!("node {number} gave its life up"))
    });
    all_of([same, rig.founded_once(), concluded])
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_all_links_for_eleven_seconds_costs_nothing() -> Outcome {
    outage(3, &[0, 1, 2], secs(11)).await
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_all_links_for_a_minute_and_a_half_costs_nothing() -> Outcome {
    outage(5, &[0, 1], secs(90)).await
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_all_links_for_ten_minutes_costs_nothing() -> Outcome {
    outage(3, &[0, 1, 2], secs(600)).await
}
