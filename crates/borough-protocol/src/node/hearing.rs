//! What a node in a cluster hears: to which of its parts each word goes, and whose words count.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::interface::{Effect, End, GaveUp, Message, Peer, QuietReport, Report, Word};
use super::participant::Participant;
use crate::flaws::Flaw;
use crate::gossip;
use crate::incarnation::Uid;
use crate::lease::{Outcome, Renew, Renewed, Standing, Verdict};
use crate::log::{CarrierMessage, Log, raft};
use crate::machine::Effects;
use crate::office::Request;
use crate::table::{Change, Table};
use crate::time::Timestamp;

impl Participant {
    pub(super) fn hear(
        &mut self,
        now: Timestamp,
        from: Uid,
        message: Message,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        match message {
            Message::Word { cluster, word } if cluster == self.tag => {
                self.heard.insert(from, now);
                return self.take(now, from, word, effects);
            }
            // It was known here, and takes part in another founding now.
            Message::Word { .. } => {
                let message = self.question(now);
                effects.push(Effect::Send { to: Peer::Node(from), message });
            }
            Message::Knock(knock) => return self.knocked(now, &knock, effects),
            Message::Hello(greeting) => return self.meet(now, from, &greeting, effects),
            // The answer to a knock, which came when the node was in a cluster already: perhaps in another one.
            Message::Welcome(welcome) if welcome.table.cluster() != self.table.cluster() => {
                let message = self.question(now);
                effects.push(Effect::Send { to: Peer::Node(from), message });
            }
            Message::Welcome(welcome) => self.welcomed(now, from, &welcome, effects),
            Message::Copy if self.is_resuming() => return Some(End::GaveUp(GaveUp::Copy)),
            Message::FromStore(answer) => return self.take_answer(now, from, answer, effects),
            // Gossip gave it up before it was admitted.
            Message::Gone if self.is_guest_by_store() || self.is_resuming() => return self.removed(now),
            Message::Refused(refusal) if self.is_resuming() || self.asked_why == Some(from) => {
                return (!self.may_run(now)).then_some(End::Refused(refusal));
            }
            Message::Promise(vow) => {
                self.note_rememberer(now, &vow.seed, vow.past.memory().map(|memory| &**memory));
            }
            Message::Release { .. }
            | Message::Refused(_)
            | Message::Gone
            | Message::Copy
            | Message::ToStore(_) => {}
        }
        None
    }

    fn take(&mut self, now: Timestamp, from: Uid, word: Word, effects: &mut Effects<Effect>) -> Option<End> {
        if self.is_gone(from) && !self.is_heard_of_the_gone(from, &word) {
            return None;
        }
        match word {
            Word::Gossip(message) => {
                let message = if self.is_known(from) { message } else { without_obituaries(message) };
                self.gossip.handle(now, from, message, &mut self.outbox.gossip);
            }
            Word::Heartbeat(message) => {
                self.heartbeats.handle(now, from, message, &mut self.outbox.heartbeat);
            }
            // What is malformed changed nothing; whoever sends such things is no peer of ours.
            Word::Log(message) if self.is_of_another_table(&message) => {}
            // Nobody knows yet for which voter this life speaks: its log must not be taken for that of another one.
            Word::Log(_) if self.identity.is_durable() && !self.lives.is_known(from) => {}
            // Nothing could be written, and nobody would be answered: what came would only pile up.
            Word::Log(_) if self.durable.disk_failed => {}
            Word::Log(message) => {
                let message = CarrierMessage::Voters(message);
                let from = self.lives.voter(from);
                let _ = self.log.handle(now, from, message, &mut self.outbox.log);
            }
            Word::Renew(renew) => self.renew(now, from, &renew, effects),
            Word::Renewed(renewed) => return self.renewed(now, from, &renewed, effects),
            Word::Feed(feed) => self.follow_feed(now, &feed, effects),
            Word::Quiet(report) => self.quiet_reported(now, from, report),
            Word::Report(report) => self.report(from, report),
            Word::Shards(report) => self.shards_reported(from, report),
            // While a quorum renews its lease the node knows better.
            Word::Gone if self.holder.standing(now) == Standing::Running => {}
            Word::Gone => return self.removed(now),
            Word::LogLost(until) => self.lost_log(from, until, effects),
        }
        None
    }

    /// Whether nothing of that node counts any more.
    pub(super) fn is_gone(&self, uid: Uid) -> bool {
        let gone = self.table.is_removed(uid) || self.gossip.document().is_buried(uid);
        gone && !self.identity.settings.flaws.has(Flaw::RemovedTakenSeriously)
    }

    /// Whether it is a snapshot whose table is not what it says, or of another cluster: the log cannot look into it.
    fn is_of_another_table(&self, message: &raft::Message<Change, Arc<Table>>) -> bool {
        matches!(message, raft::Message::Snapshot(snapshot) if snapshot.state.version() != snapshot.version
            || snapshot.state.cluster() != self.table.cluster())
    }

    fn is_known(&self, uid: Uid) -> bool {
        self.gossip.document().is_member(uid) || self.table.member(uid).is_some()
    }

    /// A removed voter has its voice until no list names it, and a renewal is answered with the bad news.
    fn is_heard_of_the_gone(&self, from: Uid, word: &Word) -> bool {
        match word {
            Word::Log(_) | Word::Renew(_) | Word::Renewed(_) => true,
            Word::Quiet(_) => self.log.voters().names(self.lives.voter(from)),
            Word::Gossip(_)
            | Word::Heartbeat(_)
            | Word::Feed(_)
            | Word::Report(_)
            | Word::Shards(_)
            | Word::LogLost(_)
            | Word::Gone => false,
        }
    }

    fn report(&mut self, from: Uid, report: Report) {
        if let Some((_, office)) = &mut self.office
            && self.table.member(from).is_some()
        {
            office.ask(Request::of(from, report));
            self.stirred = true;
        }
    }

    fn quiet_reported(&mut self, now: Timestamp, from: Uid, report: QuietReport) {
        let voter = self.lives.voter(from);
        if let Some((_, office)) = &mut self.office
            && self.log.voters().names(voter)
        {
            office.report_quiet(now, (voter, from), report);
            self.stirred = true;
        }
    }

    fn renew(&mut self, now: Timestamp, from: Uid, renew: &Renew, effects: &mut Effects<Effect>) {
        let guest = renew.admission.is_none();
        let Some(answer) = self.judge(now, from, renew) else { return };
        self.presence.answers(now, from, renew);
        // Somebody waits to be admitted.
        self.stirred |= guest && self.office.is_some();
        effects.push(self.word(from, Word::Renewed(answer)));
        if renew.feed && renew.version.index < self.table.version().index {
            let feed = self.feeder.feed(renew.version, &self.table);
            self.grants.sent(from, self.table.version());
            effects.push(self.word(from, Word::Feed(feed)));
        }
    }

    pub(super) fn judge(&mut self, now: Timestamp, from: Uid, renew: &Renew) -> Option<Renewed> {
        // What it says must rest on what is on its disk.
        if !self.may_judge() {
            return None;
        }
        // Gossip gave a guest up: it will never be admitted, and must learn it. Of one that says that it was admitted the table alone knows whether it was removed,
        // once it has come as far as the admission.
        if renew.admission.is_none() && self.table.member(from).is_none() && self.is_gone(from) {
            let verdict = Verdict::NotAdmitted;
            return Some(Renewed { seq: renew.seq, coordinator: None, verdict });
        }
        let verdict = self.grants.renew(now, (self.voter(), from), renew, &self.table, &self.log)?;
        Some(Renewed { seq: renew.seq, coordinator: self.coordinator(), verdict })
    }

    pub(super) fn renewed(
        &mut self,
        now: Timestamp,
        from: Uid,
        renewed: &Renewed,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let voter = self.lives.voter(from);
        self.presence.is_answered(from, renewed.seq);
        match self.holder.answered(now, self.identity.settings.timing(), voter, renewed) {
            Outcome::Noted | Outcome::AskAgain => None,
            Outcome::SayAgain => {
                self.renew_again(now, from, effects);
                None
            }
            Outcome::Removed => self.removed(now),
        }
    }
}

/// Who is not known here yet may tell of itself, and buries nobody.
fn without_obituaries(message: gossip::Message) -> gossip::Message {
    match message {
        gossip::Message::Delta(delta) if !delta.tombstones.is_empty() => {
            let delta = gossip::Delta { tombstones: Vec::new(), ..(*delta).clone() };
            gossip::Message::Delta(Arc::new(delta))
        }
        gossip::Message::Delta(_)
        | gossip::Message::Digest { .. }
        | gossip::Message::Pull { .. }
        | gossip::Message::Seen { .. } => message,
    }
}
