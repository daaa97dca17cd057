//! Bringing the voters' lists to what the strategy wants, one committed step at a time.
//!
//! ```text
//! wanted differs --settled--> newcomers catch up, one by one --all level--> Begin(wanted) --> joint --> done
//!                                   |- the coordinator itself goes: it hands over first
//! ```

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::voter_choice::{Candidate, wanted};
use super::{Office, Proposals, Scene};
use crate::incarnation::Uid;
use crate::log::{Log, VotersChange};
use crate::table::State;
use crate::time::Timestamp;
use crate::version::Version;

/// How many entries behind a newcomer may be and still count as level: fewer than one append carries.
const LEVEL_WITHIN: u64 = 16;

/// Who should vote, and since when that has been so.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    list: BTreeSet<Uid>,
    since: Timestamp,
}

impl Office {
    pub(super) fn change_voters(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let voters = propose.log.voters();
        if voters.is_joint() {
            return;
        }
        let list = wanted_here(scene, propose);
        if list.is_empty() || list == voters.now {
            self.wish = Wish::default();
            return drop_learner(scene, propose, &list);
        }
        if self.wish.list != list {
            self.wish = Wish { list, since: propose.now };
        }
        let now_voting = &propose.log.voters().now;
        // Who is gone or leaves is replaced at once; growing waits until the newcomers have proved to stay.
        let repairs = now_voting.iter().any(|uid| !stays(scene, *uid));
        let settle = if repairs { scene.settings.round_trip } else { scene.settings.voters_settle };
        if propose.now.since(self.wish.since) >= settle {
            self.step(scene, propose);
        }
    }

    fn step(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let (log, wish) = (&propose.log, &self.wish.list);
        let newcomers: Vec<Uid> = wish.difference(&log.voters().now).copied().collect();
        if let Some(newcomer) = newcomers.iter().find(|uid| !log.learners().contains(uid)) {
            return change(propose, VotersChange::AddLearner(*newcomer));
        }
        // Who has not answered an append yet may not even hear them, however short the log is.
        let level = |uid: &Uid| {
            let matched = log.matched(*uid);
            matched > 0 && matched + LEVEL_WITHIN > log.last_index()
        };
        if !newcomers.iter().all(level) {
            return;
        }
        if !wish.contains(&scene.me) && !wish.is_disjoint(&log.voters().now) {
            let heirs = wish.intersection(&log.voters().now).copied();
            if let Some(heir) =
                heirs.filter(|uid| scene.just_heard(propose.now, *uid)).min_by_key(|uid| age(scene, *uid))
            {
                propose.log.hand_over(propose.now, heir, propose.out);
            }
            return;
        }
        // A joint phase that begins towards the dead can end for nobody.
        let answers = |uid: &Uid| scene.just_heard(propose.now, *uid);
        let majority = 2 * wish.iter().filter(|uid| answers(uid)).count() > wish.len();
        if majority && newcomers.iter().all(answers) {
            change(propose, VotersChange::Begin(wish.clone()));
        }
    }
}

/// Who should vote. Who votes already counts as long as it stays, heard or not: whom a quorum does not hear is removed first, and one
/// node's bad moment must not make the list any shorter. Only newcomers have to be heard.
fn wanted_here(scene: &Scene<'_>, propose: &Proposals<'_>) -> BTreeSet<Uid> {
    let voting = &propose.log.voters().now;
    let candidates: Vec<Candidate<'_>> = scene
        .table
        .members()
        .iter()
        .filter(|(uid, _)| stays(scene, **uid))
        .filter(|(uid, _)| voting.contains(uid) || scene.hears(propose.now, **uid))
        .map(|(uid, member)| Candidate { uid: *uid, admission: member.admission, zone: &member.facts.zone })
        .collect();
    wanted(scene.settings.strategy, scene.settings.max_voters, &candidates, voting)
}

/// Nobody catches up for nothing.
fn drop_learner(scene: &Scene<'_>, propose: &mut Proposals<'_>, list: &BTreeSet<Uid>) {
    let useless = |uid: &&Uid| !list.contains(uid) || scene.table.member(**uid).is_none();
    if let Some(uid) = propose.log.learners().iter().find(useless).copied() {
        change(propose, VotersChange::DropLearner(uid));
    }
}

fn change(propose: &mut Proposals<'_>, change: VotersChange) {
    // One at a time: refused while another is under way, and wanted again at the next look.
    let _ = propose.log.change_voters(propose.now, change, propose.out);
}

fn age(scene: &Scene<'_>, uid: Uid) -> Option<Version> {
    scene.table.member(uid).map(|member| member.admission)
}

fn stays(scene: &Scene<'_>, uid: Uid) -> bool {
    scene.table.member(uid).is_some_and(|member| member.state == State::Active)
}
