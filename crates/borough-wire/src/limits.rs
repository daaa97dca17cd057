//! Every limit of size, in one place: what a peer can make a node hold, and for how long.
//!
//! The constants are defaults and hard bounds; [`Limits`] is what a user may set, checked before anything uses it.
//! "Bytes after the length" means what the length field of a frame counts.

use core::ops::RangeInclusive;
use core::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The largest frame, in bytes after the length; the default of [`Limits::frame_max`]. Large enough that a batch of messages is
/// one write, small enough that a large message does not hold up a lane: it travels as many frames.
pub const FRAME_MAX: usize = 256 * KIB;
/// What [`Limits::frame_max`] may be. The least holds every frame that is never cut into chunks.
pub const FRAME_MAX_RANGE: RangeInclusive<usize> = 4 * KIB..=16 * MIB;
/// The largest message of the handshake, in bytes after its length. A stranger makes a node hold no more than this.
pub const BEFORE_AUTHENTICATION: usize = 4 * KIB;
/// The largest message, in bytes, as one frame or as chunks; the default of [`Limits::message_max`]. A lane gathers one message
/// at a time, so this is also what a peer makes a node hold for each lane.
pub const MESSAGE_MAX: usize = 8 * MIB;
/// The most that [`Limits::message_max`] may be. Above it, data belongs in a store, and messages should say where.
pub const MESSAGE_MAX_MOST: usize = 1024 * MIB;
/// The longest path of an actor, in bytes.
pub const PATH_MAX: usize = 1024;
/// The longest other text, in bytes: names of types and clusters, addresses, reasons.
pub const TEXT_MAX: usize = 512;
/// How many bytes a reader holds once a peer says much; beyond it only for a frame that does not fit. One read then takes what a
/// socket usually has.
pub const READ_BUFFER: usize = 256 * KIB;
/// How many messages wait for a lane at most; the default of [`Limits::queue_messages`]. Beyond it senders wait.
pub const QUEUE_MESSAGES: usize = 2048;
/// How many bytes wait for a lane at most; the default of [`Limits::queue_bytes`]. Beyond it senders wait.
pub const QUEUE_BYTES: usize = MIB;
/// While so many bytes of answers wait for a lane, asks of its peer wait for their turn, each no longer than its asker does. The peer reads answers whatever
/// its actors do, so this ends.
pub const ANSWERS_FULL: usize = 4 * MIB;
/// How many bytes of answers wait for a lane at most: those of turns that had begun, and of what answers outside of a turn. Beyond it an answer is lost, and its
/// ask fails at once.
pub const ANSWERS_MAX: usize = 256 * MIB;
/// How many bytes of notices wait for a lane at most, beyond messages and answers: that an ask has no answer, that an actor is gone, words of sharding.
pub const NOTICES_MAX: usize = 16 * MIB;
/// How many bytes a lane sends ahead of what the peer has acknowledged; the default of [`Limits::unacked_max`]. They are kept, so
/// that a broken connection is resumed without loss. Enough for 1 GB/s at a round trip of 1 ms; with four times as much, each
/// message cost a tenth more, because what is kept no longer fits into the processor's cache.
pub const UNACKED_MAX: usize = MIB;
/// How many control messages wait for a peer at most. Control messages repeat themselves: beyond this the oldest are worthless.
pub const CONTROL_QUEUE_MESSAGES: usize = 1024;
/// How many bytes of control messages wait for a peer at most.
pub const CONTROL_QUEUE_BYTES: usize = 8 * MIB;
/// How many handshakes a node answers at once; the default of [`Limits::handshakes_at_once`]. With [`BEFORE_AUTHENTICATION`]
/// and [`HANDSHAKE_TIME`] it bounds what strangers cost. When there are more, the oldest has to go: so many must come while an
/// honest handshake takes its milliseconds before one of those suffers.
pub const HANDSHAKES_AT_ONCE: usize = 1024;
/// How many inbound connections a node keeps; the default of [`Limits::connections_max`].
pub const CONNECTIONS_MAX: usize = 4096;
/// How long a handshake may take, in time; the default of [`Limits::handshake_time`].
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// How few bytes a shared secret may have. Who sees one handshake can try secrets at leisure; 16 random bytes are out of reach.
pub const SECRET_MIN: usize = 16;

/// What a user may set. [`Limits::check`] says whether it holds together.
///
/// A node tells its peers `frame_max` and `message_max` in the handshake, so nodes may differ; the others are nobody else's
/// business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest frame taken, in bytes after the length, within [`FRAME_MAX_RANGE`]. Default [`FRAME_MAX`]. Raised, large
    /// messages are cheaper and hold up the lane for longer.
    pub frame_max: usize,
    /// The largest message taken, in bytes, at least `frame_max` and at most [`MESSAGE_MAX_MOST`]. Default [`MESSAGE_MAX`].
    /// Raised, each lane of a peer may make the node hold more.
    pub message_max: usize,
    /// How many messages wait for a lane, a count of at least 1. Default [`QUEUE_MESSAGES`]. Raised, senders wait later, and
    /// more is lost with a node.
    pub queue_messages: usize,
    /// How many bytes wait for a lane, at least `frame_max`. Default [`QUEUE_BYTES`].
    pub queue_bytes: usize,
    /// How many bytes are sent ahead of what is acknowledged, at least `frame_max`. Default [`UNACKED_MAX`]. Raised, distant
    /// peers are reached at full speed and more is kept for each.
    pub unacked_max: usize,
    /// How many handshakes are answered at once, a count of at least 1. Default [`HANDSHAKES_AT_ONCE`].
    pub handshakes_at_once: usize,
    /// How many inbound connections are kept, a count of at least 3, the lanes of one peer. Default [`CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// How long a handshake may take, in time, at least 10 ms. Default [`HANDSHAKE_TIME`]. Lowered, strangers are gone sooner, and
    /// slow networks may not connect.
    pub handshake_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_max: FRAME_MAX,
            message_max: MESSAGE_MAX,
            queue_messages: QUEUE_MESSAGES,
            queue_bytes: QUEUE_BYTES,
            unacked_max: UNACKED_MAX,
            handshakes_at_once: HANDSHAKES_AT_ONCE,
            connections_max: CONNECTIONS_MAX,
            handshake_time: HANDSHAKE_TIME,
        }
    }
}

impl Limits {
    /// Whether the limits hold together.
    ///
    /// # Errors
    /// The first that does not, with the bounds it must keep.
    pub fn check(&self) -> Result<(), LimitError> {
        let within = |limit, value, range: RangeInclusive<usize>| {
            let (least, most) = (*range.start(), *range.end());
            if range.contains(&value) { Ok(()) } else { Err(LimitError::Size { limit, value, least, most }) }
        };
        within("frame_max", self.frame_max, FRAME_MAX_RANGE)?;
        within("message_max", self.message_max, self.frame_max..=MESSAGE_MAX_MOST)?;
        within("queue_messages", self.queue_messages, 1..=usize::MAX)?;
        within("queue_bytes", self.queue_bytes, self.frame_max..=usize::MAX)?;
        within("unacked_max", self.unacked_max, self.frame_max..=usize::MAX)?;
        within("handshakes_at_once", self.handshakes_at_once, 1..=usize::MAX)?;
        within("connections_max", self.connections_max, 3..=usize::MAX)?;
        let least = Duration::from_millis(10);
        if self.handshake_time < least {
            return Err(LimitError::Time { limit: "handshake_time", value: self.handshake_time, least });
        }
        Ok(())
    }
}

impl Limits {
    /// What the node takes from its peers, as they are told.
    pub fn sizes(&self) -> Sizes {
        Sizes { frame_max: self.frame_max, message_max: self.message_max }
    }
}

/// What the receiving side of a connection takes, as it said in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The largest frame, in bytes after the length.
    pub frame_max: usize,
    /// The largest message, in bytes, as one frame or as chunks.
    pub message_max: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { frame_max: FRAME_MAX, message_max: MESSAGE_MAX }
    }
}

/// A limit that does not hold. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A size or a count out of its bounds.
    #[error("the limit {limit} is {value} and must be from {least} to {most}: set it so")]
    Size {
        /// The limit.
        limit: &'static str,
        /// What it is.
        value: usize,
        /// The least that it may be.
        least: usize,
        /// The most that it may be.
        most: usize,
    },
    /// A time below its bound.
    #[error("the limit {limit} is {value:?} and must be at least {least:?}: raise it")]
    Time {
        /// The limit.
        limit: &'static str,
        /// What it is.
        value: Duration,
        /// The least that it may be.
        least: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold_together() {
        assert_eq!(Limits::default().check(), Ok(()));
    }

    #[test]
    fn each_limit_out_of_bounds_is_named() {
        type Change = fn(&mut Limits);
        let cases: [(&str, Change); 9] = [
            ("frame_max", |limits| limits.frame_max = 4 * KIB - 1),
            ("frame_max", |limits| limits.frame_max = 16 * MIB + 1),
            ("message_max", |limits| limits.message_max = FRAME_MAX - 1),
            ("message_max", |limits| limits.message_max = MESSAGE_MAX_MOST + 1),
            ("queue_messages", |limits| limits.queue_messages = 0),
            ("queue_bytes", |limits| limits.queue_bytes = FRAME_MAX - 1),
            ("unacked_max", |limits| limits.unacked_max = 0),
            ("handshakes_at_once", |limits| limits.handshakes_at_once = 0),
            ("connections_max", |limits| limits.connections_max = 2),
        ];
        for (name, change) in cases {
            let mut limits = Limits::default();
            change(&mut limits);
            let error = limits.check().expect_err(name);
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_handshake_without_time_is_refused() {
        let limits = Limits { handshake_time: Duration::from_millis(9), ..Limits::default() };
        assert_eq!(
            limits.check().unwrap_err().to_string(),
            "the limit handshake_time is 9ms and must be at least 10ms: raise it"
        );
    }

    #[test]
    fn the_bounds_themselves_are_allowed() {
        let least = Limits { frame_max: 4 * KIB, message_max: 4 * KIB, ..Limits::default() };
        let most = Limits {
            frame_max: 16 * MIB,
            message_max: MESSAGE_MAX_MOST,
            queue_bytes: 16 * MIB,
            unacked_max: 16 * MIB,
            ..Limits::default()
        };
        assert_eq!((least.check(), most.check()), (Ok(()), Ok(())));
    }
}
