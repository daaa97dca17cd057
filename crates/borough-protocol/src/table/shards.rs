//! The part of the table that says who owns which shard.
//!
//! ```text
//! (none) --Own--> owned --Move--> moving --Settle--> owned, by another
//!                   ^                |---CallOff, or the one it moves to is removed--> owned, as before
//!                   +-- owner removed, freed: Own --+
//! ```
//! A step that no longer fits changes nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{State, Table};
use crate::incarnation::Uid;
use crate::sharding::{Entry, Epoch, Kind, KindId, ShardId, Step};

/// No table has more types.
const KINDS_MAX: usize = 1024;

/// A type of entities: what all agreed upon, who hosts it, who owns its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KindTable {
    pub(super) kind: Arc<Kind>,
    pub(super) hosts: BTreeSet<Uid>,
    pub(super) shards: BTreeMap<u32, Entry>,
}

impl KindTable {
    /// What all agreed upon.
    pub fn kind(&self) -> &Arc<Kind> {
        &self.kind
    }

    /// The members that can host its shards, those that leave among them.
    pub fn hosts(&self) -> &BTreeSet<Uid> {
        &self.hosts
    }

    /// The shards that have, or had, an owner.
    pub fn shards(&self) -> &BTreeMap<u32, Entry> {
        &self.shards
    }
}

impl Table {
    /// The types of entities, each at its [`KindId`]'s place.
    pub fn kinds(&self) -> &[Arc<KindTable>] {
        &self.kinds
    }

    /// The type of that id.
    pub fn kind(&self, id: KindId) -> Option<&KindTable> {
        self.kinds.get(usize::from(id.0)).map(|kind| &**kind)
    }

    /// The type of that name.
    pub fn kind_named(&self, name: &str) -> Option<(KindId, &KindTable)> {
        let place = self.kinds.iter().position(|kind| &*kind.kind.name == name)?;
        Some((KindId(u16::try_from(place).ok()?), &self.kinds[place]))
    }

    /// What is said of that shard; `None` if it never had an owner.
    pub fn shard(&self, shard: ShardId) -> Option<&Entry> {
        self.kind(shard.kind)?.shards.get(&shard.number)
    }

    pub(super) fn declare(&mut self, kind: &Arc<Kind>) -> bool {
        let fits = kind.shards > 0 && self.kinds.len() < KINDS_MAX && self.kind_named(&kind.name).is_none();
        if fits {
            let (hosts, shards) = (BTreeSet::new(), BTreeMap::new());
            self.kinds.push(Arc::new(KindTable { kind: kind.clone(), hosts, shards }));
        }
        fits
    }

    pub(super) fn host(&mut self, uid: Uid, id: KindId) -> bool {
        let is_member = self.members.contains_key(&uid);
        self.kind_mut(id).is_some_and(|kind| is_member && kind.hosts.insert(uid))
    }

    pub(super) fn end_hosting(&mut self, uid: Uid, id: KindId) -> bool {
        let owns = |kind: &KindTable| kind.shards.values().any(|entry| entry.owner == uid);
        match self.kind_mut(id) {
            Some(kind) if kind.hosts.contains(&uid) && !owns(kind) => {
                call_off_to(kind, uid);
                kind.hosts.remove(&uid)
            }
            Some(_) | None => false,
        }
    }

    /// Whether any of the steps changed anything.
    pub(super) fn take_steps(&mut self, steps: &[(ShardId, Step)]) -> bool {
        steps.iter().fold(false, |changed, (shard, step)| self.take_step(*shard, *step) | changed)
    }

    fn take_step(&mut self, shard: ShardId, step: Step) -> bool {
        let changed = match (step, self.shard(shard)) {
            (Step::Own(to, epoch), before) => {
                let may_begin = before.is_none_or(|entry| self.is_free(entry.owner));
                let first = before.map_or(Epoch::first(self.cluster.era), |entry| {
                    entry.issued.next().max(Epoch::first(self.cluster.era))
                });
                (may_begin && epoch == first && self.may_host(to, shard)).then_some(Entry {
                    owner: to,
                    epoch,
                    issued: epoch,
                    lineage: epoch,
                    moving: None,
                })
            }
            (Step::Move(to, epoch), Some(entry)) => {
                let fits = entry.moving.is_none() && entry.owner != to && epoch == entry.issued.next();
                let both = self.members.contains_key(&entry.owner) && self.may_host(to, shard);
                (fits && both).then_some(Entry { issued: epoch, moving: Some((to, epoch)), ..*entry })
            }
            (Step::Settle(epoch), Some(entry)) => entry
                .moving
                .filter(|(_, at)| *at == epoch)
                .map(|(to, _)| Entry { owner: to, epoch, moving: None, ..*entry }),
            (Step::CallOff(epoch), Some(entry)) => {
                entry.moving.filter(|(_, at)| *at == epoch).map(|_| Entry { moving: None, ..*entry })
            }
            (Step::Move(..) | Step::Settle(_) | Step::CallOff(_), None) => None,
        };
        match (changed, self.kind_mut(shard.kind)) {
            (Some(entry), Some(kind)) => {
                kind.shards.insert(shard.number, entry);
                true
            }
            (Some(_) | None, _) => false,
        }
    }

    /// Whether what that node owned may have a new owner.
    fn is_free(&self, uid: Uid) -> bool {
        !self.members.contains_key(&uid) && self.removed.get(&uid).is_none_or(|removed| removed.freed)
    }

    fn may_host(&self, uid: Uid, shard: ShardId) -> bool {
        let stays = self.members.get(&uid).is_some_and(|member| member.state == State::Active);
        let kind = self.kind(shard.kind);
        stays && kind.is_some_and(|kind| kind.hosts.contains(&uid) && shard.number < kind.kind.shards)
    }

    fn kind_mut(&mut self, id: KindId) -> Option<&mut KindTable> {
        self.kinds.get_mut(usize::from(id.0)).map(Arc::make_mut)
    }

    /// A member is gone: it hosts nothing, and nothing moves to it. What it owned stays its own until another is named.
    pub(super) fn bereave(&mut self, uid: Uid) {
        let concerned = |kind: &&mut Arc<KindTable>| kind.hosts.contains(&uid);
        for kind in self.kinds.iter_mut().filter(concerned) {
            let kind = Arc::make_mut(kind);
            kind.hosts.remove(&uid);
            call_off_to(kind, uid);
        }
    }

    /// The shards that node owns, or that are orphans of it.
    pub fn owned_by(&self, uid: Uid) -> impl Iterator<Item = (ShardId, &Entry)> {
        (0..).zip(&self.kinds).flat_map(move |(place, kind)| {
            let owned = kind.shards.iter().filter(move |(_, entry)| entry.owner == uid);
            owned.map(move |(number, entry)| (ShardId { kind: KindId(place), number: *number }, entry))
        })
    }
}

fn call_off_to(kind: &mut KindTable, uid: Uid) {
    let moves: Vec<u32> = kind
        .shards
        .iter()
        .filter(|(_, entry)| entry.moving.is_some_and(|(to, _)| to == uid))
        .map(|(number, _)| *number)
        .collect();
    for number in moves {
        if let Some(entry) = kind.shards.get_mut(&number) {
            entry.moving = None;
        }
    }
}
