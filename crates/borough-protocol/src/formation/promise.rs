//! One promise at a time: what keeps two nodes from founding the same cluster.

use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Address, Incarnation, Uid};
use crate::time::Timestamp;

/// To whom a seed has promised not to found, and not to let another found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    ToMyself,
    To { node: Incarnation, attempt: u32, until: Timestamp },
}

/// What a seed says to one who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It had promised to the same before.
    Granted,
    /// It had promised to itself, and takes that back.
    Yielded,
    Denied,
}

impl Promise {
    pub(super) fn asked(
        &mut self,
        now: Timestamp,
        (node, attempt): (&Incarnation, u32),
        yields: bool,
        until: Timestamp,
        flaws: Flaws,
    ) -> Verdict {
        self.expire(now);
        match self {
            Self::ToMyself if yields => {
                *self = Self::To { node: node.clone(), attempt, until };
                Verdict::Yielded
            }
            Self::To { node: other, attempt: before, .. } if other.uid == node.uid && *before <= attempt => {
                *self = Self::To { node: node.clone(), attempt, until };
                Verdict::Granted
            }
            Self::ToMyself | Self::To { .. } if flaws.has(Flaw::TwoPromises) => Verdict::Granted,
            Self::ToMyself | Self::To { .. } => Verdict::Denied,
        }
    }

    /// Whether that life has it for that attempt.
    pub(super) fn is_to(&self, uid: Uid, of: u32) -> bool {
        matches!(self, Self::To { node, attempt, .. } if node.uid == uid && *attempt == of)
    }

    /// The life of another node that has it.
    pub(super) fn node(&self) -> Option<&Incarnation> {
        match self {
            Self::ToMyself => None,
            Self::To { node, .. } => Some(node),
        }
    }

    /// Whose it is, on the node that listens at `own`.
    pub(super) fn holder<'a>(&'a self, own: &'a Address) -> &'a Address {
        match self {
            Self::ToMyself => own,
            Self::To { node, .. } => &node.address,
        }
    }

    /// `attempt` was given up. A later one of the same node is another matter: this word of it may be old.
    pub(super) fn release(&mut self, from: Uid, gone: u32) {
        if matches!(self, Self::To { node, attempt, .. } if node.uid == from && *attempt <= gone) {
            *self = Self::ToMyself;
        }
    }

    pub(super) fn expire(&mut self, now: Timestamp) {
        if matches!(self, Self::To { until, .. } if *until <= now) {
            *self = Self::ToMyself;
        }
    }
}
