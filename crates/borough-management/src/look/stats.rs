//! How much there is, and how much happens.

use std::sync::Arc;
use std::time::Duration;

use borough_cluster::{DataDirectoryState, DataDirectoryStats, Gathered, KindStats, NodeStats};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::losses::state_losses;
use crate::bureau::{Bureau, now_millis};
use crate::view;

/// Answers this young are given again: many who look at once cost the cluster as much as one.
const FRESH: Duration = Duration::from_millis(250);

/// Asks the nodes of the cluster, one question at a time.
#[derive(Default)]
pub(crate) struct StatsDesk {
    last: Mutex<Option<(Instant, Arc<Gathering>)>>,
}

/// What all nodes said at one moment.
pub(crate) struct Gathering {
    /// When they were asked.
    pub(crate) at_millis: u64,
    pub(crate) answers: Gathered<NodeStats>,
}

impl StatsDesk {
    /// What lives on each node, as of a moment ago at most.
    pub(crate) async fn gather(&self, bureau: &Bureau) -> Arc<Gathering> {
        let mut last = self.last.lock().await;
        if let Some((at, gathering)) = &*last
            && at.elapsed() < FRESH
        {
            return gathering.clone();
        }
        // Before they answer: the counts are of about now. With the wait for one that does not answer in it, this rate would come out too low and the
        // next too high.
        let at_millis = now_millis();
        let answers = bureau.node.sharding_stats().await;
        let gathering = Arc::new(Gathering { at_millis, answers });
        *last = Some((Instant::now(), gathering.clone()));
        gathering
    }

    /// The same, as it is told.
    pub(crate) async fn stats(&self, bureau: &Bureau) -> view::Stats {
        let gathering = self.gather(bureau).await;
        let (mut nodes, mut missing) = (Vec::new(), Vec::new());
        for (node, answer) in &gathering.answers {
            let node = node.to_string();
            match answer {
                Ok(stats) => {
                    let kinds = stats.kinds.iter().map(kind_stats).collect();
                    let mut state_losses = state_losses(&stats.state_losses);
                    state_losses.retain(|lost| lost.times > 0);
                    let data_directory = stats.data_directory.as_ref().map(data_directory);
                    nodes.push(view::NodeStats { node, kinds, state_losses, data_directory });
                }
                Err(error) => missing.push(view::Count { name: node, value: error.to_string() }),
            }
        }
        nodes.sort_by(|a, b| a.node.cmp(&b.node));
        view::Stats { seen_by: bureau.name(), at_millis: gathering.at_millis, nodes, missing }
    }
}

/// What lives of one type on one node, as it is told.
pub(crate) fn kind_stats(stats: &KindStats) -> view::KindStats {
    let (moves, turns) = (&stats.moves, &stats.turns);
    view::KindStats {
        kind: stats.name.clone(),
        hosts: stats.hosts,
        shards: count(stats.shards.len()),
        entities: count(stats.entities()),
        handled: stats.handled,
        held: count(stats.held),
        forwarded: count(stats.forwarded),
        forwards_waiting: count(stats.forwards_waiting),
        refused: reasons(&stats.refusals.by_reason()),
        dropped: reasons(&stats.dead_letters.by_reason()),
        moves: view::Moves {
            arrived: moves.came,
            departed: moves.went,
            called_off: moves.called_off,
            longest_millis: moves
                .longest
                .map_or(0, |longest| u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)),
        },
        turns: view::Turns {
            samples: turns.samples,
            p50_nanos: nanos(turns.p50),
            p99_nanos: nanos(turns.p99),
            longest_nanos: nanos(turns.longest),
        },
        wedged: stats.wedged,
        overran: stats.overran,
    }
}

/// How the data directory of one node does, as it is told.
fn data_directory(data: &DataDirectoryStats) -> view::DataDirectory {
    view::DataDirectory {
        path: data.path.clone(),
        state: disk_state(&data.state).to_owned(),
        trouble: data.trouble(),
        silent_millis: u64::try_from(data.silent.as_millis()).unwrap_or(u64::MAX),
        last_write_nanos: nanos(data.last_write),
        longest_write_nanos: nanos(data.longest_write),
        stalls: data.stalls,
    }
}

/// A state as it is written everywhere.
fn disk_state(state: &DataDirectoryState) -> &'static str {
    match state {
        DataDirectoryState::Works => "works",
        DataDirectoryState::Stuck => "stuck",
        _ => "failed",
    }
}

/// The reasons that occurred.
fn reasons(counts: &[(&str, u64)]) -> Vec<view::Count<u64>> {
    let occurred = counts.iter().filter(|(_, value)| *value > 0);
    occurred.map(|(name, value)| view::Count { name: name.replace('_', "-"), value: *value }).collect()
}

/// More than five hundred years are all the same.
pub(super) fn nanos(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
