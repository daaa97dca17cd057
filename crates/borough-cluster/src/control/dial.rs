//! How the control lane gets its connections: what it needs of the door, and nothing more.

use std::io::ErrorKind;

use borough_protocol::incarnation::{Address, Uid};
use borough_wire::handshake::Reason;

use crate::door::{Connection, DialError, Door, Lane};
use crate::transport::Boxed;

/// Why there is no connection, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The host of the address is a name that does not resolve.
    Unresolved(String),
    /// Nobody listens there.
    Nobody(String),
    /// Another life than the one that was meant listens there.
    AnotherLife,
    /// This node itself listens there.
    Myself,
    /// It cannot be reached, or does not answer.
    Unreachable(String),
    /// It does not let this node in; somebody should know.
    Refused(String),
}

/// Which kind of connection of the control lane it is: one may not take the other's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To one life.
    ToLife(Uid),
    /// To whoever listens.
    ToWhoever,
}

impl Use {
    /// Its number in the handshake.
    pub(super) fn session(self) -> u64 {
        match self {
            Self::ToLife(_) => 0,
            Self::ToWhoever => 1,
        }
    }

    /// The numbers that there are.
    pub(super) const SESSIONS: std::ops::RangeInclusive<u64> = 0..=1;
}

/// Makes connections of the control lane.
pub(super) trait Dial: Send + Sync {
    /// Connects; it ends in bounded time.
    fn dial<'a>(&'a self, to: &'a Address, what_for: Use) -> Boxed<'a, Result<Connection, Failure>>;
}

impl Dial for Door {
    fn dial<'a>(&'a self, to: &'a Address, what_for: Use) -> Boxed<'a, Result<Connection, Failure>> {
        let expect = match what_for {
            Use::ToLife(uid) => Some(uid),
            Use::ToWhoever => None,
        };
        Box::pin(async move {
            let dialled = Door::dial(self, to, expect, Lane::Control, what_for.session()).await;
            dialled.map_err(|error| Failure::of(&error))
        })
    }
}

impl Failure {
    fn of(error: &DialError) -> Self {
        let text = error.to_string();
        match error {
            DialError::Unresolved { .. } => Self::Unresolved(text),
            DialError::Unreachable { source, .. }
                if matches!(source.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset) =>
            {
                Self::Nobody(text)
            }
            DialError::Unreachable { .. }
            | DialError::TimedOut { .. }
            | DialError::Refused { reason: Reason::Busy, .. } => Self::Unreachable(text),
            DialError::Refused { reason: Reason::NotMe, .. } => Self::AnotherLife,
            DialError::Myself { .. } | DialError::Refused { reason: Reason::Myself, .. } => Self::Myself,
            DialError::NotBorough { .. }
            | DialError::NotCertified { .. }
            | DialError::NotAuthenticated { .. }
            | DialError::Versions { .. }
            | DialError::Refused { .. }
            | DialError::Unspeakable(_) => Self::Refused(text),
        }
    }
}
