//! The rule of fail-over: who cannot take part is removed in time, while a quorum of the voters can.
//!
//! It needs to know what was done to whom, so it stands here and not beside the others. While a fixed quorum is not complete it is owed
//! nothing: until then nobody is removed who wants to stay. Nor while disks are slow. Two that are apart both stay if the younger of them is one of the voters of
//! the last minutes of whom no more may go.

use std::collections::BTreeSet;

use borough_protocol::incarnation::Uid;
use borough_protocol::settings::Strategy;

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::plan::Mode;
use crate::sim::violation::Violation;

/// How long it may take until a member that is gone, deaf or mute is removed: the promised fail-over, an election that goes wrong
/// and a change of voters.
const LOST: Nanos = 9 * SECOND;
/// How long it may take until all know of two members that they cannot hear each other: detectors are slower than leases. What they
/// say has to last besides.
const NOTICED: Nanos = 14 * SECOND;
/// How long it must last before one of two is removed, and nothing around them may have broken for the last part of it: bad links are judged by all of
/// those that are bad, so that the fewest go.
const LASTED: Nanos = (10 + 5) * SECOND;

/// So long after one removal for bad links the next one may follow, and how long that takes.
const PACE: Nanos = (10 + 1) * SECOND;

/// For so long a coordinator may not know who voted before it came, by a slow clock.
const UNKNOWN_FOR: Nanos = 5 * 60 * SECOND * 6 / 5;

/// Members of whom one must be gone by now: one, or two that are cut apart.
pub(super) type Overdue = (Uid, Option<Uid>);

impl World {
    /// That slot is lost for so long, or for good: plans to look whether it was removed.
    pub(super) fn expect_removal(&mut self, slot: SlotIndex, lasts: Nanos) {
        if let Some(uid) = self.watched(slot).filter(|_| lasts > LOST) {
            self.queue.plan(self.now.after(LOST), Happening::Overdue((uid, None)));
        }
    }

    /// How long it may take until of two members that cannot hear each other one is removed.
    fn apart() -> Nanos {
        NOTICED + LASTED
    }

    /// These two are cut apart for so long: plans to look whether one was removed.
    pub(super) fn expect_choice(&mut self, (one, other): (SlotIndex, SlotIndex), lasts: Nanos) {
        let apart = Self::apart();
        if let Some((one, other)) = self.watched(one).zip(self.watched(other)).filter(|_| lasts > apart) {
            self.queue.plan(self.now.after(apart), Happening::Overdue((one, Some(other))));
        }
    }

    /// Looks whether it happened in time.
    pub(super) fn overdue(&mut self, (uid, other): Overdue) -> Result<(), Violation> {
        let is_out = |uid: Uid| self.rules.is_removed(uid) || self.slots.life(uid).is_none();
        let is_settled = match other {
            None => self.rules.is_removed(uid),
            Some(other) => is_out(uid) || is_out(other),
        };
        if is_settled || self.is_healing || self.mode == Mode::Wild {
            return Ok(());
        }
        if self.is_not_owed_yet((uid, other)) {
            return Ok(());
        }
        if let Some(other) = other
            && (self.wait_again((uid, other)) || self.must_stay((uid, other)))
        {
            return Ok(());
        }
        let text = match other {
            None => format!("{uid:?} has been lost for {} s and is still a member", LOST / SECOND),
            Some(other) => format!("{uid:?} and {other:?} have been apart for {} s", Self::apart() / SECOND),
        };
        Err(Violation::Liveness("failover", text))
    }

    /// Whether a fixed quorum has not been complete for long enough, or a disk has just been slow, which can cost an election where every voter is needed; then
    /// looks later. Who is only cut off or stands still may be back by then, and is not waited for.
    fn is_not_owed_yet(&mut self, (uid, other): Overdue) -> bool {
        let patience = if other.is_some() { Self::apart() } else { LOST };
        let since = self.complete_since.unwrap_or(self.now).max(self.disks.slow_until());
        let owed_at = since.after(patience);
        let waits = owed_at > self.now;
        if waits && (other.is_some() || self.slots.life(uid).is_none()) {
            self.queue.plan(owed_at, Happening::Overdue((uid, other)));
        }
        waits
    }

    /// The voters' lists have changed: notes whether there are as many voters as a fixed quorum asks for.
    pub(super) fn watch_completeness(&mut self) {
        if let Strategy::StaticQuorum { quorum } = self.settings.strategy {
            let lists = self.lists_in_force();
            let is_complete = lists.iter().all(|voters| voters.now.len() == 2 * quorum - 1);
            self.complete_since = is_complete.then(|| self.complete_since.unwrap_or(self.now));
        }
    }

    /// Nothing passes on these ways from now on: notes which pairs are cut apart by that, and were not before.
    pub(super) fn note_cut(&mut self, ways: &[(SlotIndex, SlotIndex)]) {
        for (one, other) in ways {
            let pair = (*one.min(other), *one.max(other));
            if !self.is_cut_apart(pair) {
                self.apart_since.insert(pair, self.now);
            }
        }
    }

    fn is_cut_apart(&self, (one, other): (SlotIndex, SlotIndex)) -> bool {
        self.network.cuts.is_cut(one, other) || self.network.cuts.is_cut(other, one)
    }

    /// When the last pair around these two was cut apart, of those that were before a decision on the two was due: it waits for such a pair, which may break yet, so
    /// that the fewest go. One that is cut later comes too late to be waited for.
    fn last_cut_around(&self, pair: (SlotIndex, SlotIndex), since: Moment) -> Moment {
        let touches = |nodes: &BTreeSet<SlotIndex>, (one, other): &(SlotIndex, SlotIndex)| {
            nodes.contains(one) || nodes.contains(other)
        };
        let two = BTreeSet::from([pair.0, pair.1]);
        let paired = self.apart_since.keys().filter(|cut| touches(&two, cut));
        let around: BTreeSet<SlotIndex> =
            paired.flat_map(|(one, other)| [*one, *other]).chain(two.clone()).collect();
        let due = since.after(Self::apart());
        let near = self.apart_since.iter().filter(|(cut, _)| touches(&around, cut));
        let moments = near.flat_map(|(cut, at)| self.births_while_cut(*cut).chain([*at]));
        moments.filter(|at| *at < due).fold(since, Moment::max)
    }

    /// When those two slots that are cut apart began the lives that they have: who starts again is another node, and accused anew.
    fn births_while_cut(&self, cut: (SlotIndex, SlotIndex)) -> impl Iterator<Item = Moment> + '_ {
        let slots = if self.is_cut_apart(cut) { vec![cut.0, cut.1] } else { Vec::new() };
        slots.into_iter().filter_map(|slot| self.slots[slot].life.as_ref()).map(|life| life.born)
    }

    /// A new coordinator waits as long again, after a removal for bad links the next one waits, and a decision waits for pairs around it: looks later. Who is no
    /// longer cut apart is not waited for, and who is cut apart for a second time by then has been for no longer than that.
    fn wait_again(&mut self, (one, other): (Uid, Uid)) -> bool {
        let Some((one_slot, other_slot)) = self.slots.slot_of(one).zip(self.slots.slot_of(other)) else {
            return true;
        };
        let pair = (one_slot.min(other_slot), one_slot.max(other_slot));
        if !self.is_cut_apart(pair) {
            return true;
        }
        let since = self.apart_since.get(&pair).copied().unwrap_or_default();
        let elected = self.rules.last_election().max(self.last_cut_around(pair, since)).after(Self::apart());
        let again = self.rules.last_cut_off().map_or(elected, |removed| elected.max(removed.after(PACE)));
        let waits = again > self.now;
        if waits {
            self.queue.plan(again, Happening::Overdue((one, Some(other))));
        }
        waits
    }

    /// Whether the younger of the two, which would have to go, is a voter of the last minutes that must stay.
    fn must_stay(&self, (one, other): (Uid, Uid)) -> bool {
        let Some(life) = self.coordinator().and_then(|slot| self.slots[slot].life.as_ref()) else {
            return false;
        };
        let Some(table) = life.node.table() else { return false };
        let age = |uid: Uid| table.member(uid).map(|member| member.admission);
        let younger = if age(one) > age(other) { one } else { other };
        let Some(voter) = self.slots.voter_of(younger) else { return false };
        let is_new = self.now.since(life.born) < UNKNOWN_FOR && age(life.uid()) > age(younger);
        self.rules.must_stay(self.now, table.cluster(), voter, is_new)
    }

    /// The member in that slot, in runs in which a quorum always lives.
    fn watched(&self, slot: SlotIndex) -> Option<Uid> {
        let is_watched = self.mode != Mode::Wild && self.slots.is_member(slot);
        self.slots[slot].life.as_ref().filter(|_| is_watched).map(Life::uid)
    }
}
