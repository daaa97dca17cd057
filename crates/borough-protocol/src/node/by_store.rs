//! A node whose one voter is a shared store: what it hears from there, and what it says to those it knows from there.

use alloc::sync::Arc;

use super::Identity;
use super::interface::{Effect, End, GaveUp, Message, Peer, QuietReport};
use super::participant::Participant;
use crate::formation::Knock;
use crate::incarnation::Uid;
use crate::lease::Grants;
use crate::log::register::{self, RegisterLog, RegisterTiming};
use crate::log::{Carrier, CarrierMessage, Log};
use crate::machine::Effects;
use crate::random::Random;
use crate::store::Answer;
use crate::table::{Cluster, Table};
use crate::time::Timestamp;
use crate::voters::VoterId;

/// Behind so many older members nobody waits longer: the store lets one win, however many stand.
const RANK_MAX: usize = 5;

impl Participant {
    /// It found its cluster in the store, or founded it there; the table comes with the first answer.
    pub(super) fn by_store(
        now: Timestamp,
        identity: Identity,
        cluster: Cluster,
        waits: bool,
        random: &mut Random,
    ) -> Self {
        let timing = identity.settings.timing();
        let acts_from = if waits { now + timing.wait } else { now };
        let timing = RegisterTiming {
            follow_every: timing.renew,
            round_trip: identity.settings.round_trip,
            suspect_after: timing.suspect_after,
        };
        let log = Carrier::Store(RegisterLog::new(identity.me.uid, timing, now).into());
        Self::new(now, identity, Table::new(cluster), log, acts_from, random)
    }

    /// The store answers.
    pub(super) fn take_answer(
        &mut self,
        now: Timestamp,
        from: Uid,
        answer: Answer,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        if from != Uid::STORE {
            return None;
        }
        match answer {
            Answer::Log(answer) => {
                let message = CarrierMessage::Store(register::Message::Answer(answer));
                // What is malformed changed nothing; the store is asked again.
                let _ = self.log.handle(now, VoterId::STORE, message, &mut self.outbox.log);
                self.see_renewals(now);
                None
            }
            Answer::Renewed(renewed) => self.renewed(now, from, &renewed, effects),
            Answer::Holds { cluster, .. } if cluster != self.table.cluster() => {
                Some(End::GaveUp(GaveUp::Overtaken(cluster)))
            }
            Answer::Holds { .. } | Answer::Empty => None,
        }
    }

    /// Whom the store has heard, and whom it has not: its word is that of the one voter.
    fn see_renewals(&mut self, now: Timestamp) {
        let Some(sighting) = self.log.store_mut().and_then(RegisterLog::take_sighting) else { return };
        self.grants.forgive(sighting.late);
        for uid in sighting.renewed {
            self.grants.hear(now, uid);
        }
        let me = self.uid();
        if let Some((_, office)) = &mut self.office {
            let timing = self.identity.settings.timing();
            let look = self.grants.look(sighting.asked, timing, me, &self.table);
            self.stirred |= !look.quiet.is_empty();
            self.reports_sent += 1;
            let report = QuietReport { seq: self.reports_sent, quiet: Arc::from(look.quiet) };
            office.report_quiet(now, (VoterId::STORE, Uid::STORE), report);
        }
    }

    /// New in office: only of its predecessor it knows since when it has been silent.
    pub(super) fn begin_to_watch(&mut self) {
        let Some(log) = self.log.store() else { return };
        self.grants = Grants::new(self.identity.settings.flaws);
        if let Some((uid, at)) = log.predecessor() {
            self.grants.hear(at, uid);
        }
    }

    /// How many stand before this one: the older members that gossip sees; before a guest, all of them.
    pub(super) fn rank_by_store(&self) -> u32 {
        let (me, document) = (self.uid(), self.gossip.document());
        let members = self.table.members();
        let rank = if let Some(mine) = members.get(&me) {
            let older = members.iter().filter(|(_, other)| other.admission < mine.admission);
            older.filter(|(uid, _)| !document.is_unreachable(**uid)).take(RANK_MAX).count()
        } else {
            let before = document.joining().filter(|guest| guest.incarnation.uid < me);
            RANK_MAX + 1 + before.take(RANK_MAX).count()
        };
        u32::try_from(rank).unwrap_or(u32::MAX)
    }

    /// Whether it waits to be admitted. The store cannot tell it that gossip gave it up: who is knocked on does.
    pub(super) fn is_guest_by_store(&self) -> bool {
        self.log.store().is_some() && self.holder.admission().is_none()
    }

    /// A guest lets the coordinator know of it, and its seeds: as long as there is no member, the store names nobody.
    pub(super) fn knock(&self, effects: &mut Effects<Effect>) {
        let identity = &self.identity;
        let knock = Arc::new(Knock::of_guest(identity));
        let coordinator = self.coordinator().and_then(|uid| self.table.member(uid));
        let coordinator = coordinator.map(|member| &member.incarnation.address);
        for door in identity.seeds.iter().chain(coordinator).filter(|door| **door != identity.me.address) {
            let message = Message::Knock(knock.clone());
            effects.push(Effect::Send { to: Peer::Address(door.clone()), message });
        }
    }
}
