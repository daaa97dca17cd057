//! Two foundings of one name meet: which of them yields.
//!
//! The promise: a cluster that works yields only to an older one that works too, and nodes that merely lost sight of their quorum keep what they
//! have. Nothing is decided by a word that may be old: a greeting counts if it answers a nonce of this life, at most [`FRESH_FOR`] old.
//!
//! ```text
//!   question { nonce n }          answer { nonce m, answers n }          last { answers m }
//! one -----------------> other ---------------------------------> one ----------------------> other
//! ```

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::time::Duration;

use super::interface::{Effect, End, GaveUp, Greeting, Life, Message, Peer, Word};
use super::participant::Participant;
use crate::flaws::{Flaw, Flaws};
use crate::formation::{Knock, Seeking};
use crate::incarnation::Uid;
use crate::lease::Standing;
use crate::machine::Effects;
use crate::random::Random;
use crate::table::{Ancestors, Table};
use crate::time::Timestamp;

/// How old the question may be that a greeting answers.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// A new nonce is drawn at most that often.
const NONCE_EVERY: Duration = Duration::from_millis(100);

/// A suspended node of the older founding yields to a younger one only after so long without its quorum.
pub(super) const YIELDS_AFTER: Duration = Duration::from_secs(60);

/// The questions that this life has asked lately.
#[derive(Debug, Default)]
pub(super) struct Nonces {
    asked: VecDeque<(Timestamp, u64)>,
}

impl Nonces {
    /// The nonce of a question that is asked now.
    fn draw(&mut self, now: Timestamp, random: &mut Random) -> u64 {
        while self.asked.front().is_some_and(|(at, _)| now.since(*at) > FRESH_FOR) {
            self.asked.pop_front();
        }
        match self.asked.back() {
            Some((at, nonce)) if now.since(*at) < NONCE_EVERY => *nonce,
            _ => {
                let nonce = random.next_u64();
                self.asked.push_back((now, nonce));
                nonce
            }
        }
    }

    fn is_fresh(&self, now: Timestamp, nonce: u64) -> bool {
        self.asked.iter().any(|(at, asked)| *asked == nonce && now.since(*at) <= FRESH_FOR)
    }
}

/// For how long a node has had no quorum, at least, and for how long a lease of its cluster may last.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutOff {
    pub(super) since: Duration,
    pub(super) wait: Duration,
}

/// Whether a node that greets so yields to one that greets so.
pub(super) fn yields(ours: &Greeting, theirs: &Greeting, cut_off: CutOff, flaws: Flaws) -> bool {
    let is_older = theirs.cluster < ours.cluster;
    if flaws.has(Flaw::LaterFoundingWins) {
        return !is_older && theirs.life == Life::Working;
    }
    match (ours.life, theirs.life) {
        (_, Life::Suspended) | (Life::Suspended | Life::Working, Life::Forming) => false,
        (Life::Forming, Life::Forming) => is_older,
        (Life::Forming, Life::Working) => !flaws.has(Flaw::RecoveredBeatsLiving),
        (Life::Working, Life::Working) if theirs.ancestors.has(ours.cluster) => {
            flaws.has(Flaw::RecoveredBeatsLiving)
        }
        // Its own predecessor lives: the order to recover was a mistake, whatever the eras say.
        (Life::Working, Life::Working) => is_older || ours.ancestors.has(theirs.cluster),
        (Life::Suspended, Life::Working) => {
            is_older
                // Other voters may have a quorum of it by this one's vote for so long: then the order to recover was a mistake.
                || theirs.ancestors.has(ours.cluster) && cut_off.since >= cut_off.wait
                || cut_off.since >= YIELDS_AFTER
                || flaws.has(Flaw::YieldsAfterAMomentsSilence)
        }
    }
}

/// Whether a node that looks for the cluster of its record joins another one that welcomes it, by the rule for suspended nodes: the cluster of its record
/// may have yielded to that one.
pub(super) fn yields_while_seeking(now: Timestamp, seeking: &Seeking, table: &Table) -> bool {
    let Some(memory) = seeking.memory().filter(|_| seeking.is_bound()) else { return false };
    let greeting = |life, cluster, ancestors: &Ancestors| Greeting {
        life,
        cluster,
        ancestors: ancestors.clone(),
        settings: 0,
        nonce: None,
        answers: None,
    };
    let ours = greeting(Life::Suspended, memory.cluster, &memory.ancestors);
    let theirs = greeting(Life::Working, table.cluster(), table.ancestors());
    let cut_off = CutOff { since: seeking.sought_for(now), wait: seeking.wait() };
    yields(&ours, &theirs, cut_off, Flaws::default())
}

impl Participant {
    /// Greets a node of whose cluster nothing is known, and asks for its greeting.
    pub(super) fn question(&mut self, now: Timestamp) -> Message {
        let nonce = Some(self.nonces.draw(now, &mut self.random));
        Message::Hello(Greeting { nonce, answers: None, ..self.greeting(now) })
    }

    /// A node of this name greets.
    pub(super) fn meet(
        &mut self,
        now: Timestamp,
        from: Uid,
        other: &Greeting,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let ours = self.greeting(now);
        if other.cluster.name != ours.cluster.name {
            return None;
        }
        let is_fresh = other.answers.is_some_and(|nonce| self.nonces.is_fresh(now, nonce))
            || self.identity.settings.flaws.has(Flaw::GreetingWithoutNonce);
        if other.cluster == ours.cluster && other.settings != ours.settings {
            // The voters were started again with other settings. One that works says which of them differ.
            if is_fresh && (ours.life, other.life) == (Life::Suspended, Life::Working) {
                self.asked_why = Some(from);
                let knock = Message::Knock(Arc::new(Knock::of_guest(&self.identity)));
                effects.push(Effect::Send { to: Peer::Node(from), message: knock });
            }
            self.answer_greeting(now, from, ours, other, effects);
            return None;
        }
        if other.cluster == ours.cluster {
            if other.life == Life::Working && self.is_resuming() {
                self.goes_on_without_me(now, from, effects);
            }
            self.help(now, from, other.life, effects);
            if ours.life != Life::Working {
                // The other one may know that this life was removed, and hear nothing else of it.
                self.answer_greeting(now, from, ours, other, effects);
            }
            return None;
        }
        let flaws = self.identity.settings.flaws;
        if is_fresh && yields(&ours, other, self.cut_off(now), flaws) {
            return Some(End::GaveUp(GaveUp::Overtaken(other.cluster)));
        }
        self.answer_greeting(now, from, ours, other, effects);
        None
    }

    fn answer_greeting(
        &mut self,
        now: Timestamp,
        from: Uid,
        ours: Greeting,
        other: &Greeting,
        effects: &mut Effects<Effect>,
    ) {
        if let Some(nonce) = other.nonce {
            let asks = other.answers.is_none();
            let own = asks.then(|| self.nonces.draw(now, &mut self.random));
            let answer = Greeting { nonce: own, answers: Some(nonce), ..ours };
            effects.push(Effect::Send { to: Peer::Node(from), message: Message::Hello(answer) });
        }
    }

    /// How it greets others.
    pub(super) fn greeting(&self, now: Timestamp) -> Greeting {
        let life = match self.holder.standing(now) {
            _ if self.table.members().is_empty() && self.durable.resumed.is_none() => Life::Forming,
            Standing::Running => Life::Working,
            Standing::Suspended | Standing::Guest => Life::Suspended,
        };
        let (cluster, ancestors) = (self.table.cluster(), self.table.ancestors().clone());
        let settings = self.identity.settings.tag();
        Greeting { life, cluster, ancestors, settings, nonce: None, answers: None }
    }

    /// For how long it has had no quorum. One that was never admitted and has no log has nothing to keep, but waits as long as a quorum answers it.
    fn cut_off(&self, now: Timestamp) -> CutOff {
        let since = match self.holder.standing(now) {
            Standing::Running => Duration::ZERO,
            Standing::Guest if self.is_alive(now) => Duration::ZERO,
            // Its vote and its log are worth as much as those of a suspended member.
            Standing::Guest => self.durable.resumed.map_or(Duration::MAX, |at| now.since(at)),
            Standing::Suspended => now.since(self.suspended_since),
        };
        CutOff { since, wait: self.identity.settings.timing().wait }
    }

    /// Whether it has had no quorum for so long that nobody has a lease by its vote. Before that it does not yield to a successor of its cluster, nor believe that its
    /// cluster has ended: an operator may have had a node recover it by mistake, and have ended the successor.
    pub(super) fn has_been_cut_off(&self, now: Timestamp) -> bool {
        let CutOff { since, wait } = self.cut_off(now);
        since >= wait
    }

    /// A node of this cluster greets, so it does not know who votes by now, or that it was removed.
    fn help(&mut self, now: Timestamp, from: Uid, life: Life, effects: &mut Effects<Effect>) {
        if life == Life::Working {
            return;
        }
        // A removal is never taken back: also one that is suspended knows of it for certain. Two voters that are left may need it to know each other.
        let word = if self.table.is_removed(from) {
            Word::Gone
        } else if self.holder.standing(now) == Standing::Running && self.table.member(from).is_some() {
            Word::Feed(super::Feed::Whole(self.feeder.whole(&self.table)))
        } else {
            return;
        };
        effects.push(self.word(from, word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Cluster;

    fn greeting(era: u32, life: Life, ancestors: &[u32]) -> Greeting {
        let cluster = |era| Cluster { name: 7, era, founder: Uid::STORE };
        let ancestors = Ancestors::of(ancestors.iter().map(|era| cluster(*era)));
        Greeting { life, cluster: cluster(era), ancestors, settings: 0, nonce: None, answers: None }
    }

    /// Ours: era and life; theirs: era, life and ancestors; for how many seconds we have no quorum; whether we yield.
    type Case = (u32, Life, u32, Life, &'static [u32], u64, bool);

    #[rustfmt::skip]
    const CASES: &[Case] = &[
        (2, Life::Working,   1, Life::Working,   &[],  0, true),   // the older of two that work wins
        (1, Life::Working,   2, Life::Working,   &[],  0, false),
        (1, Life::Working,   2, Life::Working,   &[1], 0, false),  // also over its successor: the order was a mistake
        (2, Life::Working,   1, Life::Suspended, &[],  0, false),  // one that works yields to none that does not
        (2, Life::Working,   1, Life::Forming,   &[],  0, false),
        (2, Life::Suspended, 1, Life::Working,   &[],  0, true),
        (1, Life::Suspended, 2, Life::Working,   &[],  59, false), // a moment's silence is no reason
        (1, Life::Suspended, 2, Life::Working,   &[],  60, true),
        (1, Life::Suspended, 2, Life::Working,   &[1], 2, false),  // also not to its successor: with this voter another node may have a lease
        (1, Life::Suspended, 2, Life::Working,   &[1], 3, true),
        (2, Life::Suspended, 1, Life::Suspended, &[],  90, false), // nobody is there to join
        (1, Life::Suspended, 2, Life::Forming,   &[1], 90, false),
        (2, Life::Forming,   1, Life::Forming,   &[],  0, true),
        (1, Life::Forming,   2, Life::Forming,   &[],  0, false),
        (2, Life::Forming,   1, Life::Suspended, &[],  0, false),  // what it succeeds may be there still
        (1, Life::Forming,   2, Life::Working,   &[],  0, true),
    ];

    fn cut_off(seconds: u64) -> CutOff {
        CutOff { since: Duration::from_secs(seconds), wait: Duration::from_secs(3) }
    }

    #[test]
    fn which_of_two_foundings_yields() {
        for (case, &(our_era, our_life, era, life, ancestors, seconds, expected)) in CASES.iter().enumerate()
        {
            let (ours, theirs) = (greeting(our_era, our_life, &[]), greeting(era, life, ancestors));
            let yields = yields(&ours, &theirs, cut_off(seconds), Flaws::default());
            assert_eq!(yields, expected, "case {case}: {ours:?} {theirs:?}");
        }
    }

    /// Each flaw changes what one of the cases says.
    #[cfg(feature = "flaws")]
    #[test]
    fn other_rules_of_meeting_are_noticed() {
        for flaw in [Flaw::LaterFoundingWins, Flaw::YieldsAfterAMomentsSilence, Flaw::RecoveredBeatsLiving] {
            let differs = |&(our_era, our_life, era, life, ancestors, seconds, expected): &Case| {
                let (ours, theirs) = (greeting(our_era, our_life, &[]), greeting(era, life, ancestors));
                yields(&ours, &theirs, cut_off(seconds), Flaws::only(flaw)) != expected
            };
            assert!(CASES.iter().any(differs), "{flaw:?}");
        }
    }

    #[test]
    fn an_answer_counts_for_a_second() {
        let (mut nonces, mut random) = (Nonces::default(), Random::seeded(1));
        let at = Timestamp::from_millis;
        let first = nonces.draw(at(1000), &mut random);
        assert_eq!(nonces.draw(at(1099), &mut random), first, "one nonce for many");
        let second = nonces.draw(at(1100), &mut random);
        assert!(first != second && nonces.is_fresh(at(2000), first) && !nonces.is_fresh(at(2001), first));
        assert!(nonces.is_fresh(at(2100), second) && !nonces.is_fresh(at(1000), 7));
    }
}
