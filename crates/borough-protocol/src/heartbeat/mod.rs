//! Who watches whom, and what they think of each other.
//!
//! All members stand on a ring in an order that chance made; each watches the next few. It beats, the watched peer
//! echoes, and an echo is the only proof of life: a peer that can send and not hear is found too. The promise: a peer
//! that stops answering is accused within a bound, one that answers again is taken back at once, and a node that was
//! itself away accuses nobody for that.
//!
//! ```text
//!   newly watched, as if it had answered
//!                 |
//!                 v
//!             Reachable ----- silent until suspect_at -----> Unreachable
//!                 ^                                               |
//!                 `------------------- an echo -------------------'
//! ```
//!
//! What comes of an opinion is not decided here: it feeds gossip and display.

pub mod health;
pub mod ring;
#[cfg(test)]
mod tests;

pub use self::health::Health;
pub use self::ring::Ring;

use alloc::vec::Vec;
use core::time::Duration;

use crate::detector::Detector;
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::random::Random;
use crate::settings::Checked;
use crate::time::Timestamp;

/// What nodes say to each other to stay trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Are you there? From who watches.
    Beat {
        /// Which beat of the sender it is; numbers wrap.
        seq: u32,
    },
    /// I am. From who is watched.
    Echo {
        /// The beat it answers.
        seq: u32,
    },
}

impl Message {
    /// How many bytes it takes in a frame: its kind and its number.
    pub const fn wire_size(&self) -> usize {
        1 + size_of::<u32>()
    }
}

/// What a node thinks of a peer it watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opinion {
    /// It answers.
    Reachable,
    /// It has not answered for too long.
    Unreachable,
}

/// The heartbeats of one node: it beats, echoes, and forms opinions.
#[derive(Debug)]
pub struct Heartbeats {
    settings: Checked,
    ring: Ring,
    watched: Vec<Watch>,
    health: Health,
    /// The number of the last beat.
    sent: u32,
    next_beat: Timestamp,
    /// The next beat or the first suspicion, whichever is earlier.
    next_deadline: Timestamp,
    /// When it was last called.
    awake: Timestamp,
    changes: Vec<(Uid, Opinion)>,
}

/// A peer that is watched: one that the ring names, or an accused member that it named before. Who accused must be there
/// to take it back, or the accusation would stand for ever.
#[derive(Debug)]
struct Watch {
    uid: Uid,
    on_ring: bool,
    opinion: Opinion,
    detector: Detector,
    /// The newest beat that it echoed.
    echoed: u32,
}

impl Heartbeats {
    /// A node that watches nobody yet. Chance says when in the interval it beats, so that not all beat at once.
    pub fn new(now: Timestamp, me: Uid, settings: Checked, random: &mut Random) -> Self {
        let interval = now + settings.heartbeat_interval;
        let first = now + Duration::from_nanos(random.below(interval.as_nanos() - now.as_nanos()));
        Self {
            ring: Ring::new(me, settings.monitors),
            watched: Vec::new(),
            health: Health::default(),
            sent: 0,
            next_beat: first,
            next_deadline: first,
            awake: now,
            changes: Vec::new(),
            settings,
        }
    }

    /// These are the members now, in any order. To be called when they changed, and only then: it looks at each.
    ///
    /// Peers that stay watched keep their history. A peer no longer watched is forgotten; if it is accused and still a
    /// member, not before it answers.
    pub fn set_members(&mut self, now: Timestamp, members: impl IntoIterator<Item = Uid>) {
        self.notice_absence(now);
        if self.settings.flaws.has(Flaw::MonitorsForget) && !self.watched.is_empty() {
            return;
        }
        let accused: Vec<Uid> = self
            .opinions()
            .filter(|(_, opinion)| *opinion == Opinion::Unreachable)
            .map(|(uid, _)| uid)
            .collect();
        let mut waited_for = Vec::new();
        self.ring.set_members(members.into_iter().inspect(|uid| {
            if accused.contains(uid) {
                waited_for.push(*uid);
            }
        }));
        self.watched.retain_mut(|watch| {
            watch.on_ring = self.ring.watches(watch.uid);
            watch.on_ring || waited_for.contains(&watch.uid)
        });
        for uid in self.ring.watched() {
            if !self.watched.iter().any(|watch| watch.uid == uid) {
                let detector = Detector::new(&self.settings, now);
                let opinion = Opinion::Reachable;
                self.watched.push(Watch { uid, on_ring: true, opinion, detector, echoed: self.sent });
            }
        }
        self.rearm();
    }

    /// Takes a message of a peer, any peer: beats are echoed whoever sends them.
    pub fn handle(&mut self, now: Timestamp, from: Uid, message: Message, out: &mut Vec<(Uid, Message)>) {
        self.notice_absence(now);
        match message {
            Message::Beat { seq } => out.push((from, Message::Echo { seq })),
            Message::Echo { seq } => self.hear(now, from, seq),
        }
    }

    /// Does what is due: beats, and accuses those that were silent for too long.
    pub fn on_deadline(&mut self, now: Timestamp, out: &mut Vec<(Uid, Message)>) {
        self.notice_absence(now);
        if self.next_beat <= now {
            self.beat(now, out);
        }
        if !self.settings.flaws.has(Flaw::DetectorNeverAccuses) {
            self.accuse(now);
        }
        self.rearm();
    }

    /// When [`on_deadline`](Self::on_deadline) wants to be called next.
    pub fn next_deadline(&self) -> Timestamp {
        self.next_deadline
    }

    /// The opinions that changed since the last call, in the order in which they did.
    pub fn take_changes(&mut self) -> Vec<(Uid, Opinion)> {
        core::mem::take(&mut self.changes)
    }

    /// What this node thinks of the peers it watches.
    pub fn opinions(&self) -> impl Iterator<Item = (Uid, Opinion)> + '_ {
        self.watched.iter().map(|watch| (watch.uid, watch.opinion))
    }

    /// How suspicious a peer's silence is, for display: phi. None if it is not watched.
    pub fn suspicion(&self, now: Timestamp, uid: Uid) -> Option<f64> {
        let watch = self.watched.iter().find(|watch| watch.uid == uid)?;
        Some(watch.detector.suspicion(now, self.health.patience()))
    }

    /// How suspicious the silence of each watched peer is, for display; see [`suspicion`](Self::suspicion).
    pub fn suspicions(&self, now: Timestamp) -> impl Iterator<Item = (Uid, f64)> + '_ {
        let patience = self.health.patience();
        self.watched.iter().map(move |watch| (watch.uid, watch.detector.suspicion(now, patience)))
    }

    /// How healthy this node thinks it is itself.
    pub fn health(&self) -> Health {
        self.health
    }

    /// Checks what must hold between two calls.
    ///
    /// # Panics
    /// If something does not hold.
    pub fn assert_invariants(&self) {
        for (place, watch) in self.watched.iter().enumerate() {
            assert_eq!(watch.on_ring, self.ring.watches(watch.uid), "the ring is who is watched");
            assert!(
                watch.on_ring || watch.opinion == Opinion::Unreachable,
                "only the accused are waited for"
            );
            assert!(
                self.watched[..place].iter().all(|other| other.uid != watch.uid),
                "nobody is watched twice"
            );
        }
        assert!(self.ring.watched().all(|uid| self.watched.iter().any(|watch| watch.uid == uid)));
        assert_eq!(self.next_deadline, self.first_deadline(), "the deadline is that of the detectors");
        assert!(self.health.score() <= Health::WORST);
    }

    /// A node that was away heard nothing: what it missed is no peer's silence.
    ///
    /// It was away if its deadline passed and nobody called; what is within `max_pause` happens to healthy nodes.
    fn notice_absence(&mut self, now: Timestamp) {
        let away = now.since(self.next_deadline.max(self.awake));
        self.awake = now.max(self.awake);
        if away > self.settings.max_pause {
            self.health.was_late();
            for watch in &mut self.watched {
                watch.detector.excuse(away);
            }
            self.rearm();
        }
    }

    fn hear(&mut self, now: Timestamp, from: Uid, seq: u32) {
        let Some(place) = self.watched.iter().position(|watch| watch.uid == from) else { return };
        let watch = &mut self.watched[place];
        // An echo of a beat that was echoed before, or never sent, proves nothing.
        let newer = seq.wrapping_sub(watch.echoed);
        if newer == 0 || newer > self.sent.wrapping_sub(watch.echoed) {
            return;
        }
        watch.echoed = seq;
        watch.detector.heartbeat(now);
        if watch.opinion == Opinion::Unreachable && !self.settings.flaws.has(Flaw::DetectorNeverRecovers) {
            watch.opinion = Opinion::Reachable;
            self.changes.push((from, Opinion::Reachable));
            if !watch.on_ring {
                self.watched.remove(place);
            }
        }
        self.rearm();
    }

    fn beat(&mut self, now: Timestamp, out: &mut Vec<(Uid, Message)>) {
        self.health.end_interval(self.most_are_silent());
        self.sent = self.sent.wrapping_add(1);
        let beat = Message::Beat { seq: self.sent };
        out.extend(self.watched.iter().map(|watch| (watch.uid, beat)));
        // Beats that were missed are not made up for, and the phase stays.
        let interval = self.settings.heartbeat_interval.as_nanos();
        let since = now.since(self.next_beat).as_nanos() % interval;
        let left = u64::try_from(interval - since).unwrap_or(u64::MAX);
        self.next_beat = now + Duration::from_nanos(left);
    }

    /// Whether most of those that are not accused left two beats unanswered: one may be under way.
    fn most_are_silent(&self) -> bool {
        let trusted = || self.watched.iter().filter(|watch| watch.opinion == Opinion::Reachable);
        let silent = trusted().filter(|watch| self.sent.wrapping_sub(watch.echoed) >= 2).count();
        // One alone may well be dead.
        silent >= 2 && 2 * silent > trusted().count()
    }

    fn accuse(&mut self, now: Timestamp) {
        let patience = self.health.patience();
        for watch in &mut self.watched {
            if watch.opinion == Opinion::Reachable && !watch.detector.is_available(now, patience) {
                watch.opinion = Opinion::Unreachable;
                self.changes.push((watch.uid, Opinion::Unreachable));
            }
        }
    }

    fn rearm(&mut self) {
        self.next_deadline = self.first_deadline();
    }

    fn first_deadline(&self) -> Timestamp {
        if self.settings.flaws.has(Flaw::DetectorNeverAccuses) {
            return self.next_beat;
        }
        let patience = self.health.patience();
        let trusted = self.watched.iter().filter(|watch| watch.opinion == Opinion::Reachable);
        trusted.map(|watch| watch.detector.suspect_at(patience)).fold(self.next_beat, Timestamp::min)
    }
}
