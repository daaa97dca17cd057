//! The door of a node: who comes in, who is let in, and what is said there.
//!
//! ```text
//! accepted --secure--> handshake --proved--> entered
//!     |          |         |
//!     +----------+---------+--> refused: counted by reason, logged once
//! ```

use borough_protocol::incarnation::Incarnation;

use crate::transport::Stream;

/// What a connection is for. Each has a direction: only the one who dialled sends frames, the other acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// Heartbeats, gossip, the log, leases: what keeps a cluster together.
    Control,
    /// Messages to actors, and whatever must keep its order with them.
    Messages,
    /// Answers to asks. Apart, because a full mailbox must not hold them up.
    Answers,
}

/// One who wants to come in, and has proved what it says.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    /// Who.
    pub(crate) who: Incarnation,
    /// What for.
    pub(crate) lane: Lane,
    /// Which use of the lane: one session survives many connections.
    pub(crate) session: u64,
}

/// A connection that both sides agreed on.
pub(crate) struct Connection {
    /// Who is at the other end.
    pub(crate) peer: Incarnation,
    /// What it is for.
    pub(crate) lane: Lane,
    /// Which session it belongs to.
    pub(crate) session: u64,
    /// How many bytes of the session have arrived before.
    pub(crate) resume: u64,
    /// The largest frame that both take.
    pub(crate) frame_max: u32,
    /// The largest message that both take.
    pub(crate) message_max: u32,
    /// What the other side can decode: one bit a codec.
    pub(crate) codecs: u8,
    /// The connection itself; nothing but frames from here on.
    pub(crate) stream: Box<dyn Stream>,
}

/// Decides who may come in, and takes those who did.
pub(crate) trait Doorman: Send + Sync {
    /// Whether it may come in, and how many bytes of its session have arrived here; the reason if not.
    fn admit(&self, guest: &Guest) -> Result<u64, NotAdmitted>;

    /// It came in.
    fn enter(&self, connection: Connection);
}

/// Why one who proved itself may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// That life was removed from the cluster.
    Removed,
    /// There is no room for more.
    TooMany,
}
