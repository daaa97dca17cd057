//! Why a handshake fails.

use super::{Refusal, Versions};
use crate::limits::TEXT_MAX;

/// A handshake that ends without a connection. Both sides forget about it; who dialled may dial again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The other side speaks something else.
    #[error(
        "the other side begins with {begins:?} and does not speak Borough: is it the port of another service, or does it expect TLS?"
    )]
    NotBorough {
        /// Its first bytes, as far as they can be shown.
        begins: String,
    },
    /// A message that breaks the layout or the order.
    #[error("the {message} is malformed: {what}; does the other side run the same software?")]
    Malformed {
        /// Which message was due.
        message: &'static str,
        /// What is wrong with it.
        what: &'static str,
    },
    /// No common version.
    #[error(
        "this node speaks version {ours} of the wire and the other side {theirs}: upgrade one version at a time"
    )]
    Versions {
        /// What this node speaks.
        ours: Versions,
        /// What the other side speaks.
        theirs: Versions,
    },
    /// The dialer belongs to another cluster.
    #[error(
        "the dialer {address:?} is of the cluster {theirs:?} and this node of {ours:?}: correct its seeds or its cluster name"
    )]
    OtherCluster {
        /// Where the dialer says it is reached.
        address: String,
        /// The dialer's cluster.
        theirs: String,
        /// This node's cluster.
        ours: String,
    },
    /// The dialer wants a node that is not, or no longer, here.
    #[error(
        "the node {expected:#x} was expected at this address and {uid:#x} is there: it was restarted, and is another node now"
    )]
    NotMe {
        /// Who was expected.
        expected: u64,
        /// Who is there.
        uid: u64,
    },
    /// The other side does not know the secret, or plays back what it once heard.
    #[error(
        "the other side did not prove that it knows the secret: set the same secret on all nodes, or on none"
    )]
    NotAuthenticated,
    /// A node dialled itself.
    #[error("this is the node's own address: it needs no connection to itself")]
    Myself,
    /// The acceptor refused.
    #[error("the connection was refused: {0}")]
    Refused(Refusal),
    /// The acceptor refused for a reason that this version does not know.
    #[error(
        "the connection was refused for a reason that is newer than this program (number {number}): {what:?}"
    )]
    RefusedUnknown {
        /// The number of the reason.
        number: u8,
        /// What the acceptor says about it.
        what: String,
    },
    /// A name or address of this node that is too long to be sent.
    #[error("this node's {field} has {length} bytes and may have {TEXT_MAX}: shorten it")]
    OurText {
        /// Which one.
        field: &'static str,
        /// Its bytes.
        length: usize,
    },
    /// This node has no number.
    #[error("the uid of this node is 0: draw another")]
    OurUid,
    /// A message after the handshake has ended.
    #[error("the handshake is over: what follows are frames")]
    Over,
}
