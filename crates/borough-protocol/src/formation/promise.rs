//! One promise at a time: what keeps two nodes from founding the same cluster.

use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Address, Incarnation, Uid};
use crate::time::Timestamp;

/// To whom a seed has promised not to found, and not to let another found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    ToMyself,
    To { whom: Uid, attempt: u32, until: Timestamp },
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
        (whom, attempt): (Uid, u32),
        is_earlier: bool,
        until: Timestamp,
        flaws: Flaws,
    ) -> Verdict {
        self.expire(now);
        match *self {
            Self::ToMyself if is_earlier => {
                *self = Self::To { whom, attempt, until };
                Verdict::Yielded
            }
            Self::To { whom: other, attempt: before, .. } if other == whom && before <= attempt => {
                *self = Self::To { whom, attempt, until };
                Verdict::Granted
            }
            Self::ToMyself | Self::To { .. } if flaws.has(Flaw::TwoPromises) => Verdict::Granted,
            Self::ToMyself | Self::To { .. } => Verdict::Denied,
        }
    }

    /// `attempt` was given up. A later one of the same node is another matter: this word of it may be old.
    pub(super) fn release(&mut self, from: Uid, gone: u32) {
        if matches!(self, Self::To { whom, attempt, .. } if *whom == from && *attempt <= gone) {
            *self = Self::ToMyself;
        }
    }

    pub(super) fn expire(&mut self, now: Timestamp) {
        if matches!(self, Self::To { until, .. } if *until <= now) {
            *self = Self::ToMyself;
        }
    }
}

/// Whether `them` comes before `me`: by the list, if both have the same one; else by address, on which both agree too.
pub(super) fn is_earlier(
    them: &Incarnation,
    their_seeds: &[Address],
    me: &Incarnation,
    my_seeds: &[Address],
) -> bool {
    let place = |address: &Address| my_seeds.iter().position(|seed| seed == address);
    match (place(&them.address), place(&me.address)) {
        (Some(theirs), Some(mine)) if their_seeds == my_seeds => theirs < mine,
        _ => them.address < me.address,
    }
}
