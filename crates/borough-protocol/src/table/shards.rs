//! The part of the table that says who owns which shard.
//!
//! ```text
//! (none) --Own--> owned --Move--> moving --Settle--> owned, by another
//!                   ^                |---CallOff, or the one it moves to is removed--> owned, as before
//!                   +-- owner removed, freed: Own --+
//!                   +-- owner hosts the type no more: Own, or it hosts the type again --+
//!                   +-- a store has seen a higher epoch: Raise, same owner, same lineage --+
//! ```
//! A step that no longer fits changes nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ancestors::is_far_ahead;
use super::{Removed, State, Table};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::sharding::{Entry, Epoch, Kind, KindId, ShardId, Step};

/// No table has more types.
pub(super) const KINDS_MAX: usize = 1024;

/// The types of a table have no more shards in all: what is said of so many still fits one message.
pub(super) const SHARDS_MAX: u64 = 1 << 17;

/// A type of entities: what all agreed upon, who hosts it, who owns its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "super::wire::KindClaim"))]
pub struct KindTable {
    pub(super) kind: Arc<Kind>,
    pub(super) hosts: BTreeSet<Uid>,
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::wire::shards"))]
    pub(super) shards: BTreeMap<u32, Entry>,
}

/// Why a table never declares a type, whoever wants it: types are never forgotten, so what is full stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// It has as many types as a table may have.
    Kinds {
        /// How many those are.
        max: usize,
    },
    /// Its types and that one would have more shards than a table may have.
    Shards {
        /// How many its types have.
        declared: u64,
        /// How many they may have.
        max: u64,
    },
}

/// Where each type is, by its name. Shared by all copies of a table, because types are never forgotten.
pub(super) type Names = Arc<BTreeMap<Arc<str>, KindId>>;

/// The names of these types; those beyond what an id can say have none.
#[cfg(feature = "serde")]
pub(super) fn names(kinds: &[Arc<KindTable>]) -> Names {
    let ids = (0..=u16::MAX).map(KindId);
    Arc::new(kinds.iter().map(|kind| kind.kind.name.clone()).zip(ids).collect())
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

    /// Whether that node hosts the type, and none of its shards moves away from there.
    ///
    /// What it still owns then has nobody from there on, until another is named: it must have dropped that before.
    pub fn may_end_hosting(&self, uid: Uid) -> bool {
        let moves_away = |entry: &Entry| entry.owner == uid && entry.moving.is_some();
        self.hosts.contains(&uid) && !self.shards.values().any(moves_away)
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
        let id = *self.names.get(name)?;
        Some((id, self.kind(id)?))
    }

    /// What is said of that shard; `None` if it never had an owner.
    pub fn shard(&self, shard: ShardId) -> Option<&Entry> {
        self.kind(shard.kind)?.shards.get(&shard.number)
    }

    /// Whether a type may be declared so: it is sound, no other has its name, and there is room for its shards.
    pub fn may_declare(&self, kind: &Kind) -> bool {
        kind.is_sound() && self.room_for(kind).is_ok() && self.kind_named(&kind.name).is_none()
    }

    /// Whether there is room for one more type, of so many shards.
    pub fn room_for(&self, kind: &Kind) -> Result<(), NoRoom> {
        let declared: u64 = self.kinds.iter().map(|kind| u64::from(kind.kind.shards)).sum();
        if self.kinds.len() >= KINDS_MAX {
            Err(NoRoom::Kinds { max: KINDS_MAX })
        } else if declared + u64::from(kind.shards) > SHARDS_MAX {
            Err(NoRoom::Shards { declared, max: SHARDS_MAX })
        } else {
            Ok(())
        }
    }

    pub(super) fn declare(&mut self, kind: &Arc<Kind>) -> bool {
        // Bounded far below what an id can say.
        let Some(id) = u16::try_from(self.kinds.len()).ok().filter(|_| self.may_declare(kind)) else {
            return false;
        };
        let (hosts, shards) = (BTreeSet::new(), BTreeMap::new());
        self.kinds.push(Arc::new(KindTable { kind: kind.clone(), hosts, shards }));
        Arc::make_mut(&mut self.names).insert(kind.name.clone(), KindId(id));
        true
    }

    pub(super) fn host(&mut self, uid: Uid, id: KindId) -> bool {
        let era = self.cluster.era;
        // What it left behind would be its own again: nothing is given to a member that leaves.
        let stays = self.stays(uid);
        let Some(kind) = self.kind_mut(id).filter(|kind| stays && !kind.hosts.contains(&uid)) else {
            return false;
        };
        kind.hosts.insert(uid);
        // What it left behind when it hosted the type last begins anew there: what lived at the epoch before never will again.
        for entry in kind.shards.values_mut().filter(|entry| entry.owner == uid) {
            let epoch = issued(era, Some(entry)).next();
            *entry = Entry { owner: uid, epoch, issued: epoch, lineage: epoch, moving: None };
        }
        true
    }

    pub(super) fn end_hosting(&mut self, uid: Uid, id: KindId) -> bool {
        if !self.kind(id).is_some_and(|kind| kind.may_end_hosting(uid)) {
            return false;
        }
        self.kind_mut(id).is_some_and(|kind| {
            call_off_to(kind, uid);
            kind.hosts.remove(&uid)
        })
    }

    /// Whether any of the steps changed anything.
    pub(super) fn take_steps(&mut self, steps: &[(ShardId, Step)]) -> bool {
        steps.iter().fold(false, |changed, (shard, step)| self.take_step(*shard, *step) | changed)
    }

    fn take_step(&mut self, shard: ShardId, step: Step) -> bool {
        match (self.after(shard, step), self.kind_mut(shard.kind)) {
            (Some(entry), Some(kind)) => {
                kind.shards.insert(shard.number, entry);
                true
            }
            (Some(_) | None, _) => false,
        }
    }

    /// What would be said of that shard after that step; `None` if it does not fit.
    pub fn after(&self, shard: ShardId, step: Step) -> Option<Entry> {
        match (step, self.shard(shard)) {
            (Step::Own(to, epoch), before) => {
                let may_begin =
                    before.is_none_or(|entry| self.is_free(entry.owner) || self.is_left(shard.kind, entry));
                let fits = epoch == self.next_epoch(shard) && self.has(shard);
                (may_begin && fits && self.may_host(to, shard.kind)).then_some(Entry {
                    owner: to,
                    epoch,
                    issued: epoch,
                    lineage: epoch,
                    moving: None,
                })
            }
            (Step::Move(to, epoch), Some(entry)) => {
                let fits = entry.moving.is_none() && entry.owner != to && epoch == self.next_epoch(shard);
                let both = self.members.contains_key(&entry.owner) && self.may_host(to, shard.kind);
                (fits && both).then_some(Entry { issued: epoch, moving: Some((to, epoch)), ..*entry })
            }
            (Step::Settle(epoch), Some(entry)) => entry
                .moving
                .filter(|(_, at)| *at == epoch)
                .map(|(to, _)| Entry { owner: to, epoch, moving: None, ..*entry }),
            (Step::CallOff(epoch), Some(entry)) => {
                // The epoch is burnt: whatever was installed at it must never be taken for what comes later.
                let burnt = !self.flaws.has(Flaw::CallOffReusesEpoch);
                let issued = if burnt { entry.issued } else { entry.epoch };
                entry.moving.filter(|(_, at)| *at == epoch).map(|_| Entry { moving: None, issued, ..*entry })
            }
            (Step::Raise(epoch), Some(entry)) => {
                let rises = epoch > entry.issued && !self.is_far_ahead(epoch);
                (rises && self.members.contains_key(&entry.owner)).then_some(Entry {
                    epoch,
                    issued: epoch,
                    moving: None,
                    ..*entry
                })
            }
            (Step::Move(..) | Step::Settle(_) | Step::CallOff(_) | Step::Raise(_), None) => None,
        }
    }

    /// The highest epoch that is handed out for that shard, or can never be: all of the eras before are over.
    ///
    /// A type that is not declared (`None`) has no shard that was handed out in this era.
    pub fn issued(&self, shard: Option<ShardId>) -> Epoch {
        issued(self.cluster.era, shard.and_then(|shard| self.shard(shard)))
    }

    /// The epoch at which that shard would begin anew, or be owned by the one it moves to.
    pub fn next_epoch(&self, shard: ShardId) -> Epoch {
        self.issued(Some(shard)).next()
    }

    /// Whether the era of that epoch lies more than ten years beyond this cluster's. Such an epoch is the error of a clock or of a store: it is never
    /// handed out.
    pub fn is_far_ahead(&self, epoch: Epoch) -> bool {
        is_far_ahead(epoch.era(), self.cluster.era)
    }

    /// The epoch at which the owner of that shard would go on once a store has seen that one; `None` if it is [far ahead](Self::is_far_ahead).
    pub fn epoch_above(&self, shard: ShardId, seen: Epoch) -> Option<Epoch> {
        let sound = (!self.is_far_ahead(seen)).then(|| self.issued(Some(shard)).max(seen).next());
        sound.filter(|epoch| !self.is_far_ahead(*epoch))
    }

    /// Whether what that node owned may have a new owner: it is no member, and its lease is over by any clock.
    pub fn is_free(&self, uid: Uid) -> bool {
        let freed = |removed: &Removed| removed.freed || self.flaws.has(Flaw::AllocatesBeforeFreed);
        !self.members.contains_key(&uid) && self.removed.get(&uid).is_none_or(freed)
    }

    /// Whether nobody has that shard of the type because its owner, a member still, hosts the type no more.
    pub fn is_left(&self, kind: KindId, entry: &Entry) -> bool {
        let hosted = self.kind(kind).is_some_and(|kind| self.counts_as_host(entry.owner, kind));
        !hosted && self.members.contains_key(&entry.owner)
    }

    /// Whether shards of that type may be given to that member: it hosts the type, and stays.
    pub fn may_host(&self, uid: Uid, kind: KindId) -> bool {
        let hosts = |kind: &KindTable| self.counts_as_host(uid, kind);
        self.stays(uid) && self.kind(kind).is_some_and(hosts)
    }

    /// Whether it is a member and does not leave: only such a one becomes a host, or an owner.
    pub fn stays(&self, uid: Uid) -> bool {
        let stays = |state| state == State::Active || self.flaws.has(Flaw::RebalanceToLeavingNode);
        self.members.get(&uid).is_some_and(|member| stays(member.state))
    }

    /// Who may be given a shard must also keep it: else a coordinator that is alone would give it anew without end.
    fn counts_as_host(&self, uid: Uid, kind: &KindTable) -> bool {
        kind.hosts.contains(&uid) || self.flaws.has(Flaw::OwnerWithoutHosting)
    }

    /// Whether there is such a shard.
    pub fn has(&self, shard: ShardId) -> bool {
        self.kind(shard.kind).is_some_and(|kind| shard.number < kind.kind.shards)
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

    /// The shards that move to that node.
    pub fn moving_to(&self, uid: Uid) -> impl Iterator<Item = ShardId> {
        (0..).zip(&self.kinds).flat_map(move |(place, kind)| {
            let moves = move |entry: &Entry| entry.moving.is_some_and(|(to, _)| to == uid);
            let moving = kind.shards.iter().filter(move |(_, entry)| moves(entry));
            moving.map(move |(number, _)| ShardId { kind: KindId(place), number: *number })
        })
    }
}

fn issued(era: u32, entry: Option<&Entry>) -> Epoch {
    let before = Epoch::before(era);
    entry.map_or(before, |entry| entry.issued.max(before))
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
