//! A node that loses what it hosts says how much that is: to listeners, in its counts and in the log.

use borough_cluster::{GaveUp, ShardEvent, ShardNews, StateLoss};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

use crate::hearing::Warnings;
use crate::rig::{BOUND, Outcome, Rig, secs};

/// What each of these nodes hosts, and what it says from now on.
struct Watched {
    node: usize,
    shards: usize,
    entities: usize,
    news: Receiver<ShardEvent>,
}

impl Watched {
    async fn all<const N: usize>(rig: &Rig, nodes: [usize; N]) -> Vec<Self> {
        let mut watched = Vec::new();
        for node in nodes {
            let (shards, entities) = (rig.owned(node).await.len(), rig.hosted(node).await);
            watched.push(Self { node, shards, entities, news: rig.node(node).shard_events() });
        }
        watched
    }

    /// What it said that it dropped.
    fn losses(&mut self) -> Result<Vec<StateLoss>, String> {
        let mut losses = Vec::new();
        loop {
            match self.news.try_recv() {
                Ok(ShardEvent { what: ShardNews::StateLost(loss), .. }) => losses.push(loss),
                Ok(_) => {}
                Err(TryRecvError::Empty) => return Ok(losses),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// It said once that it dropped all it hosted, for that reason, and its counts have it under that name.
    async fn lost_all(&mut self, rig: &Rig, is_why: impl Fn(GaveUp) -> bool, reason: &str) -> Outcome {
        let told = self.losses()?;
        let [StateLoss { why, shards, entities, .. }] = told[..] else {
            return Err(format!("node {} told {told:?}, not one loss", self.node));
        };
        if !is_why(why) || (shards, entities) != (self.shards, Some(self.entities)) || self.entities == 0 {
            let (shards, entities) = (self.shards, self.entities);
            return Err(format!("node {} had {shards} shards, {entities} entities: {told:?}", self.node));
        }
        let counts = rig.node(self.node).sharding_stats_here().await.state_losses;
        for (name, count) in counts.by_reason() {
            let expected = if name == reason { (1, shards, self.entities, 0) } else { (0, 0, 0, 0) };
            let counted = (count.times, count.shards, count.entities, count.uncounted);
            if counted != (expected.0, expected.1 as u64, expected.2 as u64, expected.3) {
                return Err(format!("node {} counts {counts:?}", self.node));
            }
        }
        Ok(())
    }

    /// It said so at ERROR, with how much it drops.
    fn logged(&self, warnings: &Warnings, words: &str) -> Outcome {
        let (logged, counts) =
            (warnings.with(words), format!("shards={} entities={} ", self.shards, self.entities));
        let is_told = logged.iter().any(|line| line.starts_with("ERROR") && line.contains(&counts));
        is_told.then_some(()).ok_or_else(|| format!("node {} did not log {counts}: {logged:?}", self.node))
    }

    /// It dropped nothing.
    async fn lost_nothing(&mut self, rig: &Rig) -> Outcome {
        let told = self.losses()?;
        let counts = rig.node(self.node).sharding_stats_here().await.state_losses;
        let times: u64 = counts.by_reason().iter().map(|(_, count)| count.times).sum();
        let is_silent = told.is_empty() && times == 0;
        is_silent.then_some(()).ok_or_else(|| format!("node {} told {told:?}, {counts:?}", self.node))
    }
}

#[tokio::test(start_paused = true)]
async fn nodes_that_yield_to_an_older_cluster_name_it_and_count_what_they_drop() -> Outcome {
    let mut rig = Rig::new(61, 5);
    rig.form(&[0, 1]).await?;
    let older = rig.view(2).cluster;
    for number in [0, 1] {
        rig.leave(number).await?;
    }
    rig.until_settled(BOUND).await?;
    rig.cut(&[0, 1], &[2, 3, 4]);
    rig.start(0).await;
    rig.start(1).await;
    rig.run(secs(20)).await;
    let mut losers = Watched::all(&rig, [0, 1]).await;
    let mut winners = Watched::all(&rig, [2, 3, 4]).await;
    let (warnings, _guard) = Warnings::listen();
    rig.heal();
    rig.until_whole(BOUND).await?;
    for loser in &mut losers {
        loser.logged(&warnings, "node yields to another cluster of its name")?;
        let is_older = |why| matches!(why, GaveUp::Overtaken(cluster) if Some(cluster) == older);
        loser.lost_all(&rig, is_older, "yielded").await?;
    }
    for winner in &mut winners {
        winner.lost_nothing(&rig).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_voters_are_new_processes_counts_what_it_drops() -> Outcome {
    let mut rig = Rig::new(62, 3);
    rig.form(&[0, 1, 2]).await?;
    rig.crash(0);
    rig.crash(1);
    rig.run(secs(2)).await;
    let mut loser = Watched::all(&rig, [2]).await;
    let (warnings, _guard) = Warnings::listen();
    rig.start(0).await;
    rig.start(1).await;
    rig.until_whole(BOUND).await?;
    loser[0].logged(&warnings, "this node's cluster has ended")?;
    loser[0].lost_all(&rig, |why| why == GaveUp::Over, "voters_gone").await
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_removed_behind_a_cut_counts_what_it_drops() -> Outcome {
    let mut rig = Rig::new(63, 3);
    rig.form(&[0, 1, 2]).await?;
    rig.cut(&[2], &[0, 1]);
    rig.may_lose(&[2]);
    rig.run(secs(20)).await;
    let mut loser = Watched::all(&rig, [2]).await;
    let (warnings, _guard) = Warnings::listen();
    rig.heal();
    rig.until_whole(BOUND).await?;
    loser[0].logged(&warnings, "the cluster removed this node and goes on without it")?;
    loser[0].lost_all(&rig, |why| why == GaveUp::Removed, "removed").await
}

#[tokio::test(start_paused = true)]
async fn an_outage_that_costs_nothing_is_no_loss() -> Outcome {
    let mut rig = Rig::new(64, 3);
    rig.form(&[0, 1, 2]).await?;
    let mut nodes = Watched::all(&rig, [0, 1, 2]).await;
    rig.cut(&[0, 1, 2], &[0, 1, 2]);
    rig.run(secs(30)).await;
    rig.heal();
    rig.until_whole(BOUND).await?;
    for node in &mut nodes {
        node.lost_nothing(&rig).await?;
    }
    Ok(())
}

/// An operator takes a cluster for lost that is only cut off.
#[tokio::test(start_paused = true)]
async fn a_node_that_was_recovered_by_mistake_says_so_when_it_meets_the_cluster_that_was_given_up() -> Outcome
{
    let mut rig = Rig::new(65, 3);
    rig.form(&[0, 1, 2]).await?;
    rig.cut(&[0], &[1, 2]);
    rig.may_lose(&[0]);
    rig.run(secs(10)).await;
    let node = rig.node(0);
    let plan = node.recovery_plan().map_err(|error| error.to_string())?;
    let dead: Vec<_> = plan.given_up.iter().map(|member| member.node_id.to_string()).collect();
    node.recover(&dead).await.map_err(|error| error.to_string())?;
    rig.run(secs(10)).await;
    let (warnings, _guard) = Warnings::listen();
    rig.heal();
    rig.until_whole(BOUND).await?;
    let logged = warnings.with("the order to recover was a mistake");
    let is_told = matches!(&logged[..], [line] if line.starts_with("ERROR") && line.contains("shards="));
    is_told.then_some(()).ok_or_else(|| format!("{logged:?}"))
}
