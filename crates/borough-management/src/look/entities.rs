//! Single entities.

use std::cmp::Reverse;

use borough_cluster::{EntitiesError, EntityId, EntityPage, ExplainError, Explanation};

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

/// Which entities live in a shard, behind the one of which an answer had that `next`.
pub(crate) async fn entity_ids(
    bureau: &Bureau,
    kind: &str,
    shard: u32,
    after: Option<&EntityId>,
) -> Result<view::EntityIds, EntitiesError> {
    let EntityPage { epoch, ids, is_last, .. } = bureau.node.entities_of(kind, shard, after).await?;
    let next = ids.last().filter(|_| !is_last).map(token);
    let ids = ids.iter().map(ToString::to_string).collect();
    Ok(view::EntityIds { kind: kind.to_owned(), shard, epoch, ids, next })
}

/// An id in a query: its bytes in digits, because not every id is text.
fn token(id: &EntityId) -> String {
    id.as_bytes().iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

/// The id of such digits.
pub(crate) fn of_token(token: &str) -> Option<EntityId> {
    let digits = token.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).ok());
    let bytes: Option<Vec<u8>> = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
    EntityId::new(&bytes?).ok().filter(|id| self::token(id) == token)
}
