//! What an acceptor says when it will not have a connection.

use core::fmt;

use super::layout::{Fields, put_message, put_text};
use super::messages::REFUSED;
use super::{HandshakeError, Versions};

/// Why. Its number is its place on the wire and never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The dialer's cluster has another name; which one is here is not said.
    OtherCluster,
    /// No common version; these are spoken here.
    Versions(Versions),
    /// Another life of the node is here now.
    NotMe,
    /// No proof of the secret.
    NotAuthenticated,
    /// Not now: the node starts or stops.
    Busy,
    /// The dialer was removed from the cluster.
    Removed,
    /// A message broke the layout.
    Malformed,
    /// There are as many connections or handshakes as may be.
    TooMany,
    /// The dialer is this node.
    Myself,
}

impl Reason {
    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Self::OtherCluster => 1,
            Self::Versions(_) => 2,
            Self::NotMe => 3,
            Self::NotAuthenticated => 4,
            Self::Busy => 5,
            Self::Removed => 6,
            Self::Malformed => 7,
            Self::TooMany => 8,
            Self::Myself => 9,
        }
    }

    fn from_number(number: u8, versions: Versions) -> Option<Self> {
        let reason = match number {
            1 => Self::OtherCluster,
            2 => Self::Versions(versions),
            3 => Self::NotMe,
            4 => Self::NotAuthenticated,
            5 => Self::Busy,
            6 => Self::Removed,
            7 => Self::Malformed,
            8 => Self::TooMany,
            9 => Self::Myself,
            _ => return None,
        };
        Some(reason)
    }

    /// What is wrong, and what to do: what a refusal says unless it has words of its own.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::OtherCluster => ("it belongs to another cluster", "correct the seeds or the cluster name"),
            Self::Versions(_) => ("there is no common version", "upgrade one version at a time"),
            Self::NotMe => ("another node is at this address now", "forget the one that was"),
            Self::NotAuthenticated => {
                ("the secret was not proven", "set the same secret on all nodes, or on none")
            }
            Self::Busy => ("it takes no connections now", "try again soon"),
            Self::Removed => ("the dialer was removed from the cluster", "restart it, so that it joins anew"),
            Self::Malformed => ("a message was malformed", "run the same software on all nodes"),
            Self::TooMany => {
                ("it has all the connections that it may have", "try again later, or raise its limits")
            }
            Self::Myself => ("the dialer is this very node", "a node needs no connection to itself"),
        }
    }
}

/// A refusal: why, and in words what is wrong and what to do about it.
///
/// It carries no proof: whoever can write to the connection can refuse in another's name. Take it for a connection that
/// failed, never for a decision of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// What is wrong; cut to [`TEXT_MAX`](crate::limits::TEXT_MAX) bytes when it is sent.
    pub what: String,
    /// What to do about it; cut likewise.
    pub remedy: String,
}

impl Refusal {
    /// Appends it as a message, ready to be sent; the connection is to be closed after it.
    pub fn put(&self, out: &mut Vec<u8>) {
        let none = Versions { min: 0, max: 0 };
        let versions = if let Reason::Versions(versions) = self.reason { versions } else { none };
        put_message(out, REFUSED, |out| {
            out.push(self.reason.number());
            out.extend_from_slice(&versions.min.to_le_bytes());
            out.extend_from_slice(&versions.max.to_le_bytes());
            put_text(out, &self.what);
            put_text(out, &self.remedy);
        });
    }

    /// Reads the fields; the inner error is a reason that this version does not know. More fields of a newer node are skipped.
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Result<Self, HandshakeError>, HandshakeError> {
        let number = fields.byte()?;
        let versions = Versions { min: fields.short()?, max: fields.short()? };
        let (what, remedy) = (fields.text()?.to_owned(), fields.text()?.to_owned());
        Ok(match Reason::from_number(number, versions) {
            Some(reason) => Ok(Self { reason, what, remedy }),
            None => Err(HandshakeError::RefusedUnknown { number, what }),
        })
    }
}

/// With the usual words.
impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        let (what, remedy) = reason.words();
        Self { reason, what: what.to_owned(), remedy: remedy.to_owned() }
    }
}

/// The words come from a peer: what is no plain text in them is shown as escapes.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what.escape_debug(), self.remedy.escape_debug())
    }
}
