//! Who is no member any more: who left, who is quiet to a quorum, whose address has a newer life, whom somebody wants gone. Removal for bad
//! links is in `cut_off.rs`.

use alloc::vec::Vec;

use super::{Office, Proposals, Request, Scene, TableLog};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::node::QuietReport;
use crate::table::{Change, Member, Removal, State};
use crate::time::Timestamp;
use crate::voters::VoterId;

impl Office {
    /// Those who want to go, and those whose life is over anyway: it takes nobody's opinion but their own.
    pub(super) fn let_go(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        for request in &self.asked {
            match request {
                Request::Leave(uid) if scene.table.member(*uid).is_some_and(is_active) => {
                    propose.once(Change::Drain(*uid));
                }
                Request::Goodbye(uid) if scene.table.member(*uid).is_some() => {
                    propose.remove(*uid, Removal::Goodbye);
                }
                Request::Leave(_) | Request::Goodbye(_) | Request::Down(_) | Request::Close => {}
            }
        }
        // Gossip gave it up as a guest while it was being admitted: nobody would ever see it.
        for uid in scene.table.members().keys().filter(|uid| scene.document.is_buried(**uid)) {
            propose.remove(*uid, Removal::Replaced);
        }
    }

    /// Those whom others want gone.
    pub(super) fn remove(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let quiet: Vec<Uid> =
            scene.table.members().keys().copied().filter(|uid| self.is_quiet(scene, propose, *uid)).collect();
        for uid in quiet {
            propose.remove(uid, Removal::Quiet);
        }
        for request in &self.asked {
            if let Request::Down(uid) = request
                && scene.table.member(*uid).is_some()
            {
                propose.remove(*uid, Removal::Operator);
            }
        }
        self.remove_cut_off(scene, propose);
    }

    /// Whether a quorum of the voters says so, each not long ago. Nobody else's opinion counts, and no coordinator is quiet: a quorum
    /// answers it.
    fn is_quiet(&self, scene: &Scene<'_>, propose: &Proposals<'_>, uid: Uid) -> bool {
        if uid == scene.me {
            return false;
        }
        let says = |voter: VoterId| {
            if scene.lives.uid(voter) == Some(scene.me) {
                return scene.quiet.contains(&uid) && !scene.hears(propose.now, uid);
            }
            let fresh = |(at, _, _): &&(Timestamp, Uid, QuietReport)| {
                propose.now.since(*at) < scene.settings.timing().suspect_after
            };
            self.reports.get(&voter).filter(fresh).is_some_and(|(_, _, report)| report.quiet.contains(&uid))
        };
        if scene.settings.flaws.has(Flaw::QuorumOverGossipView) {
            let view: Vec<Uid> = scene.document.reachable().collect();
            let says = |uid: Uid| says(scene.lives.voter(uid));
            return 2 * view.iter().filter(|uid| says(**uid) || **uid == scene.me).count() > view.len()
                && says(scene.me);
        }
        propose.log.voters().quorum(says)
    }
}

/// Whether all members have dropped what lived on them and only wait to be let go, and nobody joins who could take their place.
///
/// Voters among them would wait for each other until they give up: no list does without them. A voter that is away could decide without them later, so
/// it is waited for as ever.
pub(super) fn nobody_stays(scene: &Scene<'_>, log: &TableLog) -> bool {
    let members = scene.table.members();
    let has_dropped = |uid: Uid| scene.document.is_exiting(uid);
    let may_go = |(uid, member): (&Uid, &Member)| member.state == State::Draining && has_dropped(*uid);
    let joins = |uid: Uid| !members.contains_key(&uid) && !scene.table.is_removed(uid);
    members.len() > 1
        && members.iter().all(may_go)
        && log.voters().all().all(|voter| scene.table.member_of(voter).is_some())
        && !scene.document.joining().any(|guest| joins(guest.incarnation.uid))
}

fn is_active(member: &Member) -> bool {
    member.state == State::Active
}
