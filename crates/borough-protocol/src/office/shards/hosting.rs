//! Which types there are and who hosts them, as the members report.

use alloc::collections::BTreeSet;

use super::{Proposals, Scene, Shards};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::sharding::{Epoch, Kind, KindId, ShardId};
use crate::table::{Change, Member, Table};

impl Shards {
    /// Declares the types that are new, registers hosts that agree on them, and lets go those that host them no more.
    ///
    /// Who means another type by the same name is not registered; it learns from the table what all others mean.
    pub(super) fn register(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        for (uid, report) in &self.reports {
            for (kind, hosts) in &report.kinds {
                match scene.table.kind_named(&kind.name) {
                    None if scene.table.may_declare(kind) => propose.once(Change::Declare(kind.clone())),
                    Some((id, known)) if *hosts && known.kind() == kind && !known.hosts().contains(uid) => {
                        let may = !report.ended.contains(&id) && scene.table.stays(*uid);
                        if may && scene.table.member(*uid).is_some_and(|member| has_role(member, kind)) {
                            propose.once(Change::Host(*uid, id));
                        }
                    }
                    None | Some(_) => {}
                }
            }
            for id in &report.ended {
                let careless = scene.settings.flaws.has(Flaw::EndsHostingBeforeDropped);
                let fits = scene.table.kind(*id).is_some_and(|kind| kind.may_end_hosting(*uid));
                if fits && (careless || has_dropped(scene.table, *uid, *id, &self.dropped_by(*uid))) {
                    propose.once(Change::EndHosting(*uid, *id));
                }
            }
        }
    }

    /// Whether that member wants to host that type no more.
    pub(super) fn has_ended(&self, uid: Uid, kind: KindId) -> bool {
        self.reports.get(&uid).is_some_and(|report| report.ended.contains(&kind))
    }

    /// What that member owned at these epochs and has dropped, because it hosts the type no more: none of it can move.
    pub(super) fn dropped_by(&self, uid: Uid) -> BTreeSet<(ShardId, Epoch)> {
        self.reports.get(&uid).map(|report| report.dropped.iter().copied().collect()).unwrap_or_default()
    }
}

/// Whether that member says that all it owns of that type lives there no more.
fn has_dropped(table: &Table, uid: Uid, id: KindId, dropped: &BTreeSet<(ShardId, Epoch)>) -> bool {
    let Some(kind) = table.kind(id) else { return false };
    kind.shards()
        .iter()
        .filter(|(_, entry)| entry.owner == uid)
        .all(|(number, entry)| dropped.contains(&(ShardId { kind: id, number: *number }, entry.epoch)))
}

fn has_role(member: &Member, kind: &Kind) -> bool {
    kind.role.as_deref().is_none_or(|role| member.facts.roles.iter().any(|has| has == role))
}
