//! What a coordinator knows of the others during its term.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::VoterId;

/// One other node, as seen by the coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// When it last answered in this term.
    pub(super) answered: Timestamp,
    /// How far it is known to have this node's log.
    pub(super) matched: u64,
    /// When it was last sent what it lacks.
    repaired: Option<Timestamp>,
    /// The end of what it was sent then, if more was to follow.
    more_behind: Option<u64>,
    /// Which end of its log it was last told to cut, and when.
    cut: Option<(Version, Timestamp)>,
    /// Since when its log has ended below what it had confirmed, in every answer.
    short_since: Option<Timestamp>,
}

impl Peer {
    /// Notes an answer that ends at `last`. Whether all of them have ended below what is confirmed for so long that this
    /// one was not overtaken on the way.
    pub(super) fn is_short(&mut self, now: Timestamp, last: u64, patience: Duration) -> bool {
        if last >= self.matched {
            self.short_since = None;
            return false;
        }
        now >= *self.short_since.get_or_insert(now) + patience
    }

    /// It has lost what it had.
    pub(super) fn lose(&mut self) {
        (self.matched, self.short_since, self.more_behind) = (0, None, None);
    }

    /// Whether it may be sent what it lacks, its log ending at `last`: once in a while, or at once when the part sent before
    /// has arrived. Each answer of a node that is behind would beget a resend else, each with an answer of its own.
    pub(super) fn may_repair(&self, now: Timestamp, every: Duration, last: u64) -> bool {
        self.repaired.is_none_or(|at| now >= at + every) || self.more_behind.is_some_and(|end| last >= end)
    }

    /// Notes that it was sent what it lacks; `more_behind` is the end of that, if more is to follow.
    pub(super) fn repaired(&mut self, now: Timestamp, more_behind: Option<u64>) {
        self.repaired = Some(now);
        self.more_behind = more_behind;
    }

    /// Whether it may be told to cut its log, which ends at `last`: once for each end, or again after a while.
    pub(super) fn may_cut(&mut self, now: Timestamp, every: Duration, last: Version) -> bool {
        let again = self.cut.is_some_and(|(end, at)| end == last && now < at + every);
        if !again {
            self.cut = Some((last, now));
        }
        !again
    }
}

/// The others, by uid: only those the newest lists name.
#[derive(Debug, Default)]
pub(super) struct Peers {
    map: BTreeMap<VoterId, Peer>,
}

impl Peers {
    pub(super) fn clear(&mut self) {
        self.map.clear();
    }

    pub(super) fn retain(&mut self, named: impl Fn(VoterId) -> bool) {
        self.map.retain(|uid, _| named(*uid));
    }

    pub(super) fn get(&self, uid: VoterId) -> Option<&Peer> {
        self.map.get(&uid)
    }

    /// What is known of that node, which answered just now.
    pub(super) fn answered(&mut self, uid: VoterId, now: Timestamp) -> &mut Peer {
        let fresh = Peer {
            answered: now,
            matched: 0,
            repaired: None,
            more_behind: None,
            cut: None,
            short_since: None,
        };
        let peer = self.map.entry(uid).or_insert(fresh);
        peer.answered = now;
        peer
    }

    pub(super) fn get_mut(&mut self, uid: VoterId) -> Option<&mut Peer> {
        self.map.get_mut(&uid)
    }
}
