//! What became of the messages of a type on this node, counted; and why some were refused.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use borough_actor::DeadLetterReason;
use serde::{Deserialize, Serialize};

/// Why a message was refused: no handler saw it, and whoever sent it learns so where that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// As much waited for a way as may.
    Full,
    /// Its shard has no place on this node, or too much waits there.
    Unplaced,
    /// Its shard has moved, and it could not be sent on.
    Unforwarded,
    /// It waited for a way as the node or the type ended here.
    Ended,
    /// It came from another node and was for no shard there is here, or could not be read.
    Misdirected,
}

/// Messages that were refused on one node, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShardRefusals {
    /// They could not wait, by `try_tell`, and as much waited for a way as may; see [`hold_limit`](super::ShardBuilder::hold_limit).
    pub full: u64,
    /// Their shard had no place there, or too much waited for it or for their entity.
    pub unplaced: u64,
    /// Their shard had moved, and they could not be sent on: the node it moved to was lost, or too much waited to be sent on.
    pub unforwarded: u64,
    /// They waited for a way as the node or the type ended there.
    pub ended: u64,
    /// They came from another node for no shard there is, or could not be read.
    pub misdirected: u64,
}

impl ShardRefusals {
    /// All of them, with the name of the reason.
    pub fn by_reason(&self) -> [(&'static str, u64); 5] {
        [
            ("full", self.full),
            ("unplaced", self.unplaced),
            ("unforwarded", self.unforwarded),
            ("ended", self.ended),
            ("misdirected", self.misdirected),
        ]
    }
}

/// Messages of one type that no handler saw, by the reason: its share of the system's dead letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShardDeadLetters {
    /// They were accepted, and their entity or its shard ended before their turn.
    pub unhandled: u64,
    /// Whoever asked had given up before their turn.
    pub asker_gone: u64,
    /// They came from another node and could not be decoded.
    pub unreadable: u64,
    /// Any other reason.
    pub other: u64,
}

impl ShardDeadLetters {
    /// All of them, with the name of the reason.
    pub fn by_reason(&self) -> [(&'static str, u64); 4] {
        [
            ("unhandled", self.unhandled),
            ("asker_gone", self.asker_gone),
            ("unreadable", self.unreadable),
            ("other", self.other),
        ]
    }
}

/// The counters themselves. None of them is on the way of a message that is handled.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) forwarded: AtomicUsize,
    refused: [AtomicU64; 5],
    dead: [AtomicU64; 4],
    /// Workers that did not answer 15 pings.
    pub(super) wedged: AtomicU64,
    /// Handlers that ran on for longer than `max_pause` after the lease was over.
    pub(super) overran: AtomicU64,
}

impl Counts {
    pub(super) fn refuse(&self, why: Why, count: u64) {
        self.refused[why as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn bury(&self, reason: DeadLetterReason) {
        let place = match reason {
            DeadLetterReason::Unhandled => 0,
            DeadLetterReason::AskerGone => 1,
            DeadLetterReason::Unreadable => 2,
            _ => 3,
        };
        self.dead[place].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refusals(&self) -> ShardRefusals {
        let [full, unplaced, unforwarded, ended, misdirected] =
            std::array::from_fn(|place| self.refused[place].load(Ordering::Relaxed));
        ShardRefusals { full, unplaced, unforwarded, ended, misdirected }
    }

    pub(super) fn dead_letters(&self) -> ShardDeadLetters {
        let [unhandled, asker_gone, unreadable, other] =
            std::array::from_fn(|place| self.dead[place].load(Ordering::Relaxed));
        ShardDeadLetters { unhandled, asker_gone, unreadable, other }
    }
}
