//! What a node dropped because it gave up its part in a cluster.

use borough_cluster::{GaveUp, StateLoss, StateLosses};

use super::stats::count;
use crate::view;

/// One loss, as it is told.
pub(crate) fn state_loss(loss: &StateLoss) -> view::StateLoss {
    let yielded_to = match loss.why {
        GaveUp::Overtaken(cluster) => Some(format!("{cluster:?}")),
        _ => None,
    };
    view::StateLoss {
        reason: kebab(loss.reason()),
        yielded_to,
        shards: count(loss.shards),
        entities: loss.entities.map(count),
    }
}

/// All losses of a node, by reason; also those that never occurred.
pub(crate) fn state_losses(losses: &StateLosses) -> Vec<view::StateLossCount> {
    let told = losses.by_reason().map(|(reason, lost)| view::StateLossCount {
        reason: kebab(reason),
        times: lost.times,
        shards: lost.shards,
        entities: lost.entities,
        uncounted: lost.uncounted,
    });
    told.into()
}

fn kebab(reason: &str) -> String {
    reason.replace('_', "-")
}
