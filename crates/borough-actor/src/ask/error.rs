//! How an ask can fail.

use std::time::Duration;

use crate::tell::Unsendable;

/// Why an ask got no answer. [`AskError::may_have_been_handled`] says whether asking again is safe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The actor had stopped; the message was not handled.
    #[error("{path} has stopped; the message was not handled")]
    Stopped {
        /// The actor that was asked.
        path: String,
    },
    /// The mailbox was full and is set to refuse; the message was not handled.
    #[error("the mailbox of {path} is full and refuses; the message was not handled")]
    Full {
        /// The actor that was asked.
        path: String,
    },
    /// The message was accepted, and discarded before a handler saw it: the actor stopped, or its mailbox overflowed. So it is too if the actor lives on
    /// another node and was gone already, or its node could not decode the message.
    #[error("{path} discarded the message before handling it")]
    Discarded {
        /// The actor that was asked.
        path: String,
    },
    /// The message reached the actor, and its [`Reply`](crate::Reply) was dropped without an answer: by the
    /// handler, or because the handler failed; or it came from another node, to which too many answers were
    /// on their way. It may have been handled.
    #[error("{path} dropped the reply without answering; the message may have been handled")]
    NoAnswer {
        /// The actor that was asked.
        path: String,
    },
    /// No answer came in time.
    #[error("{path} did not answer within {timeout:?}; the message {}", if *.accepted { "may have been handled" } else { "was not handled" })]
    Timeout {
        /// The actor that was asked.
        path: String,
        /// The timeout of this ask.
        timeout: Duration,
        /// Whether the mailbox had accepted the message. If it had, the message may have been handled;
        /// if not, it was still waiting for room and was withdrawn, or it waited on another node, which dropped it because the time was up.
        accepted: bool,
    },
    /// The ask would wait for itself: the actor asked waits for the asker, directly or through others.
    /// The message was not sent.
    #[error("asking {path} from here would wait for ever: {}; the message was not sent", .circle.join(" asks "))]
    Cycle {
        /// The actor that was asked.
        path: String,
        /// The actors that wait for each other, beginning and ending with the one asked.
        circle: Vec<String>,
    },
    /// The actor's node was lost, or out of reach for 30 s, before an answer came. If the message had been sent, it may have been handled.
    #[error("the node of {path} was lost before it answered; the message {}", if *.sent { "may have been handled" } else { "was not sent" })]
    NodeLost {
        /// The actor that was asked.
        path: String,
        /// Whether the message had been sent.
        sent: bool,
    },
    /// The message cannot travel to the actor's node; it was not sent.
    #[error("the message cannot travel to {path}: {why}; it was not sent")]
    Unsendable {
        /// The actor that was asked.
        path: String,
        /// What is in the way.
        why: Unsendable,
    },
    /// An answer came from another node, and it cannot be decoded, or there could be none: it could not be encoded. The message was handled.
    #[error("the answer of {path} cannot be read: its type differs between the nodes, or it cannot travel")]
    Unreadable {
        /// The actor that was asked.
        path: String,
    },
    /// Sixteen million asks of this system are under way; the message was not sent.
    #[error("too many asks are under way in this system; the message was not sent")]
    TooMany,
}

impl AskError {
    /// Whether a handler may have seen the message. If `false`, asking again cannot do the work twice.
    pub fn may_have_been_handled(&self) -> bool {
        match self {
            Self::NoAnswer { .. } | Self::Unreadable { .. } => true,
            Self::Timeout { accepted, .. } => *accepted,
            Self::NodeLost { sent, .. } => *sent,
            Self::Stopped { .. }
            | Self::Full { .. }
            | Self::Discarded { .. }
            | Self::Cycle { .. }
            | Self::Unsendable { .. }
            | Self::TooMany => false,
        }
    }
}
