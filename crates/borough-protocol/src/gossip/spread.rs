//! The machine that spreads the document: a round is one digest to one peer, drawn by chance.
//!
//! ```text
//!            content changed                    rounds used up, or converged
//! Resting ----------------------> Spreading ---------------------------------> Resting
//! every interval                  every interval_spreading
//! ```
//! While one node talks to one peer a round, a change reaches all in rounds that grow with the logarithm of their
//! number. No message makes more than one other, and a reply to a reply is a [`Message::Seen`] at most.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::document::{Change, Document};
use super::messages::{Delta, Message};
use super::settings::Settings;
use super::tombstones::Gone;
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Facts, Incarnation, Uid};
use crate::random::Random;
use crate::time::Timestamp;
use crate::vector_clock::VectorClock;
use crate::version::Version;

/// One round in this many goes to a peer that is called unreachable, so that a healed partition is found.
const UNREACHABLE_ONE_IN: u64 = 10;
/// How often a peer is drawn blindly before the list is walked.
const DRAWS: usize = 4;

/// Gossip of one node: its document and when it talks next.
#[derive(Debug)]
pub struct Gossip {
    me: Uid,
    document: Document,
    settings: Settings,
    random: Random,
    next_round: Timestamp,
    /// Rounds at the faster pace that are left after the last change.
    rounds_left: u32,
    /// Whether the last round found the document converged.
    converged: bool,
    changed: bool,
    is_given_up: bool,
    flaws: Flaws,
}

impl Gossip {
    /// A node that knows of itself alone, as joining.
    pub fn new(
        now: Timestamp,
        me: Incarnation,
        facts: Arc<Facts>,
        settings: Settings,
        random: Random,
        flaws: Flaws,
    ) -> Self {
        let mut gossip = Self {
            me: me.uid,
            document: Document::new(settings.tombstone_life, flaws),
            settings,
            random,
            next_round: Timestamp::NEVER,
            rounds_left: 0,
            converged: false,
            changed: false,
            is_given_up: false,
            flaws,
        };
        gossip.add_joining(now, me, facts);
        gossip
    }

    /// The document as it is known here.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Whose gossip it is.
    pub fn me(&self) -> Uid {
        self.me
    }

    /// When [`on_round`](Self::on_round) wants to be called.
    pub fn next_deadline(&self) -> Timestamp {
        self.next_round
    }

    /// Whether somebody's document has buried this node.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Whether the document says or shows something else than when this was last asked.
    pub fn take_changes(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    /// Begins a round if its time has come.
    pub fn on_round(&mut self, now: Timestamp, out: &mut Vec<(Uid, Message)>) {
        if now < self.next_round {
            return;
        }
        self.document.expire(now);
        let converged = self.document.is_converged();
        let settled = self.document.settle();
        self.changed |= settled || converged != self.converged;
        self.converged = converged;
        self.rounds_left = if converged { 0 } else { self.rounds_left };
        let pace =
            if self.rounds_left > 0 { self.settings.interval_spreading } else { self.settings.interval };
        self.rounds_left = self.rounds_left.saturating_sub(1);
        self.next_round = now + pace;
        if !self.document.is_member(self.me) {
            return;
        }
        if let Some(peer) = self.draw_peer() {
            let (version, seen) = (self.document.version_hash(), self.document.seen.hash());
            out.push((peer, Message::Digest { version, seen }));
        }
    }

    /// Handles a message of another node. What the buried say is not heard, nor does one speak that is buried itself.
    pub fn handle(&mut self, now: Timestamp, from: Uid, message: Message, out: &mut Vec<(Uid, Message)>) {
        self.document.expire(now);
        let deaf = self.document.is_buried(from) && !self.flaws.has(Flaw::StaleIncarnationAccepted);
        if deaf || !self.document.is_member(self.me) {
            return;
        }
        let answer = match message {
            Message::Digest { version, seen } => self.on_digest(from, version, seen),
            Message::Pull { clock } => Some(self.answer_pull(now, &clock)),
            Message::Delta(delta) => self.on_delta(now, &delta),
            Message::Seen { version, bits } => self.on_seen(version, &bits),
        };
        out.extend(answer.map(|message| (from, message)));
    }

    /// A node wants to join; see [`Document::add_joining`].
    pub fn add_joining(&mut self, now: Timestamp, incarnation: Incarnation, facts: Arc<Facts>) -> Change {
        let change = self.document.add_joining(self.me, incarnation, facts);
        self.note(now, change)
    }

    /// This node cannot reach the subject, or can again.
    pub fn set_unreachable(&mut self, now: Timestamp, subject: Uid, unreachable: bool) -> Change {
        let change = self.document.set_unreachable(self.me, subject, unreachable);
        self.note(now, change)
    }

    /// This node has dropped all it had and goes.
    pub fn mark_exiting(&mut self, now: Timestamp) -> Change {
        let change = self.document.mark_exiting(self.me);
        self.note(now, change)
    }

    /// A node that the table never admitted is gone.
    pub fn bury(&mut self, now: Timestamp, uid: Uid, how: Gone) -> Change {
        let change = self.document.bury(self.me, uid, how, now);
        self.note(now, change)
    }

    /// The table's entry at `index` admitted the node.
    pub fn admit(
        &mut self,
        now: Timestamp,
        index: u64,
        node: Incarnation,
        facts: Arc<Facts>,
        version: Version,
    ) -> Change {
        let change = self.document.admit(index, node, facts, version);
        self.note(now, change)
    }

    /// The table's entry at `index` lets the node drain.
    pub fn mark_leaving(&mut self, now: Timestamp, index: u64, uid: Uid) -> Change {
        let change = self.document.mark_leaving(index, uid);
        self.note(now, change)
    }

    /// The table's entry at `index` removed the node.
    pub fn bury_by_table(&mut self, now: Timestamp, index: u64, uid: Uid, how: Gone) -> Change {
        let change = self.document.bury_by_table(index, uid, how, now);
        self.note(now, change)
    }

    /// All entries of the table up to `index` have taken effect; see [`Document::reflect`]. It hastens no round.
    pub fn reflect(&mut self, now: Timestamp, index: u64) -> Change {
        let change = self.document.reflect(index);
        self.note(now, change)
    }

    /// Checks all that must hold between two inputs.
    ///
    /// # Panics
    /// If something does not hold.
    pub fn assert_invariants(&self) {
        self.document.assert_invariants();
        assert!(self.document.is_buried(self.me) || self.document.is_member(self.me), "a node knows itself");
        assert!(
            !self.document.is_member(self.me) || self.document.has_seen(self.me),
            "a node has what it has"
        );
        assert!(self.next_round != Timestamp::NEVER, "there is always a next round");
    }

    fn on_digest(&mut self, from: Uid, version: u64, seen: u32) -> Option<Message> {
        if version != self.document.version_hash() {
            return Some(Message::Pull { clock: self.document.clock().clone() });
        }
        self.document.see(from);
        (seen != self.document.seen.hash()).then(|| self.seen_message())
    }

    fn answer_pull(&self, now: Timestamp, clock: &VectorClock) -> Message {
        Message::Delta(Arc::new(self.document.delta_for(clock, now, false)))
    }

    fn on_delta(&mut self, now: Timestamp, delta: &Delta) -> Option<Message> {
        if delta.tombstones.iter().any(|obituary| obituary.uid == self.me) {
            // Whether that is true is for others to say; a document without its own node could tell nobody anything.
            self.is_given_up = true;
            let mut delta = delta.clone();
            delta.tombstones.retain(|obituary| obituary.uid != self.me);
            return self.merge(now, &delta);
        }
        self.merge(now, delta)
    }

    fn merge(&mut self, now: Timestamp, delta: &Delta) -> Option<Message> {
        let change = self.document.merge_delta(delta, now);
        self.note(now, change);
        if self.document.version_hash() == delta.version() {
            return self.document.seen.exceeds(&delta.seen).then(|| self.seen_message());
        }
        if delta.reply {
            return None;
        }
        let mut reply = self.document.delta_for(&delta.clock, now, true);
        let alike = self.document.content_hash() == delta.content;
        if !alike && change != Change::Content && !self.document.has_news(&reply) {
            reply = self.document.everything(now, true);
        }
        Some(Message::Delta(Arc::new(reply)))
    }

    fn on_seen(&mut self, version: u64, bits: &[u64]) -> Option<Message> {
        if version != self.document.version_hash() {
            return None;
        }
        self.document.seen.union(bits);
        self.document.seen.exceeds(bits).then(|| self.seen_message())
    }

    fn seen_message(&self) -> Message {
        Message::Seen { version: self.document.version_hash(), bits: self.document.seen.bits() }
    }

    /// What follows from each change, whoever made it.
    fn note(&mut self, now: Timestamp, change: Change) -> Change {
        if change != Change::Nothing {
            self.document.see(self.me);
        }
        if change == Change::Content {
            self.changed = true;
            self.rounds_left = self.settings.spreading_rounds;
            let within = u64::try_from(self.settings.interval_spreading.as_nanos()).unwrap_or(u64::MAX);
            if self.next_round > now + self.settings.interval_spreading {
                // By chance, as one entry of the table changes all nodes at about the same moment.
                self.next_round = now + Duration::from_nanos(self.random.between(1, within));
            }
        }
        change
    }

    /// A reachable peer that may not have this version yet, else any reachable one; now and then, or if there is no
    /// other, an unreachable one.
    fn draw_peer(&mut self) -> Option<Uid> {
        let unreachable = self.document.reachability.unreachable_count();
        if unreachable > 0
            && self.random.below(UNREACHABLE_ONE_IN) == 0
            && let Some(peer) = self.draw_unreachable()
        {
            return Some(peer);
        }
        let lacking =
            if self.document.seen.count() < self.document.member_count() { self.draw(true) } else { None };
        lacking.or_else(|| self.draw(false)).or_else(|| self.draw_unreachable())
    }

    fn draw(&mut self, lacking: bool) -> Option<Uid> {
        let count = self.document.member_count();
        let mut start = 0;
        for _ in 0..DRAWS {
            start = usize::try_from(self.random.below(count as u64)).ok()?;
            if let Some(peer) = self.peer_at(start, lacking) {
                return Some(peer);
            }
        }
        (1..count).find_map(|step| self.peer_at((start + step) % count, lacking))
    }

    fn peer_at(&self, place: usize, lacking: bool) -> Option<Uid> {
        if lacking && self.document.seen.contains(place) {
            return None;
        }
        let uid = self.document.members.at(place)?.uid();
        (uid != self.me && !self.document.is_unreachable(uid)).then_some(uid)
    }

    fn draw_unreachable(&mut self) -> Option<Uid> {
        let me = self.me;
        let others = || self.document.unreachable().filter(|uid| *uid != me);
        let drawn = self.random.below(others().count() as u64);
        others().nth(usize::try_from(drawn).ok()?)
    }
}
