//! A table as a peer says it is: only one that entries could have made is taken.
//!
//! Each member is filed under its own uid, so that is not said twice.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serializer};

use super::{Cluster, KindTable, Member, Removed, Table};
use crate::flaws::Flaws;
use crate::incarnation::Uid;
use crate::version::Version;
use crate::voters::Voters;

/// No log gets that far, so that a place or term may be counted on from.
const END: u64 = 1 << 62;

/// What is there before it is looked at; laid out as what is written of a [`Table`].
#[derive(Deserialize)]
pub(super) struct Claim {
    cluster: Cluster,
    version: Version,
    voters: Voters,
    #[serde(deserialize_with = "filed")]
    members: BTreeMap<Uid, Member>,
    removed: BTreeMap<Uid, Removed>,
    closing: bool,
    kinds: Vec<Arc<KindTable>>,
}

pub(super) fn members<S: Serializer>(
    members: &BTreeMap<Uid, Member>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(members.values())
}

fn filed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Uid, Member>, D::Error> {
    let mut members = BTreeMap::new();
    crate::wire::each(deserializer, |member: Member, _| {
        let uid = member.incarnation.uid;
        if members.last_key_value().is_some_and(|(last, _)| *last >= uid) {
            return Err("members are not in order");
        }
        members.insert(uid, member);
        Ok(())
    })?;
    Ok(members)
}

impl Claim {
    fn check(&self) -> Result<(), &'static str> {
        ensure(
            self.version.index < END && self.version.term.get() < END,
            "a table is further than any log gets",
        )?;
        ensure(self.voters.id.index <= self.version.index, "voters are newer than their table")?;
        let mut addresses = BTreeSet::new();
        let mut admissions = BTreeSet::new();
        for (uid, member) in &self.members {
            ensure(!self.removed.contains_key(uid), "a removed node is a member")?;
            ensure(addresses.insert(&member.incarnation.address), "two members have one address")?;
            ensure(admissions.insert(member.admission.index), "two members came with one entry")?;
            ensure(self.has(member.admission) && self.has(member.changed), "no entry speaks of a member")?;
            ensure(
                member.admission.index <= member.changed.index,
                "a member was changed before it was admitted",
            )?;
        }
        ensure(
            self.removed.values().all(|removed| self.has(removed.version)),
            "no entry speaks of a removed node",
        )
    }

    /// Whether there is an entry at that place.
    fn has(&self, version: Version) -> bool {
        (1..=self.version.index).contains(&version.index)
    }
}

impl TryFrom<Claim> for Table {
    type Error = &'static str;

    fn try_from(claim: Claim) -> Result<Self, Self::Error> {
        claim.check()?;
        let Claim { cluster, version, voters, members, removed, closing, kinds } = claim;
        Ok(Self { cluster, version, voters, members, removed, closing, kinds, flaws: Flaws::default() })
    }
}

fn ensure(holds: bool, what: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(what) }
}
