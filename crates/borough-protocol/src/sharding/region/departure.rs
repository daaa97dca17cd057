//! How a node gets rid of what lives on it, and makes sure that nobody sends through it any more.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::Region;
use super::interface::{Dropped, Effect, Word};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::machine::Effects;
use crate::sharding::{KindId, ShardId};
use crate::table::State;
use crate::time::Timestamp;
use crate::version::Version;

/// Whether and how the region empties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    Staying,
    /// What lives here moves away.
    Moving,
    /// What does not move by itself is forced to; what has not gone then is dropped.
    Forcing {
        until: Timestamp,
        /// How many shards were here when the last one went.
        left: usize,
    },
    /// Nothing lives here since that version; these have not said that nothing of theirs is under way through here.
    Asking {
        until: Timestamp,
        version: Version,
        silent: BTreeSet<Uid>,
        again: Timestamp,
    },
    Drained,
}

impl Departure {
    pub(super) fn next_deadline(&self, bound: Timestamp) -> Timestamp {
        match self {
            Self::Staying | Self::Drained => Timestamp::NEVER,
            Self::Moving => bound,
            Self::Forcing { until, .. } => *until,
            Self::Asking { until, again, .. } => *until.min(again),
        }
    }
}

impl Region {
    /// The node leaves.
    pub(super) fn begin_to_leave(&mut self, now: Timestamp) {
        if self.departure == Departure::Staying {
            self.departure = Departure::Moving;
            let bound = self.patience.drain.map_or(Timestamp::NEVER, |drain| now + drain);
            self.bound = self.bound.min(bound);
        }
    }

    /// Whether what does not move is forced, and then dropped: of one type that ends here, or of all because the node leaves.
    pub(super) fn is_forcing(&self) -> bool {
        matches!(self.departure, Departure::Forcing { .. })
            || self
                .kinds
                .values()
                .any(|started| started.is_forced && self.id_of(started).is_some_and(|id| self.is_host(id)))
    }

    /// Something of what is to go gets on.
    pub(super) fn note_progress(&mut self, now: Timestamp) {
        if let Departure::Forcing { until, .. } = &mut self.departure {
            *until = now + self.patience.force;
        }
    }

    /// One that is no member any more, or of a cluster that shuts down, has nothing.
    pub(super) fn vacate_if_over(&mut self, effects: &mut Effects<Effect>) {
        let why = if self.table.is_closing() {
            Dropped::Closing
        } else if self.is_inhabited() && !self.is_member(self.host.me) {
            Dropped::NotAdmitted
        } else {
            return;
        };
        for residence in self.residences.values_mut() {
            residence.vacate(why, effects);
        }
    }

    /// Goes on with leaving, as far as that is possible now.
    pub(super) fn depart(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if let Departure::Asking { until, .. } = self.departure
            && now < until
            && if self.bound <= now { self.is_inhabited() } else { !self.is_empty() }
        {
            // Once it has said goodbye others get what it owns at once: while anything lives here it must not say so.
            self.departure = Departure::Moving;
        }
        if let Departure::Moving = self.departure
            && self.bound <= now
            && !self.is_empty()
        {
            self.departure = Departure::Forcing { until: now + self.patience.force, left: self.count() };
            for kind in self.started_ids() {
                effects.push(Effect::Force { kind });
            }
        }
        if let Departure::Forcing { left: before, .. } = self.departure {
            let count = self.count();
            if let Departure::Forcing { until, left } = &mut self.departure
                && count < before
            {
                (*until, *left) = (now + self.patience.force, count);
            }
        }
        if let Departure::Moving | Departure::Forcing { .. } = self.departure {
            let too_late = matches!(self.departure, Departure::Forcing { until, .. } if until <= now);
            self.drop_what_must_stay(too_late, effects);
            if self.is_empty() || too_late || self.host.flaws.has(Flaw::DrainedBeforeMoved) {
                let me = self.host.me;
                let silent = self.table.members().keys().copied().filter(|uid| *uid != me).collect();
                let is_over = self.bound <= now;
                let lasts = if is_over { self.patience.force } else { self.patience.clear };
                let (until, version) = (now + lasts, self.table.version());
                self.departure = Departure::Asking { until, version, silent, again: now };
            }
        }
        let table = self.table.clone();
        if let Departure::Asking { until, version, silent, again } = &mut self.departure {
            silent.retain(|uid| table.member(*uid).is_some());
            let flaws = self.host.flaws;
            let early = flaws.has(Flaw::LeavesWhileOthersSend) || flaws.has(Flaw::DrainedBeforeMoved);
            if silent.is_empty() || *until <= now || early {
                effects.push(Effect::Drained);
                self.departure = Departure::Drained;
            } else if *again <= now {
                let word = Word::Leaving { version: *version };
                for uid in silent.iter() {
                    effects.push(Effect::Send { to: *uid, word });
                }
                *again = now + self.patience.again;
            }
        }
    }

    /// Drops what no other can host, and everything once it is too late.
    fn drop_what_must_stay(&mut self, too_late: bool, effects: &mut Effects<Effect>) {
        let kinds: BTreeSet<KindId> = self.residences.keys().map(|shard| shard.kind).collect();
        let hosted: BTreeSet<KindId> = kinds.into_iter().filter(|kind| self.has_other_host(*kind)).collect();
        for (shard, residence) in &mut self.residences {
            let alone = !hosted.contains(&shard.kind) && !residence.is_moving();
            if too_late {
                residence.vacate(Dropped::TooLate, effects);
            } else if alone {
                residence.vacate(Dropped::NoOtherHost, effects);
            }
        }
    }

    /// How many shards live here, or have come here and not begun.
    fn count(&self) -> usize {
        self.residences.values().filter(|residence| residence.is_inhabited()).count()
    }

    /// Whether nothing lives here, and nothing comes here any more: what the table says to be owned here was dropped, no move to this
    /// node is under way, and the table shows that it leaves, so that no later move to it is decided.
    fn is_empty(&self) -> bool {
        let (me, table) = (self.host.me, &self.table);
        let over = |shard, epoch| self.residences.get(&shard).is_some_and(|home| home.is_over(epoch));
        !self.is_inhabited()
            && table.owned_by(me).all(|(shard, entry)| over(shard, entry.epoch))
            && table.moving_to(me).next().is_none()
            && (table.member(me).is_none_or(|member| member.state == State::Draining) || self.is_alone())
    }

    /// Whether there is no other member: the last one leaves without being marked so in the table.
    fn is_alone(&self) -> bool {
        self.table.members().keys().all(|uid| *uid == self.host.me)
    }

    /// Another leaves: it is told once every way that is old now has become new.
    pub(super) fn hear_leaving(&mut self, from: Uid, version: Version, effects: &mut Effects<Effect>) {
        if self.table.version() < version {
            // It asks again.
            return;
        }
        let known = self.leaving.get(&from).is_some_and(|(asked, _)| *asked == version);
        if !known {
            let old = self.ways.iter().filter(|(_, way)| way.is_old()).map(|(shard, _)| *shard).collect();
            self.leaving.insert(from, (version, old));
            self.tell_if_clear(effects);
        }
    }

    /// That way is not old any more.
    pub(super) fn note_opened(&mut self, shard: ShardId, effects: &mut Effects<Effect>) {
        let mut changed = false;
        for (_, old) in self.leaving.values_mut() {
            changed |= old.remove(&shard);
        }
        if changed {
            self.tell_if_clear(effects);
        }
    }

    fn tell_if_clear(&mut self, effects: &mut Effects<Effect>) {
        let mut clear = Vec::new();
        self.leaving.retain(|uid, (version, old)| {
            if old.is_empty() {
                clear.push((*uid, *version));
            }
            !old.is_empty()
        });
        for (to, version) in clear {
            effects.push(Effect::Send { to, word: Word::Clear { version } });
        }
    }

    /// Nothing of that node is under way through here.
    pub(super) fn hear_clear(
        &mut self,
        now: Timestamp,
        from: Uid,
        version: Version,
        effects: &mut Effects<Effect>,
    ) {
        if let Departure::Asking { version: asked, silent, .. } = &mut self.departure
            && *asked == version
        {
            silent.remove(&from);
            self.depart(now, effects);
        }
    }
}
