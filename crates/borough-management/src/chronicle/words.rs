//! What happened to shards, in words.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use borough_cluster::{DataDirectoryStats, Dropped, GaveUp, ShardEvent, ShardNews, TopologySnapshot, Uid};

use super::ring::News;
use crate::look::state_loss;
use crate::view::{EventKind, StateLoss};

/// How many lives that are gone are remembered by name.
const REMEMBERED: usize = 1024;

/// What nodes are called, those that are gone too.
#[derive(Default)]
pub(super) struct Names {
    known: BTreeMap<Uid, String>,
    order: VecDeque<Uid>,
}

impl Names {
    /// Learns the names of all who are there.
    pub(super) fn learn(&mut self, snapshot: &TopologySnapshot) {
        for member in &snapshot.members {
            if self.known.insert(member.uid(), member.node_id().to_string()).is_none() {
                self.order.push_back(member.uid());
            }
        }
        while self.order.len() > REMEMBERED.max(snapshot.members.len()) {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }

    /// What that life is called; its uid, if nobody knows.
    pub(super) fn of(&self, uid: Uid) -> String {
        self.known.get(&uid).cloned().unwrap_or_else(|| format!("#{uid}"))
    }
}

/// Some events are gone.
pub(super) fn of_missed(count: u64) -> News {
    let text = format!("{count} events were missed");
    News::new(EventKind::Missed, text)
}

/// What was heard before comes from another chronicle than what follows.
pub(super) fn of_beginning(seen_by: &str) -> News {
    let text = format!("the events of {seen_by} begin anew: some may have been missed");
    News::new(EventKind::Missed, text)
}

/// What happened to a shard, or to all of this node, which is called `here`.
pub(super) fn of_shard(event: &ShardEvent, names: &Names, here: &str) -> News {
    let shard = format!("shard {} of {}", event.shard, event.kind);
    let (what, node, text) = match &event.what {
        ShardNews::Allocated { owner, epoch } => {
            let owner = names.of(*owner);
            let text = format!("{shard} was given to {owner} at epoch {epoch}");
            (EventKind::Allocated, Some(owner), text)
        }
        ShardNews::Moving { from, to } => {
            let to = names.of(*to);
            let text = format!("{shard} is to move from {} to {to}", names.of(*from));
            (EventKind::Moving, Some(to), text)
        }
        ShardNews::Moved { owner, epoch, took } => {
            let owner = names.of(*owner);
            let text = format!("{shard} has moved to {owner} at epoch {epoch}{}", lasting(" in ", *took));
            (EventKind::Moved, Some(owner), text)
        }
        ShardNews::CalledOff { after } => {
            let text = format!("the move of {shard} was called off{}", lasting(" after ", *after));
            (EventKind::CalledOff, None, text)
        }
        ShardNews::Raised { owner, epoch } => {
            let owner = names.of(*owner);
            let text =
                format!("{shard} goes on at {owner} at epoch {epoch}: its store had seen a higher one");
            (EventKind::Other, Some(owner), text)
        }
        ShardNews::Refused { epoch, seen, is_far_ahead } => {
            let then = if *is_far_ahead {
                "far in the future; the epoch in the store must be corrected"
            } else {
                "and one above it is asked for"
            };
            (
                EventKind::Other,
                None,
                format!("the store refuses {shard} at epoch {epoch}: it has seen {seen}, {then}"),
            )
        }
        ShardNews::Hosted { moved } => {
            let how = if *moved { "with what it brought" } else { "anew" };
            (EventKind::Other, None, format!("{shard} runs here, {how}"))
        }
        ShardNews::Dropped { why } => {
            (EventKind::Other, None, format!("what lived here of {shard} was dropped: {}", dropped(*why)))
        }
        ShardNews::Suspended => {
            let text = "this node has no lease: nothing runs here until it has".to_owned();
            return about_lease(text);
        }
        ShardNews::Resumed { after } => {
            let text = format!("this node has a lease again{}", lasting(" after ", Some(*after)));
            return about_lease(text);
        }
        ShardNews::StateLost(loss) => return of_loss(here, loss.why, state_loss(loss)),
        other => (EventKind::Other, None, format!("{shard}: {other:?}")),
    };
    News { node, kind: Some(event.kind.to_string()), shard: Some(event.shard), ..News::new(what, text) }
}

/// The data directory of that node takes no writes, or takes them again.
pub(super) fn of_disk(node: &str, data: &DataDirectoryStats) -> News {
    let text = match data.trouble() {
        Some(trouble) => format!("{node}: {trouble}"),
        None => format!("{node}: the data directory {} takes writes again, and the node votes", data.path),
    };
    News { node: Some(node.to_owned()), ..News::new(EventKind::DataDirectory, text) }
}

/// That node gave up its part in a cluster, and dropped all it hosted.
pub(super) fn of_loss(node: &str, why: GaveUp, loss: StateLoss) -> News {
    let because = match (why, &loss.yielded_to) {
        (_, Some(cluster)) => format!("{node} yielded to another cluster of its name ({cluster})"),
        (GaveUp::Over, _) => format!("{node} gave up, because the voters of its cluster are gone for good,"),
        (GaveUp::Removed, _) => format!("{node} was removed by its cluster, which goes on without it,"),
        (GaveUp::Recovers, _) => format!("{node} was ordered to recover"),
        (why, _) => format!("{node} gave up its part in the cluster ({why:?})"),
    };
    let shards = counted(loss.shards, "shard", "shards");
    let entities = match loss.entities {
        Some(entities) => counted(entities, "entity", "entities"),
        None => "an unknown number of entities".to_owned(),
    };
    let text = format!("{because} and dropped {shards} and {entities}");
    News { node: Some(node.to_owned()), loss: Some(loss), ..News::new(EventKind::StateLost, text) }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn about_lease(text: String) -> News {
    News::new(EventKind::Lease, text)
}

fn lasting(before: &str, time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{before}{} ms", time.as_millis()))
}

fn dropped(why: Dropped) -> &'static str {
    match why {
        Dropped::NotAdmitted => "this node is no member any more",
        Dropped::BeganAnew => "it began anew elsewhere",
        Dropped::Overtaken => "it is owned elsewhere although it never moved away",
        Dropped::NoOtherHost => "this node leaves, and no other hosts the type",
        Dropped::TooLate => "this node leaves, and it had not moved away in time",
        Dropped::Closing => "the whole cluster shuts down",
    }
}
