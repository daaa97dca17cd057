//! Those outside: one who knocks is welcomed, refused, told that it is gone, or told that this node waits for a quorum itself; and seeds that are not
//! heard are greeted.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::interface::{Effect, End, GaveUp, Message, Peer};
use super::participant::Participant;
use crate::flaws::Flaw;
use crate::formation::{Knock, LogEnd, Memory, Past, Vow, Welcome};
use crate::incarnation::{Address, Uid};
use crate::lease::Standing;
use crate::log::Log;
use crate::machine::Effects;
use crate::settings::{Refusal, check};
use crate::time::Timestamp;
use crate::voters::{VoterId, Voters};

/// A suspended node greets at most so many members besides the seeds and the voters, and the founder of a successor at most so many addresses of its predecessor.
const GREETED_MAX: usize = 32;

impl Participant {
    pub(super) fn knocked(
        &mut self,
        now: Timestamp,
        knock: &Knock,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let to = Peer::Node(knock.me.uid);
        if let Err(refusal) = check(self.identity.settings.cluster_settings(), &knock.settings) {
            // Only a cluster that works can say which settings are right.
            if self.is_alive(now) {
                // It is read there, where "here" is the other node.
                effects.push(Effect::Send { to, message: Message::Refused(refusal.turned()) });
            } else {
                self.differs(now, knock, refusal, effects);
            }
            return None;
        }
        self.durable.differing.remove(&knock.me.address);
        if self.table.is_closing() {
            return None;
        }
        if self.lives.is_copy(knock.me.uid, &knock.facts) {
            effects.push(Effect::Send { to, message: Message::Copy });
            return None;
        }
        if !self.is_alive(now) {
            self.note_rememberer(now, &knock.me.address, knock.memory.as_deref());
            if self.welcome_voter(now, knock, effects) {
                return None;
            }
            return self.asked_while_suspended(now, knock, effects);
        }
        self.welcome(now, knock, effects);
        None
    }

    /// A node with other settings asks while this one waits for a quorum. Both are to say what differs: one that has only started again asks by itself.
    fn differs(&mut self, now: Timestamp, knock: &Knock, refusal: Refusal, effects: &mut Effects<Effect>) {
        if !self.memory().addresses().any(|voter| *voter == knock.me.address) {
            return;
        }
        let before = self.durable.differing.insert(knock.me.address.clone(), (now, refusal));
        // What comes that soon after another knock may be the answer to one from here.
        let is_answer =
            before.is_some_and(|(at, _)| now.since(at) < self.identity.settings.seed_ask_interval / 2);
        if !self.is_resuming() && !is_answer {
            let message = Message::Knock(Arc::new(Knock::of_guest(&self.identity)));
            effects.push(Effect::Send { to: Peer::Node(knock.me.uid), message });
        }
    }

    /// Tells a node that may take part what it needs, or that its life is over here.
    pub(super) fn welcome(&mut self, now: Timestamp, knock: &Knock, effects: &mut Effects<Effect>) {
        let message = if self.is_gone(knock.me.uid) {
            Message::Gone
        } else {
            if !knock.rests && !self.waits_for_another(knock) {
                self.gossip.add_joining(now, knock.me.clone(), knock.facts.clone());
                self.lives.learn(&knock.me, &knock.facts);
            }
            let gossip = Arc::new(self.gossip.document().everything(now, false));
            let table = self.feeder.whole(&self.table);
            Message::Welcome(Arc::new(Welcome { table, gossip }))
        };
        effects.push(Effect::Send { to: Peer::Node(knock.me.uid), message });
    }

    /// Whether the one who knocks belongs to another durable cluster, which this one does not succeed. It does not come yet, if it ever does: the present life at its
    /// address or of its directory is not to go for it.
    fn waits_for_another(&self, knock: &Knock) -> bool {
        knock.memory.as_ref().is_some_and(|memory| {
            let is_ours =
                memory.cluster == self.table.cluster() || self.table.ancestors().has(memory.cluster);
            memory.durable && !is_ours && !knock.ended.contains(&memory.cluster)
        })
    }

    /// It welcomes nobody: guests of a dead cluster would go on welcoming each other without end. It says which cluster it remembers, and gives up
    /// if it is shown that this cluster can never go on.
    fn asked_while_suspended(
        &mut self,
        now: Timestamp,
        knock: &Knock,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let memory = self.memory();
        let is_over =
            knock.over.iter().any(|over| over.cluster == memory.cluster && over.voters >= memory.voters.id)
                || knock.ended.contains(&memory.cluster) && self.has_been_cut_off(now);
        if is_over && self.holder.standing(now) != Standing::Running {
            return Some(End::GaveUp(GaveUp::Over));
        }
        let vow = Vow {
            seed: self.identity.me.address.clone(),
            attempt: knock.attempt.unwrap_or(0),
            granted: false,
            withdrawn: false,
            holder: self.identity.me.address.clone(),
            past: Past::Suspended(Arc::new(memory), self.log_end().map(Arc::new)),
            voter: self.voter(),
            pledged: [].into(),
            heard_of: [].into(),
        };
        effects.push(Effect::Send { to: Peer::Node(knock.me.uid), message: Message::Promise(vow) });
        None
    }

    /// How its log ends; none if the log or the one that votes outlives the node.
    fn log_end(&self) -> Option<LogEnd> {
        let last = self.log.last_if_volatile()?;
        let voters = self.log.voters().clone();
        Some(LogEnd { last, places: self.places_of(&voters), voters })
    }

    /// What there is to remember of the cluster.
    pub(super) fn memory(&self) -> Memory {
        let lists = [self.table.voters(), self.log.voters(), self.holder.voters()];
        let voters = lists.into_iter().max_by_key(|voters| voters.id).cloned().unwrap_or_default();
        Memory {
            cluster: self.table.cluster(),
            ancestors: self.table.ancestors().clone(),
            places: self.places_of(&voters),
            voters,
            durable: self.identity.is_durable(),
        }
    }

    fn places_of(&self, voters: &Voters) -> Arc<[(VoterId, Address)]> {
        let place = |voter| Some((voter, self.address_of_voter(voter)?.clone()));
        voters.all().filter_map(place).collect()
    }

    /// Where a node of the cluster listens.
    pub(super) fn address_of(&self, uid: Uid) -> Option<&Address> {
        let gossip = self.gossip.document().address_of(uid);
        gossip.or_else(|| self.table.member(uid).map(|member| &member.incarnation.address))
    }

    /// Where a voter listens, or listened last.
    fn address_of_voter(&self, voter: VoterId) -> Option<&Address> {
        let by_life = self.lives.uid(voter).and_then(|uid| self.address_of(uid));
        let recorded = || self.durable.places.iter().find(|(recorded, _)| *recorded == voter);
        by_life.or_else(|| self.lives.address(voter)).or_else(|| recorded().map(|(_, address)| address))
    }

    /// Whether the cluster lives, as far as this node can tell.
    pub(super) fn is_alive(&self, now: Timestamp) -> bool {
        match self.holder.standing(now) {
            Standing::Running => true,
            Standing::Suspended => false,
            // One that has just started again does not know whether anybody else is there, and perhaps not even who voted.
            Standing::Guest if self.durable.resumed.is_some_and(|at| self.holder.heard() <= at) => false,
            Standing::Guest if self.table.voters().now.is_empty() => false,
            // Nothing of this founding is on its disk yet: after a crash nobody would know of it, and its guests would wait for it.
            Standing::Guest
                if self.identity.is_durable()
                    && self.table.members().is_empty()
                    && !self.identity.settings.flaws.has(Flaw::FoundingNotWritten) =>
            {
                false
            }
            Standing::Guest => now.since(self.holder.heard()) < self.identity.settings.timing().suspect_after,
        }
    }

    /// Greets every seed whose present life it does not hear: one that restarted is to learn that there is a cluster before it founds another.
    pub(super) fn say_hello(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if now < self.times.hello {
            return;
        }
        self.grants.prune(now, self.identity.settings.timing(), &self.table);
        let suspect_after = self.identity.settings.timing().suspect_after;
        self.heard.retain(|_, at| now.since(*at) < suspect_after);
        self.presence.prune(now, suspect_after);
        self.rememberers.retain(|_, at| now.since(*at) < suspect_after);
        self.durable.differing.retain(|_, (at, _)| now.since(*at) < suspect_after);
        self.times.hello = now + self.identity.settings.seed_ask_interval;
        if self.is_guest_by_store() {
            return self.knock(effects);
        }
        if self.is_resuming() {
            self.knock_to_resume(now, effects);
        }
        let greeted: Vec<Address> = self.to_greet(now).into_iter().cloned().collect();
        if greeted.is_empty() {
            return;
        }
        let message = self.question(now);
        for address in greeted {
            effects.push(Effect::Send { to: Peer::Address(address), message: message.clone() });
        }
    }

    pub(super) fn to_greet(&self, now: Timestamp) -> BTreeSet<&Address> {
        let mut greeted: BTreeSet<&Address> = self.identity.seeds.iter().collect();
        if self.table.members().is_empty() {
            // A recovered cluster yields to its predecessor if that works after all: it must be found before this one acts.
            greeted.extend(self.identity.known.iter());
        } else if self.succeeds_another() {
            // Nodes that lost the predecessor may never have heard of this cluster. If nobody greets them, they found a third one.
            greeted.extend(self.identity.known.iter().take(GREETED_MAX));
        }
        if self.holder.standing(now) != Standing::Running {
            greeted.extend(self.holder.voters().all().filter_map(|voter| self.address_of_voter(voter)));
            let members = self.table.members().values().take(GREETED_MAX);
            greeted.extend(members.map(|member| &member.incarnation.address));
        }
        greeted.retain(|address| **address != self.identity.me.address && !self.is_there(now, address));
        greeted
    }

    /// Whether this node founded its cluster in place of an earlier one.
    fn succeeds_another(&self) -> bool {
        self.table.cluster().founder == self.uid() && self.table.ancestors().iter().next().is_some()
    }

    /// Whether a life that listens there is there now, as far as this node can tell. Voters and members renew leases and answer: a late word of a life that has ended
    /// deceives nobody. Of two others gossip tells, if both are members of a cluster that works: that a guest is gone it may say seconds later.
    fn is_there(&self, now: Timestamp, address: &Address) -> bool {
        if self.identity.settings.flaws.has(Flaw::RestartedSeedNotGreeted) {
            return self.lives_at(address).next().is_some();
        }
        let suspect_after = self.identity.settings.timing().suspect_after;
        self.lives_at(address).any(|uid| {
            if self.renews_with(uid) {
                self.presence.is_there(now, uid, suspect_after)
            } else {
                self.heard.contains_key(&uid) || self.is_told_of(now, uid)
            }
        })
    }

    /// Whether anything came lately from a life that listens there, or gossip tells that it is there.
    pub(super) fn is_heard(&self, now: Timestamp, address: &Address) -> bool {
        self.lives_at(address)
            .any(|uid| self.heard.contains_key(&uid) || !self.renews_with(uid) && self.is_told_of(now, uid))
    }

    fn lives_at(&self, address: &Address) -> impl Iterator<Item = Uid> {
        let members = self.gossip.document().members();
        members.filter(move |member| member.incarnation.address == *address).map(|member| member.uid())
    }

    /// Whether one of the two renews its lease with the other.
    fn renews_with(&self, uid: Uid) -> bool {
        self.votes() || self.holder.voters().names(self.lives.voter(uid))
    }

    /// Whether gossip would tell if that member were gone.
    fn is_told_of(&self, now: Timestamp, uid: Uid) -> bool {
        let is_member = self.table.member(uid).is_some();
        is_member
            && self.holder.standing(now) == Standing::Running
            && !self.gossip.document().is_unreachable(uid)
    }
}
