//! The log carried by one compare-and-set register in a shared store: the store is the one voter, for ever.
//!
//! What the store took is committed: there is no quorum to wait for and nothing that may vanish but what is still on its way there.
//! This is a member's side. It asks the store again and again, one ask at a time; each answer brings what is new, who is in office,
//! and whose renewals the store has seen.
//!
//! ```text
//!             stand: the swap was made
//!   follows ----------------------------> in office
//!      ^                                      |  an answer names another, or
//!      +--------------------------------------+  no answer for suspect_after
//! ```
//! Who left office comes back only in a new term, so that what it sent before can no longer be mistaken for what it sends now.

mod follow;
mod message;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

pub use self::message::{Answer, Ask, News, Swap};
use super::{Committed, Entry, Log, Malformed, NotTaken, Outbox, VotersChange};
use crate::incarnation::Uid;
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// How many payloads go into one swap.
const SWAP_MAX: usize = 64;

/// How often, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterTiming {
    /// Out of office it asks that often.
    pub follow_every: Duration,
    /// What an answer may take. In office it asks that often; unanswered, an ask is repeated after twice that.
    pub round_trip: Duration,
    /// Without an answer for so long a coordinator leaves office; without a renewal of the coordinator for so long another stands.
    pub suspect_after: Duration,
}

/// What travels between a member and the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<P, S> {
    /// To the store.
    Ask(Ask<P>),
    /// From the store.
    Answer(Answer<P, S>),
}

/// What an answer showed of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// When that was asked: the store saw no renewal but these until then.
    pub asked: Timestamp,
    /// How much longer than a round trip the store was not heard: nobody is to blame for that time.
    pub late: Duration,
    /// Those whose renewals went on since the answer before.
    pub renewed: Vec<Uid>,
}

/// One member's side of the register.
#[derive(Debug)]
pub struct RegisterLog<P, S> {
    me: Uid,
    timing: RegisterTiming,
    voters: Voters,
    learners: BTreeSet<VoterId>,
    term: Term,
    holder: Option<Holder>,
    /// Who was in office before this node, and when its renewals last went on.
    predecessor: Option<(Uid, Timestamp)>,
    /// The newest term that this node gave up.
    left: Term,
    /// The newest entry it has.
    version: Version,
    committed: Vec<Committed<P, S>>,
    /// Proposed in this term, and not seen in the log yet.
    queue: VecDeque<P>,
    stands: bool,
    number: u64,
    under_way: Option<UnderWay<P>>,
    /// Since when no ask was answered, while one is under way.
    waits_since: Option<Timestamp>,
    next_ask: Timestamp,
    /// The newest moment at which an ask was sent that was answered.
    asked: Timestamp,
    /// The newest moment this node has seen.
    latest: Timestamp,
    renewals: BTreeMap<Uid, u64>,
    sighting: Option<Sighting>,
}

/// Who is in office, as the store says.
#[derive(Clone, Copy, Debug)]
struct Holder {
    uid: Uid,
    /// When its renewals last went on, or it was first seen.
    at: Timestamp,
}

#[derive(Debug)]
struct UnderWay<P> {
    ask: Ask<P>,
    sent: Timestamp,
    again: Timestamp,
}

impl<P: Clone, S: Clone> RegisterLog<P, S> {
    /// Of a node that knows nothing yet of what the store has.
    pub fn new(me: Uid, timing: RegisterTiming, now: Timestamp) -> Self {
        Self {
            me,
            timing,
            voters: Voters {
                id: Version::ZERO,
                now: BTreeSet::from([VoterId::STORE]),
                next: BTreeSet::new(),
            },
            learners: BTreeSet::new(),
            term: Term::ZERO,
            holder: None,
            predecessor: None,
            left: Term::ZERO,
            version: Version::ZERO,
            committed: Vec::new(),
            queue: VecDeque::new(),
            stands: false,
            number: 0,
            under_way: None,
            waits_since: None,
            next_ask: now,
            asked: now,
            latest: now,
            renewals: BTreeMap::new(),
            sighting: None,
        }
    }

    /// What the newest answer showed of the others; once each.
    pub fn take_sighting(&mut self) -> Option<Sighting> {
        self.sighting.take()
    }

    /// Who was in office before this node, and when its renewals last went on.
    pub fn predecessor(&self) -> Option<(Uid, Timestamp)> {
        self.predecessor
    }

    /// Whether the store itself shows that nobody does the work.
    fn may_stand(&self) -> bool {
        !self.in_office()
            && self.term > Term::ZERO
            && self.holder.is_none_or(|holder| {
                holder.uid == self.me || self.asked.since(holder.at) >= self.timing.suspect_after
            })
    }

    fn ask(&mut self, now: Timestamp, out: &mut Outbox<Message<P, S>>) {
        let (term, last) = (self.term, self.version);
        let swap = if self.stands && self.may_stand() {
            Swap::Stand { term }
        } else if self.in_office() && !self.queue.is_empty() {
            let payloads: Vec<P> = self.queue.iter().take(SWAP_MAX).cloned().collect();
            Swap::Append { term, last, payloads: payloads.into() }
        } else {
            Swap::None
        };
        self.number += 1;
        let ask = Ask { number: self.number, known: last, of_all: self.in_office(), swap };
        out.push((VoterId::STORE, Message::Ask(ask.clone())));
        self.waits_since.get_or_insert(now);
        self.under_way = Some(UnderWay { ask, sent: now, again: now + self.timing.round_trip * 2 });
    }

    fn ask_if_free(&mut self, now: Timestamp, out: &mut Outbox<Message<P, S>>) {
        if self.under_way.is_none() {
            self.ask(now, out);
        }
    }

    fn leave_office(&mut self) {
        if self.in_office() {
            self.left = self.term;
            self.queue.clear();
        }
    }
}

impl<P: Clone, S: Clone> Log<P, S> for RegisterLog<P, S> {
    type Message = Message<P, S>;

    fn handle(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Malformed> {
        let malformed = |what| Malformed { from, what };
        self.latest = now;
        let Message::Answer(answer) = message else { return Err(malformed("no store is asked here")) };
        if from != VoterId::STORE {
            return Err(malformed("it is not the store"));
        }
        // An answer to an ask that was given up says nothing that the next one will not say.
        let Some(under_way) = self.under_way.take_if(|under_way| under_way.ask.number == answer.number)
        else {
            return Ok(());
        };
        self.check(&answer).map_err(malformed)?;
        let waited = self.waits_since.take().map_or(Duration::ZERO, |since| now.since(since));
        let late = waited.saturating_sub(self.timing.round_trip);
        self.asked = under_way.sent;
        let was_in_office = self.in_office();
        self.follow_office(now, &answer, late);
        self.see(&under_way, late, answer.renewals);
        self.follow_news(answer.news);
        self.stands &= self.may_stand() && !matches!(under_way.ask.swap, Swap::Stand { .. });
        let pause = if self.in_office() { self.timing.round_trip } else { self.timing.follow_every };
        self.next_ask = now + pause;
        // New in office, it wants to know at once who is there.
        if self.stands || !self.queue.is_empty() || (self.in_office() && !was_in_office) {
            self.ask(now, out);
        }
        Ok(())
    }

    fn on_deadline(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        self.latest = now;
        if let Some(under_way) = &mut self.under_way {
            if now >= under_way.sent + self.timing.suspect_after {
                // What it wanted may no longer be wanted, and is asked for anew if it is.
                self.under_way = None;
                self.stands = false;
                self.leave_office();
                self.ask(now, out);
            } else if now >= under_way.again {
                under_way.again = now + self.timing.round_trip * 2;
                out.push((VoterId::STORE, Message::Ask(under_way.ask.clone())));
            }
        } else if now >= self.next_ask {
            self.ask(now, out);
        }
    }

    fn next_deadline(&self) -> Timestamp {
        self.under_way.as_ref().map_or(self.next_ask, |under_way| {
            under_way.again.min(under_way.sent + self.timing.suspect_after)
        })
    }

    fn stand(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        self.latest = now;
        self.stands = self.may_stand();
        if self.stands {
            self.ask_if_free(now, out);
        }
    }

    fn propose(
        &mut self,
        now: Timestamp,
        payload: P,
        out: &mut Outbox<Self::Message>,
    ) -> Result<Version, NotTaken> {
        self.latest = now;
        if !self.in_office() {
            return Err(NotTaken::NotInOffice);
        }
        self.queue.push_back(payload);
        self.ask_if_free(now, out);
        Ok(Version { term: self.term, index: self.last_index() })
    }

    /// Nothing changes: the store votes for ever.
    fn change_voters(
        &mut self,
        _: Timestamp,
        _: VotersChange,
        _: &mut Outbox<Self::Message>,
    ) -> Result<(), NotTaken> {
        if self.in_office() { Ok(()) } else { Err(NotTaken::NotInOffice) }
    }

    /// Nobody is asked: whoever leaves, the store shows it to all.
    fn hand_over(&mut self, _: Timestamp, _: VoterId, _: &mut Outbox<Self::Message>) -> bool {
        false
    }

    fn take_committed(&mut self) -> Vec<Committed<P, S>> {
        core::mem::take(&mut self.committed)
    }

    /// Nothing is kept here: the store has it.
    fn compact(&mut self, _: Version, _: S) {}

    fn kept(&self) -> usize {
        0
    }

    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a P>
    where
        P: 'a,
    {
        let untold = self.committed.iter().filter_map(|committed| match committed {
            Committed::Entry(_, Entry::Payload(payload)) => Some(payload),
            Committed::Entry(_, Entry::Nothing | Entry::Voters { .. }) | Committed::Snapshot { .. } => None,
        });
        untold.chain(&self.queue)
    }

    fn voters(&self) -> &Voters {
        &self.voters
    }

    fn learners(&self) -> &BTreeSet<VoterId> {
        &self.learners
    }

    fn term(&self) -> Term {
        self.term
    }

    fn in_office(&self) -> bool {
        self.term > self.left && self.holder.is_some_and(|holder| holder.uid == self.me)
    }

    /// An entry of its term is committed with the very swap that began it.
    fn may_act(&self) -> bool {
        self.in_office()
    }

    fn coordinator(&self) -> Option<(VoterId, Timestamp)> {
        if self.in_office() {
            return Some((VoterId::of_life(self.me), self.latest));
        }
        let other = self.holder.filter(|holder| holder.uid != self.me);
        other.map(|holder| (VoterId::of_life(holder.uid), holder.at))
    }

    fn matched(&self, voter: VoterId) -> u64 {
        if self.in_office() && voter == VoterId::of_life(self.me) { self.last_index() } else { 0 }
    }

    fn last_index(&self) -> u64 {
        self.version.index + self.queue.len() as u64
    }
}
