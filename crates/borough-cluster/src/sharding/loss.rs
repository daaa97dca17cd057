//! What a node drops when it gives up its part in a cluster.
//!
//! ```text
//! a life ends by giving up --> entities counted, for 200 ms at most --> log line, ShardNews::StateLost, counts of this process
//! ```
//! Promise: a node that gives up says how many shards it drops. Where its entities could not be counted in time it says so, and not that there were none.

use std::time::Duration;

use borough_protocol::node::GaveUp;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::events::{ShardEvent, ShardNews};
use super::{Sharding, Sight};

/// For so long a node that gives up counts its entities. A worker that a handler blocks does not answer.
const COUNT_BOUND: Duration = Duration::from_millis(200);

/// What a node dropped because it gave up its part in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateLoss {
    /// Why: [`Overtaken`](GaveUp::Overtaken) names the cluster that the node yielded to, [`Over`](GaveUp::Over) says that the voters of its cluster are
    /// gone for good, [`Removed`](GaveUp::Removed) that its cluster goes on without it.
    pub why: GaveUp,
    /// How many shards it owned.
    pub shards: usize,
    /// How many entities lived there; `None` if they could not be counted in time.
    pub entities: Option<usize>,
}

impl StateLoss {
    /// The reason in one word, as counts and metrics have it.
    pub fn reason(&self) -> &'static str {
        match self.why {
            GaveUp::Overtaken(_) => YIELDED,
            GaveUp::Over => VOTERS_GONE,
            GaveUp::Removed => REMOVED,
            GaveUp::Recovers => RECOVERED,
            _ => OTHER,
        }
    }

    /// Whether there is anything to say: a node that met another cluster always says what that cost.
    fn is_told(&self) -> bool {
        matches!(self.why, GaveUp::Overtaken(_) | GaveUp::Over) || self.shards > 0
    }

    /// `was_recovered`: the node's cluster succeeded the one that it yields to, by an operator's order.
    fn log(&self, was_recovered: bool) {
        let Self { why, shards, entities } = *self;
        let entities = entities.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
        match why {
            GaveUp::Overtaken(cluster) if was_recovered => tracing::error!(
                ?cluster,
                shards,
                %entities,
                "the order to recover was a mistake: the cluster that was given up still works. Node yields to it, drops its shards and entities, and joins that cluster"
            ),
            GaveUp::Overtaken(cluster) => tracing::error!(
                ?cluster,
                shards,
                %entities,
                "node yields to another cluster of its name, drops its shards and entities, and joins that cluster"
            ),
            GaveUp::Over => tracing::error!(
                shards,
                %entities,
                "this node's cluster has ended: its voters are gone for good, or it was closed while this node was away. Node drops its shards and entities, and helps to found a new cluster"
            ),
            GaveUp::Removed => tracing::error!(
                shards,
                %entities,
                "the cluster removed this node and goes on without it: node drops its shards and entities"
            ),
            GaveUp::Recovers => tracing::warn!(
                shards,
                %entities,
                "recovery ordered: node drops its shards and entities, and founds the cluster again"
            ),
            _ => {
                tracing::error!(?why, shards, %entities, "node gave up its part in the cluster: it drops its shards and entities");
            }
        }
    }
}

const YIELDED: &str = "yielded";
const VOTERS_GONE: &str = "voters_gone";
const REMOVED: &str = "removed";
const RECOVERED: &str = "recovered";
const UNMOVED: &str = "unmoved";
const OTHER: &str = "other";

/// What a node has dropped for one reason since its process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StateLossCount {
    /// How often.
    pub times: u64,
    /// How many shards, all together.
    pub shards: u64,
    /// How many entities, all together, of those that were counted in time.
    pub entities: u64,
    /// How often the entities could not be counted in time: then there were more.
    pub uncounted: u64,
}

/// What a node has dropped since its process started because it gave up its part in a cluster, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StateLosses {
    /// It yielded to another cluster of its name.
    pub yielded: StateLossCount,
    /// The voters of its cluster were gone for good.
    pub voters_gone: StateLossCount,
    /// Its cluster removed it, and went on without it.
    pub removed: StateLossCount,
    /// An operator ordered it to recover.
    pub recovered: StateLossCount,
    /// It left or drained, or a type was shut down there, and what was to move away had not in time, or nobody else hosted it.
    pub unmoved: StateLossCount,
    /// Any other reason.
    pub other: StateLossCount,
}

impl StateLosses {
    /// All of them, with the name of the reason.
    pub fn by_reason(&self) -> [(&'static str, StateLossCount); 6] {
        [
            (YIELDED, self.yielded),
            (VOTERS_GONE, self.voters_gone),
            (REMOVED, self.removed),
            (RECOVERED, self.recovered),
            (UNMOVED, self.unmoved),
            (OTHER, self.other),
        ]
    }

    /// So many entities lost their state, and with them so many whole shards, because they did not move away.
    pub(super) fn add_unmoved(&mut self, shards: usize, entities: usize) {
        self.unmoved.times += 1;
        self.unmoved.shards += shards as u64;
        self.unmoved.entities += entities as u64;
    }

    pub(super) fn add(&mut self, loss: &StateLoss) {
        let count = match loss.why {
            GaveUp::Overtaken(_) => &mut self.yielded,
            GaveUp::Over => &mut self.voters_gone,
            GaveUp::Removed => &mut self.removed,
            GaveUp::Recovers => &mut self.recovered,
            _ => &mut self.other,
        };
        count.times += 1;
        count.shards += loss.shards as u64;
        match loss.entities {
            Some(entities) => count.entities += entities as u64,
            None => count.uncounted += 1,
        }
    }
}

/// How much lives on a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hosted {
    pub(super) shards: usize,
    pub(super) entities: usize,
}

impl Sharding {
    /// The node gives up its part in the cluster: says and counts what it drops. To be called before its shards are taken away.
    pub(crate) async fn lose(&self, why: GaveUp) {
        let loss = match timeout(COUNT_BOUND, self.hosted()).await {
            Ok(Some(Hosted { shards, entities })) => StateLoss { why, shards, entities: Some(entities) },
            Ok(None) | Err(_) => StateLoss { why, shards: self.owned(), entities: None },
        };
        if loss.is_told() {
            let table = self.sight().table;
            let succeeded = |cluster| table.is_some_and(|table| table.ancestors().has(cluster));
            loss.log(matches!(why, GaveUp::Overtaken(cluster) if succeeded(cluster)));
            self.chronicle().lose(&loss);
            self.announce(Some(ShardEvent { kind: "".into(), shard: 0, what: ShardNews::StateLost(loss) }));
        }
    }

    /// What lives here, by what the lanes say; `None` if one is gone.
    async fn hosted(&self) -> Option<Hosted> {
        let mut hosted = Hosted::default();
        for shell in self.shells() {
            let of_kind = shell.hosted_now().await?;
            hosted.shards += of_kind.shards;
            hosted.entities += of_kind.entities;
        }
        Some(hosted)
    }

    /// How many shards this node owns by its copy of the table.
    fn owned(&self) -> usize {
        let Sight { life, table, .. } = self.sight();
        let kinds = table.iter().flat_map(|table| table.kinds());
        kinds.map(|kind| kind.shards().values().filter(|entry| entry.owner == life).count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_that_were_not_counted_in_time_are_not_counted_as_none() {
        let mut losses = StateLosses::default();
        losses.add(&StateLoss { why: GaveUp::Over, shards: 8, entities: Some(500) });
        losses.add(&StateLoss { why: GaveUp::Over, shards: 4, entities: None });
        let expected = StateLossCount { times: 2, shards: 12, entities: 500, uncounted: 1 };
        assert_eq!(losses, StateLosses { voters_gone: expected, ..StateLosses::default() });
    }

    #[test]
    fn each_loss_is_counted_under_its_reason() {
        for why in [GaveUp::Over, GaveUp::Removed, GaveUp::Recovers, GaveUp::DownAll, GaveUp::Copy] {
            let loss = StateLoss { why, shards: 1, entities: Some(1) };
            let mut losses = StateLosses::default();
            losses.add(&loss);
            let counted = losses.by_reason().into_iter().filter(|(_, count)| count.times > 0);
            assert_eq!(counted.map(|(reason, _)| reason).collect::<Vec<_>>(), [loss.reason()]);
        }
    }
}
