//! What simulated actors say to each other.

use borough_actor::{ActorRef, Reply};
use serde::{Deserialize, Serialize};

/// Names one message: the stream it belongs to, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) stream: u32,
    pub(super) number: u32,
}

/// An actor somewhere, and what is known of it where its ref came from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Contact {
    pub(super) actor: ActorRef<Words>,
    /// The life of the node it was found on.
    pub(super) life: u64,
    /// The life of the node that found it: what a node found in one life leads nowhere in the next.
    pub(super) found_in: u64,
    /// For one that may be stopped: how many at its place had been stopped when it was looked for.
    pub(super) stops: Option<u32>,
}

/// What becomes of the reply of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    /// It is answered.
    Answer,
    /// It is answered after so many milliseconds, in which the actor is deaf.
    Slowly(u16),
    /// It is dropped.
    Forget,
    /// It is kept, and answered by nobody.
    Keep,
}

/// What can be said to a counter.
#[derive(Serialize, Deserialize)]
pub(super) enum Words {
    /// Count this.
    Count { mark: Mark, load: String },
    /// Count this, and answer, or not.
    Say { mark: Mark, answer: Mark, how: How, reply: Reply<Mark> },
    /// Tell somebody else to count.
    Meet { mark: Mark, whom: Contact },
    /// Have somebody else answer.
    PassOn { mark: Mark, to: Contact, reply: Reply<Mark> },
    /// Watch somebody.
    Watch { mark: Mark, whom: Contact },
    /// One who was watched is gone.
    Gone { watch: u32 },
}

impl Words {
    /// Whether an answer is wanted.
    pub(super) fn is_ask(&self) -> bool {
        matches!(self, Self::Say { .. } | Self::PassOn { .. })
    }

    /// Which message it is; none for what does not travel.
    pub(super) fn mark(&self) -> Option<Mark> {
        match self {
            Self::Count { mark, .. }
            | Self::Say { mark, .. }
            | Self::Meet { mark, .. }
            | Self::PassOn { mark, .. }
            | Self::Watch { mark, .. } => Some(*mark),
            Self::Gone { .. } => None,
        }
    }
}
