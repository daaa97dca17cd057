//! Which types there are and who hosts them, as the members report.

use super::{Proposals, Scene, Shards};
use crate::incarnation::Uid;
use crate::sharding::Kind;
use crate::table::{Change, Member};

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
                        let ended = report.ended.contains(&id);
                        if !ended && scene.table.member(*uid).is_some_and(|member| has_role(member, kind)) {
                            propose.once(Change::Host(*uid, id));
                        }
                    }
                    None | Some(_) => {}
                }
            }
            for id in &report.ended {
                if scene.table.kind(*id).is_some_and(|kind| kind.may_end_hosting(*uid)) {
                    propose.once(Change::EndHosting(*uid, *id));
                }
            }
        }
    }

    /// Whether that member wants to host that type no more.
    pub(super) fn has_ended(&self, uid: Uid, kind: crate::sharding::KindId) -> bool {
        self.reports.get(&uid).is_some_and(|report| report.ended.contains(&kind))
    }
}

fn has_role(member: &Member, kind: &Kind) -> bool {
    kind.role.as_deref().is_none_or(|role| member.facts.roles.iter().any(|has| has == role))
}
