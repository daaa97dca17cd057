//! Going to another node's door.
//!
//! Promise: whoever is there has proved what it says before a connection is handed out, and all of it, names and TLS
//! included, takes no longer than a handshake may.

use std::io;

use borough_protocol::incarnation::{Address, Uid};
use borough_wire::handshake::{Call, Dialer, HandshakeError, Link, Reason, Versions};
use tokio::time::timeout;

use super::words::{Broken, hear, incarnation, say};
use super::{Connection, Door, Lane};
use crate::transport::{Stream, Unresolved};

/// Why there is no connection. Nothing is left open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    /// The host of the address is a name that does not resolve.
    #[error("{source}")]
    Unresolved {
        /// What the resolver says, with the address.
        source: io::Error,
    },
    /// Nobody answers there, or the connection broke.
    #[error("{address} cannot be reached: {source}")]
    Unreachable {
        /// Where.
        address: Address,
        /// What the network says.
        source: io::Error,
    },
    /// It was not ready in time.
    #[error("{address} did not answer in time")]
    TimedOut {
        /// Where.
        address: Address,
    },
    /// Something else listens there.
    #[error("{address} is no node: {why}")]
    NotBorough {
        /// Where.
        address: Address,
        /// How that was noticed.
        why: String,
    },
    /// One of the two certificates is not good enough for the other side.
    #[error("{address} and this node do not accept each other's certificates: {source}")]
    NotCertified {
        /// Where.
        address: Address,
        /// What TLS says.
        source: io::Error,
    },
    /// One of the two has not proved to the other that it may be there.
    #[error("{address} and this node do not know each other: {why}")]
    NotAuthenticated {
        /// Where.
        address: Address,
        /// What was not proved, and what to do.
        why: String,
    },
    /// No version of the protocol is spoken by both.
    #[error("{address} speaks version {theirs} and this node {ours}: upgrade one version at a time")]
    Versions {
        /// Where.
        address: Address,
        /// What this node speaks.
        ours: Versions,
        /// What it speaks.
        theirs: Versions,
    },
    /// It says no.
    #[error("{address} refused the connection ({reason:?}): {why}")]
    Refused {
        /// Where.
        address: Address,
        /// Why: `NotMe`, `Removed`, `OtherCluster`, `Busy`, `TooMany` or `Malformed`.
        reason: Reason,
        /// The same in words.
        why: String,
    },
    /// It is this node.
    #[error("{address} is this node itself")]
    Myself {
        /// Where.
        address: Address,
    },
    /// This node cannot introduce itself.
    #[error("this node cannot introduce itself: {0}")]
    Unspeakable(HandshakeError),
}

impl Door {
    /// Connects to whoever listens there, or to that one life of it alone. Bounded by the time of a handshake; dropping the
    /// future leaves nothing behind but a connection that closes at the other side.
    pub(crate) async fn dial(
        &self,
        to: &Address,
        expect: Option<Uid>,
        lane: Lane,
        session: u64,
    ) -> Result<Connection, DialError> {
        let call = Call { lane, session, expected: expect.map(Uid::get) };
        match timeout(self.limits.handshake_time, self.greet(to, call)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(DialError::TimedOut { address: to.clone() }),
        }
    }

    async fn greet(&self, to: &Address, call: Call) -> Result<Connection, DialError> {
        let mut stream = self.transport.dial(to).await.map_err(|error| by_io(to, error))?;
        let link = self.introduce(&mut stream, call).await.map_err(|broken| by(to, broken))?;
        let not_borough = |why: &str| DialError::NotBorough { address: to.clone(), why: why.to_owned() };
        let peer =
            incarnation(&link.address, link.uid).ok_or_else(|| not_borough("no node can be called so"))?;
        // It may be known by another address than the one that was dialled, such as a name for all seeds.
        if stream.vouches_for(&peer.address) == Some(false) {
            let text =
                format!("its certificate is not valid for {}, which it says is its address", peer.address);
            let source = io::Error::new(io::ErrorKind::PermissionDenied, text);
            return Err(DialError::NotCertified { address: to.clone(), source });
        }
        let (ours, theirs) = (self.limits.sizes(), link.sizes);
        let least = |one: usize, other: usize| u32::try_from(one.min(other)).unwrap_or(u32::MAX);
        Ok(Connection {
            peer,
            lane: call.lane,
            session: call.session,
            resume: link.resume,
            ticket: 0,
            frame_max: least(ours.frame_max, theirs.frame_max),
            message_max: least(ours.message_max, theirs.message_max),
            codecs: link.codecs.mask(),
            stream,
        })
    }

    async fn introduce(&self, stream: &mut Box<dyn Stream>, call: Call) -> Result<Link, Broken> {
        let mut out = Vec::new();
        let (ours, secret) = (self.identity(), self.secret.clone());
        let mut dialer = Dialer::new(ours, call, secret, self.chance.nonce(), &mut out)?;
        loop {
            let said = say(stream, &mut out).await;
            let message = match (hear(stream, &mut false).await, said) {
                (Ok(message), _) => message,
                // It may have closed before it was spoken to, and have said why.
                (Err(Broken::Io(why)), Err(_)) if why.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(why.into());
                }
                (Err(_), Err(error)) => return Err(error.into()),
                (Err(broken), Ok(())) => return Err(broken),
            };
            if let Some(link) = dialer.step(&message, &mut out)? {
                return Ok(link);
            }
        }
    }
}

fn by_io(to: &Address, source: io::Error) -> DialError {
    let address = to.clone();
    match source.kind() {
        _ if Unresolved::is_in(&source) => DialError::Unresolved { source },
        io::ErrorKind::PermissionDenied => DialError::NotCertified { address, source },
        io::ErrorKind::InvalidData => DialError::NotBorough { address, why: source.to_string() },
        _ => DialError::Unreachable { address, source },
    }
}

fn by(to: &Address, broken: Broken) -> DialError {
    let address = to.clone();
    let error = match broken {
        Broken::Io(error) => return by_io(to, error),
        Broken::Handshake(error) => error,
    };
    let why = error.to_string();
    match error {
        HandshakeError::Myself => DialError::Myself { address },
        HandshakeError::NotAuthenticated => DialError::NotAuthenticated { address, why },
        HandshakeError::Versions { ours, theirs } => DialError::Versions { address, ours, theirs },
        HandshakeError::NotMe { .. } => DialError::Refused { address, reason: Reason::NotMe, why },
        HandshakeError::Refused(refusal) => match refusal.reason {
            Reason::NotAuthenticated => DialError::NotAuthenticated { address, why: refusal.to_string() },
            reason => DialError::Refused { address, reason, why: refusal.to_string() },
        },
        HandshakeError::OurText { .. } | HandshakeError::OurUid => DialError::Unspeakable(error),
        _ => DialError::NotBorough { address, why },
    }
}
