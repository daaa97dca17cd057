//! Single entities.

use std::cmp::Reverse;

use borough_cluster::{ExplainError, Explanation};

use super::stats::nanos;
use crate::bureau::Bureau;
use crate::view;

/// How many of the busiest are named, and how many of the slowest.
const NAMED: usize = 100;

/// The entities that have most to do and those that take longest, of all nodes that answer.
pub(crate) async fn entities(bureau: &Bureau) -> view::Entities {
    let gathering = bureau.stats.gather(bureau).await;
    let (mut busiest, mut slowest) = (Vec::new(), Vec::new());
    for (node, stats) in &gathering.answers {
        for kind in stats.iter().flat_map(|stats| &stats.kinds) {
            busiest.extend(kind.busiest.iter().map(|(id, waiting)| view::BusyEntity {
                kind: kind.name.clone(),
                id: id.clone(),
                node: node.to_string(),
                waiting: u64::try_from(*waiting).unwrap_or(u64::MAX),
            }));
            slowest.extend(kind.slowest.iter().map(|(id, took)| view::SlowEntity {
                kind: kind.name.clone(),
                id: id.clone(),
                node: node.to_string(),
                took_nanos: nanos(*took),
            }));
        }
    }
    busiest.sort_by(|a, b| (Reverse(a.waiting), &a.kind, &a.id).cmp(&(Reverse(b.waiting), &b.kind, &b.id)));
    busiest.truncate(NAMED);
    slowest.sort_by(|a, b| {
        (Reverse(a.took_nanos), &a.kind, &a.id).cmp(&(Reverse(b.took_nanos), &b.kind, &b.id))
    });
    slowest.truncate(NAMED);
    view::Entities { seen_by: bureau.name(), busiest, slowest }
}

/// Where one entity lives, and why there.
pub(crate) fn location(bureau: &Bureau, kind: &str, id: &str) -> Result<view::Location, ExplainError> {
    let Explanation { shard, owner, epoch, since, why } = bureau.node.explain(kind, id)?;
    Ok(view::Location {
        kind: kind.to_owned(),
        id: id.to_owned(),
        shard,
        node: owner.map(|(node, _)| node.to_string()),
        epoch: epoch.get(),
        since_millis: since.map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        why,
    })
}
