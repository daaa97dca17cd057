//! What follows from every input: decisions are followed, the coordinator acts, words go out, and the end is noticed.

use alloc::vec::Vec;
use core::time::Duration;

use super::departure::Departure;
use super::interface::{Effect, End, Event, Message, Peer, Word};
use super::participant::Participant;
use super::to_store;
use crate::flaws::Flaw;
use crate::gossip::Gone;
use crate::heartbeat::Opinion;
use crate::incarnation::Uid;
use crate::lease::Standing;
use crate::log::{CarrierMessage, Log, register};
use crate::machine::Effects;
use crate::office::{Office, Scene};
use crate::settings::Strategy;
use crate::store::Ask;
use crate::time::Timestamp;
use crate::voters::VoterId;

impl Participant {
    /// Everything that is due.
    pub(super) fn on_deadline(&mut self, now: Timestamp, effects: &mut Effects<Effect>) -> Option<End> {
        if !matches!(self.departure, Departure::Lingering { .. }) {
            self.gossip.on_round(now, &mut self.outbox.gossip);
            self.heartbeats.on_deadline(now, &mut self.outbox.heartbeat);
            self.say_hello(now, effects);
        }
        self.log.on_deadline(now, &mut self.outbox.log);
        self.stand_if_due(now);
        self.look_for_quiet(now, effects);
        self.report_if_due(now, effects);
        None
    }

    /// Lets everything follow from what has just happened.
    pub(super) fn settle(&mut self, now: Timestamp, effects: &mut Effects<Effect>) -> Option<End> {
        let before = self.table.version();
        self.opinions(now);
        self.guests.look(now, &self.table, self.gossip.document());
        self.probation.look(now, self.gossip.document(), self.identity.settings.tombstone_life);
        let mut end = None;
        // Alone, a proposal is committed at once, and what follows from it too: each round commits something.
        while end.is_none() {
            let news = self.follow_log(now, effects);
            self.compare_log();
            self.take_or_leave_office(now);
            self.report_shards(now, effects);
            end = self.renew_lease(now, effects);
            let acted = self.act(now, effects);
            if !news && !acted {
                break;
            }
        }
        if self.gossip.take_changes() {
            self.learn_lives();
            self.heartbeats.set_members(now, self.gossip.document().uids());
            effects.push(Effect::Publish(Event::Topology));
            self.times.office = self.times.office.min(now + self.identity.settings.round_trip);
        }
        if self.table.version() != before {
            self.feed_others(effects);
        }
        self.tell_of_lost_logs(now, effects);
        self.tell_to_drain(effects);
        self.publish_standing(now, effects);
        self.close_links(effects);
        self.speak(effects);
        end.or_else(|| self.departed(now))
    }

    fn opinions(&mut self, now: Timestamp) {
        for (subject, opinion) in self.heartbeats.take_changes() {
            let unreachable = opinion == Opinion::Unreachable;
            self.gossip.set_unreachable(now, subject, unreachable);
            // A guest has no peers yet, and the table may name lives that were gone before it came.
            let lost = unreachable && self.state().is_some() && self.table.member(subject).is_some();
            let staying = matches!(self.departure, Departure::Staying | Departure::Leaving { .. });
            if lost && staying && self.identity.settings.strategy == Strategy::DownAll {
                self.departure = Departure::Alone;
            }
        }
    }

    fn take_or_leave_office(&mut self, now: Timestamp) {
        let votes = self.votes();
        if self.term != self.log.term() {
            self.term = self.log.term();
            self.times.led = now;
        }
        if self.log.coordinator().is_some() {
            self.times.drawn = Duration::ZERO;
        }
        if votes && !self.was_voter {
            self.times.led = now;
            self.times.quiet = now;
            self.grants.forgive_all(now);
        }
        self.was_voter = votes;
        let may_act = if self.identity.settings.flaws.has(Flaw::ActsBeforeFirstCommit) {
            self.log.in_office()
        } else {
            self.log.may_act()
        };
        if !may_act {
            self.office = None;
        } else if self.office.as_ref().is_none_or(|(term, _)| *term != self.log.term()) {
            self.office = Some((self.log.term(), Office::new(now, self.acts_from)));
            self.begin_to_watch();
            self.stirred = true;
        }
    }

    /// Asks the voters for the lease, if it is time; this node's own voice needs no network.
    fn renew_lease(&mut self, now: Timestamp, effects: &mut Effects<Effect>) -> Option<End> {
        if now < self.holder.next_deadline() || matches!(self.departure, Departure::Lingering { .. }) {
            return None;
        }
        let (me, uid) = (self.voter(), self.uid());
        let mut renewals = core::mem::take(&mut self.outbox.renew);
        let has_log = self.has_log(now);
        let timing = self.identity.settings.timing();
        self.holder.on_deadline(now, timing, self.table.version(), has_log, &mut renewals);
        if let Some((_, renew)) = renewals.first() {
            self.presence.asks(now, renew.seq);
        }
        let mut end = None;
        for (voter, renew) in renewals.drain(..) {
            if voter == VoterId::STORE {
                effects.push(to_store(Ask::Renew { cluster: self.table.cluster(), renew }));
            } else if voter == me {
                if let Some(answer) = self.judge(now, uid, &renew) {
                    end = self.renewed(now, uid, &answer, effects);
                }
            } else if let Some(life) = self.lives.uid(voter) {
                effects.push(self.word(life, Word::Renew(renew)));
            }
        }
        self.outbox.renew = renewals;
        end
    }

    /// Whether its table comes from its own log, so that nobody need feed it.
    fn has_log(&self, now: Timestamp) -> bool {
        let heard = self.log.coordinator().map_or(Timestamp::ZERO, |(_, at)| at);
        let suspect_after = self.identity.settings.timing().suspect_after;
        self.holder.voters().names(self.voter()) && now.since(heard) < suspect_after
    }

    /// A voter that has not heard this node is sent its newest renewal again, unless the node asks for no lease any more.
    pub(super) fn renew_again(&self, now: Timestamp, voter: Uid, effects: &mut Effects<Effect>) {
        if !matches!(self.departure, Departure::Lingering { .. }) {
            let renew = self.holder.newest(self.lives.voter(voter), self.table.version(), self.has_log(now));
            effects.push(self.word(voter, Word::Renew(renew)));
        }
    }

    /// The coordinator does what is to be done; says whether it did anything.
    fn act(&mut self, now: Timestamp, effects: &mut Effects<Effect>) -> bool {
        let me = self.uid();
        let Some((_, office)) = &mut self.office else {
            self.stirred = false;
            return false;
        };
        if !self.stirred && now < self.times.office {
            return false;
        }
        self.stirred = false;
        let scene = Scene {
            me,
            settings: &self.identity.settings,
            table: &self.table,
            document: self.gossip.document(),
            grants: &self.grants,
            quiet: &self.quiet,
            guests: &self.guests,
            probation: &self.probation,
            lives: &self.lives,
            voter_history: &self.voter_history,
            strategies: &self.shards.strategies,
        };
        let before = self.log.last_index();
        let next = office.act(now, &scene, &mut self.log, &mut self.outbox.log);
        let vanished = office.vanished(now, &scene);
        self.times.office = next;
        for (member, guest) in office.rivals(now, &scene) {
            effects.push(Effect::Publish(Event::AddressTaken(member, guest)));
        }
        for uid in vanished {
            self.gossip.bury(now, uid, Gone::Vanished);
        }
        self.log.last_index() != before
    }

    fn feed_others(&mut self, effects: &mut Effects<Effect>) {
        let version = self.table.version();
        let behind: Vec<(Uid, crate::version::Version)> =
            self.grants.fed().filter(|(_, known)| known.index < version.index).collect();
        for (uid, known) in behind {
            let feed = self.feeder.feed(known, &self.table);
            self.grants.sent(uid, version);
            effects.push(self.word(uid, Word::Feed(feed)));
        }
    }

    fn publish_standing(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let standing = self.holder.standing(now);
        if standing == self.published {
            return;
        }
        match standing {
            Standing::Running => {
                self.guests.begin_again();
                if self.published == Standing::Suspended {
                    self.probation.forgive(now.since(self.suspended_since));
                }
                effects.push(Effect::Publish(Event::Resumed));
            }
            Standing::Suspended => {
                self.suspended_since = now;
                effects.push(Effect::Publish(Event::Suspended));
            }
            Standing::Guest => {}
        }
        self.published = standing;
    }

    /// Links of the removed are closed, once the log does without them. Who does not vote by the table has no log to care for,
    /// and its own list of voters may be old.
    fn close_links(&mut self, effects: &mut Effects<Effect>) {
        if self.to_close.is_empty() {
            return;
        }
        let has_a_vote = self.table.voters().names(self.voter());
        let voters = self.log.voters();
        self.to_close.retain(|uid| {
            let needed = has_a_vote && voters.names(self.lives.voter(*uid));
            if !needed {
                effects.push(Effect::Close(*uid));
            }
            needed
        });
    }

    fn speak(&mut self, effects: &mut Effects<Effect>) {
        let (cluster, pending) = (self.tag, &mut self.outbox);
        for (to, message) in pending.log.drain(..) {
            let message = match message {
                CarrierMessage::Voters(message) => Message::Word { cluster, word: Word::Log(message) },
                CarrierMessage::Store(register::Message::Ask(ask)) => {
                    Message::ToStore(Ask::Log { cluster: self.table.cluster(), ask })
                }
                CarrierMessage::Store(register::Message::Answer(_)) => continue,
            };
            if let Some(to) = self.lives.uid(to) {
                effects.push(Effect::Send { to: Peer::Node(to), message });
            }
        }
        let gossip = pending.gossip.drain(..).map(|(to, message)| (to, Word::Gossip(message)));
        let heartbeat = pending.heartbeat.drain(..).map(|(to, message)| (to, Word::Heartbeat(message)));
        for (to, word) in gossip.chain(heartbeat) {
            effects.push(Effect::Send { to: Peer::Node(to), message: Message::Word { cluster, word } });
        }
    }

    /// When something is due next.
    pub(super) fn next_deadline(&self, now: Timestamp) -> Timestamp {
        let mut next = self.log.next_deadline().min(self.stands_at(now)).min(self.times.report);
        next = next.min(self.shards.next_deadline());
        if self.votes() {
            next = next.min(self.times.quiet);
        }
        if self.office.is_some() {
            next = next.min(self.times.office);
        }
        match self.departure {
            Departure::Lingering { until, .. } => return next.min(until),
            Departure::Closing { until } => next = next.min(until),
            Departure::Alone => return now,
            Departure::Drained { .. } if self.is_last() => next = next.min(self.goodbyes_known_at()),
            Departure::Staying | Departure::Leaving { .. } | Departure::Drained { .. } => {
                next = next.min(self.gives_up_at(now));
            }
        }
        if self.published == Standing::Running {
            next = next.min(self.holder.lease_end());
        }
        next.min(self.gossip.next_deadline())
            .min(self.heartbeats.next_deadline())
            .min(self.holder.next_deadline())
            .min(self.times.hello)
    }
}
