//! How all shards lie: what one look at the table shows, with how much each host has.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Scene;
use crate::incarnation::Uid;
use crate::sharding::allocation::{HostLoad, compare_versions};
use crate::sharding::{Entry, KindId, ShardId, ShardReport};
use crate::table::{KindTable, State, Table};
use crate::time::Timestamp;

/// What the table shows, type by type.
pub(super) struct Survey<'a> {
    pub(super) kinds: Vec<KindSurvey<'a>>,
    /// How many shards of all types each node has, what is being given to it included.
    totals: BTreeMap<Uid, usize>,
}

/// How the shards of one type lie.
pub(super) struct KindSurvey<'a> {
    pub(super) id: KindId,
    pub(super) table: &'a KindTable,
    /// Those that may be given shards, and are well.
    pub(super) hosts: Vec<HostLoad>,
    /// Of these, those that run the newest version of the program: only they are given shards while versions are mixed.
    pub(super) newest: Vec<HostLoad>,
    /// How many may be given shards, well or not.
    pub(super) active: usize,
    pub(super) is_mixed: bool,
    pub(super) moving: Vec<(ShardId, Entry)>,
    /// Shards whose owner is gone and freed, or hosts the type no more.
    pub(super) orphans: Vec<ShardId>,
    /// Shards that have to go elsewhere because their owner leaves, or hosts the type no more.
    pub(super) leaving: Vec<(ShardId, Entry)>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(
        scene: &Scene<'a>,
        now: Timestamp,
        reports: &BTreeMap<Uid, Arc<ShardReport>>,
        held_back: &BTreeSet<Uid>,
    ) -> Self {
        let table = scene.table;
        let mut loads: Vec<BTreeMap<Uid, usize>> = Vec::new();
        let mut totals: BTreeMap<Uid, usize> = BTreeMap::new();
        for kind in table.kinds() {
            let mut load = BTreeMap::new();
            for entry in kind.shards().values() {
                *load.entry(destination(entry)).or_default() += 1;
            }
            for (uid, count) in &load {
                *totals.entry(*uid).or_default() += count;
            }
            loads.push(load);
        }
        let kinds = (0..).zip(table.kinds()).zip(&loads);
        let kinds = kinds.map(|((place, kind), load)| {
            let ended = |uid: Uid, id| reports.get(&uid).is_some_and(|report| report.ended.contains(&id));
            let id = KindId(place);
            let mut survey = KindSurvey::of_shards(id, kind, table, |uid| ended(uid, id));
            let may = |uid: &Uid| table.may_host(*uid, id) && !ended(*uid, id);
            // Who has to prove itself first is no host, unless there is nobody else.
            let proven = table.members().keys().any(|uid| may(uid) && !held_back.contains(uid));
            survey.count_hosts(scene, now, load, &totals, |uid| {
                may(uid) && (!proven || !held_back.contains(uid))
            });
            survey
        });
        Self { kinds: kinds.collect(), totals }
    }

    /// Turns to that type: what was given away of others counts.
    pub(super) fn enter(&mut self, id: KindId) -> Option<&KindSurvey<'a>> {
        let kind = self.kinds.get_mut(usize::from(id.0))?;
        for host in kind.hosts.iter_mut().chain(&mut kind.newest) {
            host.total = self.totals.get(&host.uid).copied().unwrap_or(0);
        }
        Some(kind)
    }

    /// A shard of that type is given to that host.
    pub(super) fn add(&mut self, id: KindId, uid: Uid) {
        *self.totals.entry(uid).or_default() += 1;
        let Some(kind) = self.kinds.get_mut(usize::from(id.0)) else { return };
        for host in kind.hosts.iter_mut().chain(&mut kind.newest).filter(|host| host.uid == uid) {
            host.shards += 1;
            host.total += 1;
        }
    }

    pub(super) fn kind(&self, id: KindId) -> Option<&KindSurvey<'a>> {
        self.kinds.get(usize::from(id.0))
    }

    /// Whether anything is unfinished.
    pub(super) fn is_busy(&self) -> bool {
        let busy = |kind: &KindSurvey<'_>| {
            !(kind.moving.is_empty() && kind.orphans.is_empty() && kind.leaving.is_empty())
        };
        self.kinds.iter().any(busy)
    }
}

impl<'a> KindSurvey<'a> {
    fn of_shards(id: KindId, kind: &'a KindTable, table: &Table, ended: impl Fn(Uid) -> bool) -> Self {
        let mut survey = Self {
            id,
            table: kind,
            hosts: Vec::new(),
            newest: Vec::new(),
            active: 0,
            is_mixed: false,
            moving: Vec::new(),
            orphans: Vec::new(),
            leaving: Vec::new(),
        };
        for (number, entry) in kind.shards() {
            let shard = ShardId { kind: id, number: *number };
            if entry.moving.is_some() {
                survey.moving.push((shard, *entry));
            }
            match table.member(entry.owner) {
                None if table.is_free(entry.owner) => survey.orphans.push(shard),
                Some(_) if table.is_left(id, entry) => survey.orphans.push(shard),
                Some(owner) if owner.state == State::Draining || ended(entry.owner) => {
                    survey.leaving.push((shard, *entry));
                }
                Some(_) | None => {}
            }
        }
        survey
    }

    fn count_hosts(
        &mut self,
        scene: &Scene<'_>,
        now: Timestamp,
        load: &BTreeMap<Uid, usize>,
        totals: &BTreeMap<Uid, usize>,
        may: impl Fn(&Uid) -> bool,
    ) {
        let count = |counts: &BTreeMap<Uid, usize>, uid| counts.get(&uid).copied().unwrap_or(0);
        let mut newest: Option<&str> = None;
        let mut versions: Vec<&str> = Vec::new();
        for (&uid, member) in scene.table.members().iter().filter(|(uid, _)| may(uid)) {
            let version = &*member.facts.app_version;
            self.active += 1;
            self.is_mixed |=
                newest.is_some_and(|newest| compare_versions(version, newest) != Ordering::Equal);
            if newest.is_none_or(|newest| compare_versions(version, newest) == Ordering::Greater) {
                newest = Some(version);
            }
            if scene.is_well(now, uid) {
                let name = member.facts.id.clone();
                self.hosts.push(HostLoad { uid, name, shards: count(load, uid), total: count(totals, uid) });
                versions.push(version);
            }
        }
        let is_newest =
            |version: &str| newest.is_none_or(|newest| compare_versions(version, newest) == Ordering::Equal);
        let newest = self.hosts.iter().zip(&versions).filter(|(_, version)| is_newest(version));
        self.newest = newest.map(|(host, _)| host.clone()).collect();
    }
}

/// Whose a shard is, or is to be.
pub(super) fn destination(entry: &Entry) -> Uid {
    entry.moving.map_or(entry.owner, |(to, _)| to)
}
