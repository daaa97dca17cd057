//! The door of a node: who comes in, who is let in, and what is said there.
//!
//! ```text
//! accepted --secure--> handshake --proved--> entered
//!     |          |         |
//!     +----------+---------+--> refused: counted by reason, logged once
//! ```

mod accept;
mod dial;
mod listen;
pub(crate) mod refusals;
mod seat;
pub(crate) mod seldom;
#[cfg(test)]
mod tests;
mod turns;
mod waiting;
mod words;

use std::sync::Arc;

use borough_protocol::incarnation::Incarnation;
use borough_wire::codec::Codecs;
pub(crate) use borough_wire::handshake::Lane;
use borough_wire::handshake::{Identity, SPOKEN, Secret};
use borough_wire::limits::Limits;
use tokio::sync::Semaphore;

pub(crate) use self::dial::DialError;
pub(crate) use self::refusals::RefusalCounts;
use self::refusals::Refusals;
use crate::chance::Chance;
use crate::myself::Myself;
use crate::transport::{Stream, Transport};

/// The door of one node, for those who come and for the node when it goes to others.
pub(crate) struct Door {
    transport: Arc<dyn Transport>,
    secret: Option<Secret>,
    cluster: String,
    myself: Myself,
    limits: Limits,
    chance: Chance,
    refusals: Refusals,
    /// One for each connection that may be kept of those that came in.
    seats: Arc<Semaphore>,
}

impl Door {
    /// A door through which nobody comes before [`listen`](Self::listen). The limits are checked ones.
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        secret: Option<Secret>,
        cluster: String,
        myself: Myself,
        limits: Limits,
        chance: Chance,
    ) -> Self {
        let seats = Arc::new(Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS)));
        Self { transport, secret, cluster, myself, limits, chance, refusals: Refusals::default(), seats }
    }

    /// How many were not let in, by reason.
    pub(crate) fn refusals(&self) -> RefusalCounts {
        self.refusals.counts()
    }

    /// As which this node introduces itself now.
    fn identity(&self) -> Identity {
        let Incarnation { address, uid } = self.myself.incarnation();
        Identity {
            cluster: self.cluster.clone(),
            address: address.as_str().to_owned(),
            uid: uid.get(),
            codecs: Codecs::built_in(),
            versions: SPOKEN,
        }
    }
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
    /// The admission of one who came in; 0 at the side that dialled.
    pub(crate) ticket: u64,
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
    /// Whether it may come in; the reason if not.
    fn admit(&self, guest: &Guest) -> Result<Admission, NotAdmitted>;

    /// It came in.
    fn enter(&self, connection: Connection);
}

/// What one who may come in is told, and what it is known by when it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Admission {
    /// How many bytes of its session have arrived here.
    pub(crate) resume: u64,
    /// Which admission this is: much can happen before the guest enters.
    pub(crate) ticket: u64,
}

/// Why one who proved itself may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// That life was removed from the cluster.
    Removed,
    /// There is no room for more.
    TooMany,
}
