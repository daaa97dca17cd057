//! A clock as a peer says it is: the entries travel, and what follows from them is found again.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer};

use super::{Author, VectorClock, entry_hash};

/// What is there before it is looked at; laid out as what is written of a [`VectorClock`].
#[derive(Deserialize)]
pub(super) struct Claim {
    #[serde(deserialize_with = "in_order")]
    entries: Vec<(Author, u64)>,
}

fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(Author, u64)>, D::Error> {
    crate::wire::ascending(deserializer, |entry: &(Author, u64)| entry.0)
}

impl TryFrom<Claim> for VectorClock {
    type Error = &'static str;

    fn try_from(claim: Claim) -> Result<Self, Self::Error> {
        let Claim { entries } = claim;
        if entries.iter().any(|(_, count)| *count == 0) {
            return Err("a clock counts no change");
        }
        let hash = entries.iter().fold(0, |hash, &(author, count)| hash ^ entry_hash(author, count));
        Ok(Self { hash, entries })
    }
}
