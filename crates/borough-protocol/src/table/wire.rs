//! A table as a peer says it is: only one that entries could have made is taken.
//!
//! Each member is filed under its own uid, so that is not said twice.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serializer};

use super::ancestors::is_far_ahead;
use super::shards::{KINDS_MAX, SHARDS_MAX, names};
use super::{Ancestors, Cluster, KindTable, Member, Removed, Table};
use crate::flaws::Flaws;
use crate::incarnation::Uid;
use crate::sharding::{Entry, Epoch, Kind};
use crate::version::Version;
use crate::voters::Voters;

/// No log gets that far, so that a place or term may be counted on from.
const END: u64 = 1 << 62;

/// No shard has so many owners in one era, so that its epoch may be counted on from.
const EPOCHS_END: u64 = 1 << 31;

/// What is there before it is looked at; laid out as what is written of a [`Table`].
#[derive(Deserialize)]
pub(super) struct Claim {
    cluster: Cluster,
    ancestors: Ancestors,
    version: Version,
    voters: Voters,
    most_voters: u32,
    #[serde(deserialize_with = "filed")]
    members: BTreeMap<Uid, Member>,
    removed: BTreeMap<Uid, Removed>,
    closing: bool,
    #[serde(deserialize_with = "kinds")]
    kinds: Vec<Arc<KindTable>>,
}

/// A type as it is written, before it is looked at.
#[derive(Deserialize)]
pub(super) struct KindClaim {
    kind: Arc<Kind>,
    #[serde(deserialize_with = "ascending")]
    hosts: BTreeSet<Uid>,
    #[serde(deserialize_with = "numbered")]
    shards: BTreeMap<u32, Entry>,
}

/// Shards with their numbers, in order: as a list, whatever the format has for maps.
pub(super) fn shards<S: Serializer>(shards: &BTreeMap<u32, Entry>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(shards)
}

fn kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<KindTable>>, D::Error> {
    let mut kinds = Vec::new();
    crate::wire::each(deserializer, |kind: Arc<KindTable>, _| {
        ensure(kinds.len() < KINDS_MAX, "there are too many types")?;
        kinds.push(kind);
        Ok(())
    })?;
    Ok(kinds)
}

fn ascending<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Uid>, D::Error> {
    let mut uids = BTreeSet::new();
    crate::wire::each(deserializer, |uid: Uid, _| {
        ensure(uids.last().is_none_or(|last| *last < uid), "hosts are not in order")?;
        uids.insert(uid);
        Ok(())
    })?;
    Ok(uids)
}

fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, Entry>, D::Error> {
    let mut shards = BTreeMap::new();
    crate::wire::each(deserializer, |(number, entry): (u32, Entry), _| {
        ensure(shards.last_key_value().is_none_or(|(last, _)| *last < number), "shards are not in order")?;
        shards.insert(number, entry);
        Ok(())
    })?;
    Ok(shards)
}

impl TryFrom<KindClaim> for KindTable {
    type Error = &'static str;

    fn try_from(claim: KindClaim) -> Result<Self, Self::Error> {
        let KindClaim { kind, hosts, shards } = claim;
        ensure(kind.is_sound(), "a type has no name, shards or codec, or too much of it")?;
        let last = shards.last_key_value();
        ensure(last.is_none_or(|(number, _)| *number < kind.shards), "there is no shard of such a number")?;
        Ok(Self { kind, hosts, shards })
    }
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
        let settled = if self.voters.is_joint() { 0 } else { self.voters.now.len() };
        ensure(
            usize::try_from(self.most_voters).is_ok_and(|most| settled <= most),
            "more vote than ever voted at once",
        )?;
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
        )?;
        self.check_kinds()
    }

    fn check_kinds(&self) -> Result<(), &'static str> {
        let mut names = BTreeSet::new();
        let mut all = 0;
        for kind in &self.kinds {
            ensure(names.insert(&kind.kind.name), "two types have one name")?;
            all += u64::from(kind.kind.shards);
            ensure(kind.hosts.iter().all(|uid| self.members.contains_key(uid)), "a stranger hosts a type")?;
            kind.shards.values().try_for_each(|entry| self.check_entry(kind, entry))?;
        }
        ensure(all <= SHARDS_MAX, "there are too many shards")
    }

    fn check_entry(&self, kind: &KindTable, entry: &Entry) -> Result<(), &'static str> {
        let Entry { owner, epoch, issued, lineage, moving } = *entry;
        let counts = issued >= epoch && epoch >= lineage && lineage > Epoch::ZERO;
        ensure(counts, "the epochs of a shard do not rise")?;
        let end = Epoch::new((u64::from(self.cluster.era) << 32) | EPOCHS_END);
        // One whose epoch was raised is of a later era than its cluster.
        let raised = issued.era() > self.cluster.era && !is_far_ahead(issued.era(), self.cluster.era);
        ensure(issued < end || raised, "a shard had more owners than there can be")?;
        let hosts = kind.hosts.contains(&owner) || !self.members.contains_key(&owner);
        ensure(hosts, "a member owns what it does not host")?;
        let arrives =
            |(to, at): (Uid, Epoch)| kind.hosts.contains(&to) && to != owner && epoch < at && at <= issued;
        ensure(moving.is_none_or(arrives), "a shard moves to where it cannot")
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
        let Claim { cluster, ancestors, version, voters, most_voters, members, removed, closing, kinds } =
            claim;
        let (names, flaws) = (names(&kinds), Flaws::default());
        Ok(Self {
            cluster,
            ancestors,
            version,
            voters,
            most_voters,
            members,
            removed,
            closing,
            kinds,
            names,
            flaws,
        })
    }
}

fn ensure(holds: bool, what: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(what) }
}
