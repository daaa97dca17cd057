//! Moving shards to where the strategy of their type wants them, in quiet times only.

use alloc::collections::BTreeMap;

use super::survey::{KindSurvey, Survey, destination};
use super::{Plan, Scene, Shards};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::sharding::allocation::{Spread, with_strategy};
use crate::sharding::{ShardId, Step};
use crate::time::Timestamp;

impl Shards {
    /// Asks the strategy of each type that is at rest. While versions are mixed, members join or leave, or a host is not well, every
    /// answer would soon be another: what moves then moves twice.
    pub(super) fn balance(
        &self,
        now: Timestamp,
        scene: &Scene<'_>,
        survey: &Survey<'_>,
        plan: &mut Plan<'_>,
    ) {
        let is_awaited = |uid: Uid| scene.table.member(uid).is_none() && !self.held_back.contains(&uid);
        if scene.document.joining().any(|guest| is_awaited(guest.incarnation.uid)) {
            return;
        }
        for kind in survey.kinds.iter().filter(|kind| is_at_rest(scene, kind)) {
            let places = self.places(now, kind, plan);
            let spread = Spread {
                hosts: &kind.hosts,
                places: &places,
                moving: kind.moving.len(),
                shards: kind.table.kind().shards,
            };
            let agreed = kind.table.kind();
            let custom = scene.strategies.of(&agreed.name);
            let mut moves = with_strategy(agreed.allocation, custom, |strategy| strategy.rebalance(&spread));
            if scene.settings.flaws.has(Flaw::FlapsBetweenNodes) {
                moves.extend(there_and_back(&spread));
            }
            for (number, to) in moves {
                let shard = ShardId { kind: kind.id, number };
                if kind.is_host(to) && places.contains_key(&number) {
                    plan.put(shard, Step::Move(to, scene.table.next_epoch(shard)));
                }
            }
        }
    }

    /// The shards that may move, and who has them.
    fn places(&self, now: Timestamp, kind: &KindSurvey<'_>, plan: &Plan<'_>) -> BTreeMap<u32, Uid> {
        let may_move = |number: u32| {
            let shard = ShardId { kind: kind.id, number };
            !plan.has(shard) && !self.rests(now, shard)
        };
        let still = kind.table.shards().iter().filter(|(_, entry)| entry.moving.is_none());
        let still = still.filter(|(number, entry)| may_move(**number) && kind.is_host(entry.owner));
        still.map(|(number, entry)| (*number, destination(entry))).collect()
    }
}

fn is_at_rest(scene: &Scene<'_>, kind: &KindSurvey<'_>) -> bool {
    let mixed = kind.is_mixed && !scene.settings.flaws.has(Flaw::MovesWhileVersionsAreMixed);
    let all_well = kind.hosts.len() == kind.active;
    let calm = kind.orphans.is_empty() && kind.leaving.is_empty();
    !mixed && all_well && calm && kind.hosts.len() > 1
}

/// What a strategy would say that takes a difference of one for a reason.
fn there_and_back(spread: &Spread<'_>) -> Option<(u32, Uid)> {
    let fullest = spread.hosts.iter().max_by_key(|host| host.shards)?;
    let emptiest =
        spread.hosts.iter().filter(|host| host.uid != fullest.uid).min_by_key(|host| host.shards)?;
    let (shard, _) = spread.places.iter().find(|(_, owner)| **owner == fullest.uid)?;
    Some((*shard, emptiest.uid))
}
