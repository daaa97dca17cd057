//! What a seeking node answers to others that seek.

use alloc::vec::Vec;

use super::messages::{Knock, Past, Vow};
use super::pledges::Pledges;
use super::promise::Verdict;
use super::{Say, Seeking};
use crate::disk::{Bond, Pledge};
use crate::incarnation::{Incarnation, Uid};
use crate::settings::check;
use crate::time::Timestamp;

impl Seeking {
    /// Another node asks, and this one knows of no cluster either.
    pub fn knocked(&mut self, now: Timestamp, knock: &Knock, say: &mut Vec<Say>) {
        let them = knock.me.uid;
        if let Err(refusal) = check(&self.cluster_settings, &knock.settings) {
            // It is not told to go: a cluster that works may know better which of the two is right.
            if self.asked().contains(&knock.me.address) {
                self.differing.insert(knock.me.address.clone(), refusal);
            }
            return;
        }
        for cluster in knock.ended.iter() {
            self.learn_ended(*cluster);
        }
        if let Some(memory) = &knock.memory {
            self.remember(memory);
        }
        if self.has_learned_the_end() {
            self.is_free_again();
        }
        if let Some(pledges) = &mut self.pledges
            && pledges.follow(&pledge(knock))
        {
            say.push(Say::Keep(pledges.list()));
        }
        let attempt = knock.attempt.unwrap_or(0);
        let verdict = if knock.attempt.is_some() { self.asked_by(now, knock) } else { Verdict::Denied };
        if verdict == Verdict::Yielded {
            self.release_all(say);
            self.begin_attempt(now);
        }
        if verdict == Verdict::Denied || self.keeps(knock, say) {
            say.push(Say::Promise(them, self.vow(attempt, verdict != Verdict::Denied)));
        }
        // What the other remembers may be missing now, or this node has given its own promise away.
        self.look_at_answers(now, say);
    }

    /// Whether the promise to that node can be said. One with a data directory keeps it there first, and says it once that is written.
    fn keeps(&mut self, knock: &Knock, say: &mut Vec<Say>) -> bool {
        let Some(pledges) = &mut self.pledges else { return true };
        let before = pledges.list();
        let is_written = pledges.keep(&pledge(knock));
        if before != pledges.list() {
            say.push(Say::Keep(pledges.list()));
        }
        is_written
    }

    /// The promises that it gave are on its disk: they are said.
    pub fn pledges_written(&mut self, say: &mut Vec<Say>) {
        let Some(pledges) = &mut self.pledges else { return };
        for (them, attempt) in pledges.written() {
            if self.promise.is_to(them, attempt) {
                say.push(Say::Promise(them, self.vow(attempt, true)));
            }
        }
    }

    fn asked_by(&mut self, now: Timestamp, knock: &Knock) -> Verdict {
        let attempt = (&knock.me, knock.attempt.unwrap_or(0));
        let has_room = |pledges: &Pledges| pledges.has_room_for(&pledge(knock));
        // Who has its promise waits as long as this node does by its settings, and knows nothing of its disk.
        let is_too_early = self.leases_until.is_some_and(|until| now + self.wait < until);
        if self.withdraws_until.is_some()
            || is_too_early
            || self.is_unclear()
            || self.is_bound()
            || !self.pledges.as_ref().is_none_or(has_room)
        {
            return Verdict::Denied;
        }
        let yields = !self.asks() || knock.me.address < self.me.address;
        let (until, flaws) = (now + 2 * self.attempt_length(), self.flaws());
        self.promise.asked(now, attempt, yields, until, flaws)
    }

    /// The one this node promised to has yielded to another, and gives that attempt up.
    pub fn released(&mut self, from: Uid, attempt: u32, say: &mut Vec<Say>) {
        self.promise.release(from, attempt);
        if let Some(pledges) = &mut self.pledges
            && pledges.release(from, attempt)
        {
            say.push(Say::Keep(pledges.list()));
        }
    }

    fn vow(&self, attempt: u32, granted: bool) -> Vow {
        let past = match (&self.memory, self.bond) {
            (None, _) => Past::Fresh,
            (Some(memory), None) => Past::GaveUp(memory.clone()),
            (Some(memory), Some(Bond::Member)) => Past::Suspended(memory.clone(), None),
            (Some(memory), Some(Bond::Left)) => Past::Left(memory.clone()),
            (Some(memory), Some(Bond::Ended)) => Past::Ended(memory.clone()),
        };
        let holder = self.promise.holder(&self.me.address).clone();
        let is_held = |pledge: &&Pledge| self.promise.node().is_some_and(|node| node.uid == pledge.uid);
        let others = self.pledges.iter().flat_map(Pledges::iter).filter(|pledge| !is_held(pledge));
        Vow {
            seed: self.me.address.clone(),
            voter: self.facts.voter(self.me.uid),
            attempt,
            granted,
            withdrawn: self.withdraws_until.is_some() || self.promise.node().is_some() && self.is_unclear(),
            holder,
            past,
            pledged: others.cloned().collect(),
            heard_of: self.heard_of(),
        }
    }
}

/// The promise to the node that asks so.
fn pledge(knock: &Knock) -> Pledge {
    let Incarnation { address, uid } = knock.me.clone();
    Pledge { voter: knock.facts.voter(uid), address, uid, attempt: knock.attempt.unwrap_or(0) }
}
