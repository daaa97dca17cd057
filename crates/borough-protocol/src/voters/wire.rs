//! Voters as a peer says they are: before the first list there are none, and from then on always some.

use alloc::collections::BTreeSet;

use super::{VoterId, Voters};
use crate::version::Version;

/// What is there before it is looked at; laid out as [`Voters`].
#[derive(serde::Deserialize)]
pub(super) struct Claim {
    id: Version,
    now: BTreeSet<VoterId>,
    next: BTreeSet<VoterId>,
}

impl TryFrom<Claim> for Voters {
    type Error = &'static str;

    fn try_from(claim: Claim) -> Result<Self, Self::Error> {
        let Claim { id, now, next } = claim;
        let voters = Self { id, now, next };
        if voters.now.is_empty() && voters != Self::default() { Err("nobody votes") } else { Ok(voters) }
    }
}
