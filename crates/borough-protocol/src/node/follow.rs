//! Following the committed table, wherever it comes from: the own log, or a voter that feeds this node.

use alloc::vec::Vec;

use super::feed::Feed;
use super::interface::{Effect, Event};
use super::participant::Participant;
use crate::gossip::Gone;
use crate::incarnation::Uid;
use crate::log::{Committed, Entry, Log};
use crate::machine::Effects;
use crate::table::{Applied, Change, Member, Removal, State, Table};
use crate::time::Timestamp;
use crate::version::Version;

impl Participant {
    /// Takes what the log knows to be committed; says whether there was anything.
    pub(super) fn follow_log(&mut self, now: Timestamp, effects: &mut Effects<Effect>) -> bool {
        let committed = self.log.take_committed();
        let any = !committed.is_empty();
        for committed in committed {
            match committed {
                Committed::Entry(version, entry) => {
                    self.log_version = version;
                    self.apply(now, version, &entry, effects);
                }
                Committed::Snapshot { version, state, .. } => {
                    self.log_version = version;
                    self.mark = None;
                    self.adopt(now, &state, effects);
                }
            }
        }
        self.compact();
        any
    }

    /// Replaces entries by the table as it was half the log ago: who is a little behind still gets entries, not all of the table.
    fn compact(&mut self) {
        let most = self.identity.settings.log_kept;
        if self.log.kept() > most
            && let Some((version, table)) = self.mark.take()
        {
            self.log.compact(version, table);
        }
        if self.mark.is_none() && self.log.kept() > most / 2 && self.log_version == self.table.version() {
            self.mark = Some((self.log_version, self.feeder.whole(&self.table)));
        }
    }

    pub(super) fn follow_feed(&mut self, now: Timestamp, feed: &Feed, effects: &mut Effects<Effect>) {
        match feed {
            Feed::Whole(table) if table.cluster() == self.table.cluster() => self.adopt(now, table, effects),
            Feed::Whole(_) => {}
            Feed::Entries(entries) => {
                for (version, entry) in entries.iter() {
                    // Whatever a peer sends, no hole is made: what is missing comes with a later renewal.
                    if version.index > self.table.version().index.saturating_add(1) {
                        return;
                    }
                    self.apply(now, *version, entry, effects);
                }
            }
        }
    }

    fn apply(
        &mut self,
        now: Timestamp,
        version: Version,
        entry: &Entry<Change>,
        effects: &mut Effects<Effect>,
    ) {
        if version.index <= self.table.version().index {
            return;
        }
        if let Entry::Payload(Change::Remove(uid, why)) = entry {
            let member = self.table.member(*uid).cloned();
            self.note_removal(now, version, member.as_ref(), *why);
        }
        let applied = self.table.apply(version, entry);
        if self.is_resuming() {
            self.begin_history(now);
        }
        self.feeder.keep(version, entry.clone(), self.identity.settings.log_kept);
        self.stirred = true;
        effects.push(Effect::Publish(Event::Table(version)));
        match applied {
            Applied::Nothing | Applied::Shards => {}
            Applied::Admitted(uid) => {
                self.grants.admit(now, uid);
                self.admitted(now, uid, effects);
            }
            Applied::Draining(uid) => {
                self.gossip.mark_leaving(now, version.index, uid);
            }
            Applied::Removed(uid, why) => self.bury(now, version, uid, why, effects),
            Applied::Freed(uid) => effects.push(Effect::Publish(Event::Freed(uid))),
            Applied::Voters => {
                self.holder.follow(now, self.table.voters());
                self.voter_history.note(now, &self.table);
            }
            Applied::Closing => self.begin_closing(now, effects),
        }
    }

    /// Takes a whole table that is newer than its own.
    pub(super) fn adopt(&mut self, now: Timestamp, table: &Table, effects: &mut Effects<Effect>) {
        if table.version().index <= self.table.version().index {
            return;
        }
        let flaws = self.identity.settings.flaws;
        let before = core::mem::replace(&mut self.table, table.clone().with_flaws(flaws));
        self.stirred = true;
        self.holder.follow(now, self.table.voters());
        // Of the same list: none was passed over.
        if before.voters().id != self.table.voters().id || self.is_resuming() {
            self.begin_history(now);
        }
        let news: Vec<Uid> = table
            .members()
            .iter()
            .filter(|(uid, member)| before.member(**uid) != Some(*member))
            .map(|(uid, _)| *uid)
            .collect();
        for uid in news {
            if before.member(uid).is_none() {
                self.grants.admit(now, uid);
            }
            self.admitted(now, uid, effects);
            if let Some(member) = table.member(uid).filter(|member| member.state == State::Draining) {
                self.gossip.mark_leaving(now, member.changed.index, uid);
            }
        }
        for (uid, removed) in table.removed().iter().filter(|(uid, _)| !before.is_removed(**uid)) {
            self.note_removal(now, removed.version, before.member(*uid), removed.why);
            self.bury(now, removed.version, *uid, removed.why, effects);
        }
        self.bury_the_forgotten(now, effects);
        for (uid, removed) in table.removed() {
            if removed.freed && !before.removed().get(uid).is_some_and(|entry| entry.freed) {
                effects.push(Effect::Publish(Event::Freed(*uid)));
            }
        }
        effects.push(Effect::Publish(Event::Table(table.version())));
        if table.is_closing() && !before.is_closing() {
            self.begin_closing(now, effects);
        }
    }

    /// A later life of that member will have to prove itself, if this node was a member or in office when it went for bad links. Guests, and voters that start again,
    /// read of earlier times.
    fn note_removal(&mut self, now: Timestamp, version: Version, member: Option<&Member>, why: Removal) {
        let has_seen = self.office.is_some() || self.was_member_before(version);
        if let Some(member) = member.filter(|_| why == Removal::CutOff && has_seen) {
            self.probation.removed(now, &member.incarnation);
        }
    }

    /// There may have been voters' lists that this node does not know: it took a whole table, or it starts again and reads in its log what was some time ago.
    fn begin_history(&mut self, now: Timestamp) {
        self.voter_history.begin(now, &self.table, self.identity.is_durable());
    }

    /// Who was a member once and is neither that nor remembered as removed was removed long ago.
    fn bury_the_forgotten(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let (table, version) = (&self.table, self.table.version());
        let forgotten = |uid: &Uid| table.member(*uid).is_none() && !table.is_removed(*uid);
        let members = self.gossip.document().members();
        let known = members.filter(|member| member.is_admitted() && member.admission.index <= version.index);
        let gone: Vec<Uid> = known.map(|member| member.uid()).filter(forgotten).collect();
        for uid in gone {
            self.bury(now, version, uid, Removal::Quiet, effects);
        }
    }

    fn admitted(&mut self, now: Timestamp, uid: Uid, effects: &mut Effects<Effect>) {
        let Some(member) = self.table.member(uid) else { return };
        let (admission, incarnation, facts) =
            (member.admission, member.incarnation.clone(), member.facts.clone());
        self.gossip.admit(now, admission.index, incarnation, facts, admission);
        if uid == self.uid() && self.holder.admission().is_none() {
            self.holder.admit(now, admission);
            self.suspended_since = now;
            effects.push(Effect::Publish(Event::Admitted(admission)));
        }
    }

    fn was_member_before(&self, version: Version) -> bool {
        self.holder.admission().is_some_and(|admission| admission < version)
    }

    fn bury(
        &mut self,
        now: Timestamp,
        version: Version,
        uid: Uid,
        why: Removal,
        effects: &mut Effects<Effect>,
    ) {
        let how = match why {
            Removal::Goodbye => Gone::Left,
            Removal::Replaced => Gone::Replaced,
            Removal::Quiet | Removal::Operator | Removal::CutOff => Gone::Down,
        };
        if why == Removal::Goodbye {
            self.times.goodbye = now;
        }
        self.grants.forget(uid);
        self.gossip.bury_by_table(now, version.index, uid, how);
        effects.push(Effect::Publish(Event::Removed(uid, why)));
        if uid != self.uid() {
            self.to_close.insert(uid);
        }
        // Its peers are those that were members beside it. A guest, and a voter that starts again, reads of others that were gone before it came.
        if self.was_member_before(version) {
            self.departure.noticed_removal(self.identity.settings.strategy, why);
        }
    }
}
