//! Turns that are under way when their shard is to move: how long they may last, and what becomes of those that last longer.
//!
//! | type | a turn that lasts longer |
//! |---|---|
//! | migrates | hinders the move, which is called off and tried again; at the next try it need not be waited for again |
//! | migrates, and its node can wait no longer | is ended by force: its entity loses its state, the others of the shard move with theirs |
//! | does not migrate | is ended by force |

use std::time::Duration;

use borough_actor::Actor;
use borough_actor::remote::Message;
use borough_protocol::sharding::Epoch;
use tokio::time::Instant;

use super::alarms::Due;
use super::busy::Doing;
use super::floor::{Floor, Home};
use super::order::LaneReport;
use super::shard::Shard;
use super::table::Body;
use super::turns::Turns;
use crate::sharding::hindrance::Hindrance;

/// How many entities of a shard are named at the most.
const NAMED: usize = 3;

impl<A: Actor, T: Turns<A>> Shard<A, T>
where
    A::Msg: Message,
{
    /// The shard is to move: its turns may last for a while. Those that have lasted for so long already are not waited for again.
    pub(super) fn wait_for_turns(&mut self, floor: &mut Floor<A, T>) {
        let Some(next) = self.moving.as_ref().map(|moving| moving.next) else { return };
        let most = floor.turns_may_last();
        let late = self.home.as_ref().map_or_else(Vec::new, |home| turns_of(home, most));
        if floor.settings.migration.is_some() && !late.is_empty() {
            self.end_or_call_off(floor, next, &late);
        }
        let by = Instant::now() + most;
        floor.alarms.set(by, Due::Handoff { shard: self.number, next });
    }

    /// Turns should have ended by now.
    pub(super) fn handoff_is_late(&mut self, floor: &mut Floor<A, T>, next: Epoch) {
        if self.moving.as_ref().is_some_and(|moving| moving.next == next && !moving.is_cut) {
            let late = self.home.as_ref().map_or_else(Vec::new, |home| turns_of(home, Duration::ZERO));
            self.end_or_call_off(floor, next, &late);
        }
    }

    /// The node can wait no longer.
    pub(super) fn force(&mut self, floor: &mut Floor<A, T>) {
        if self.moving.as_ref().is_some_and(|moving| !moving.is_cut) {
            self.wait_for_turns(floor);
            self.cut_if_quiet(floor);
        }
    }

    fn end_or_call_off(&mut self, floor: &mut Floor<A, T>, next: Epoch, late: &[u32]) {
        let Some(home) = &mut self.home else { return };
        let (kind, shard) = (floor.around.kind().to_owned(), self.number);
        let migrates = floor.settings.migration.is_some();
        floor.around.unhindered(shard);
        if migrates && !floor.forces {
            for slot in late.iter().take(NAMED) {
                let entity = home.table.peek(*slot).id.to_string();
                tracing::warn!(
                    kind,
                    entity,
                    shard,
                    handoff_timeout = ?floor.settings.handoff_timeout,
                    turns = late.len(),
                    "a shard cannot move: a turn of the entity has not ended within `handoff_timeout`; the move is tried again after a rest"
                );
                floor.around.hinders(shard, Hindrance::Turn { kind: kind.clone(), entity });
            }
            if late.is_empty() {
                let why = "its turns have not ended, or its store was not fenced, in time".to_owned();
                floor.around.hinders(shard, Hindrance::State { kind, shard, why });
            }
            return floor.around.report(LaneReport::Impossible { shard, epoch: next });
        }
        for slot in late.iter().copied() {
            let id = home.table.peek(slot).id.clone();
            tracing::warn!(kind, entity = %id, shard, "a turn is ended by force, because its shard moves and it has not ended in time");
            floor.kill(home, slot);
            if migrates {
                floor.around.lost(shard, 1, Some(&id));
            }
            floor.go_on(home, slot);
        }
        self.cut_if_quiet(floor);
    }
}

/// The slots of turns that have lasted for so long.
fn turns_of<A: Actor, T: Turns<A>>(home: &Home<A, T>, most: Duration) -> Vec<u32> {
    if home.table.turning == 0 {
        return Vec::new();
    }
    let now = Instant::now();
    let is_late = |slot: &u32| match &home.table.peek(*slot).body {
        Body::Busy(busy) => match &busy.doing {
            Doing::Turn(turning) => turning.since.lasted(now) >= most,
            _ => false,
        },
        _ => false,
    };
    home.table.taken().filter(is_late).collect()
}
