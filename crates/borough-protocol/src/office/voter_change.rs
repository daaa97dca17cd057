//! Bringing the voters' lists to what the strategy wants, one committed step at a time.
//!
//! ```text
//! wanted differs --settled--> newcomers catch up, one by one --all level--> Begin(wanted) --> joint --> done
//!                                   |- the coordinator itself goes: it hands over first
//! ```

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::voter_choice::{Candidate, Choice, wanted};
use super::{Office, Proposals, Scene};
use crate::log::{Log, VotersChange};
use crate::table::{Removal, State};
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::VoterId;

/// How many entries behind a newcomer may be and still count as level: fewer than one append carries.
const LEVEL_WITHIN: u64 = 16;

/// Who should vote, and since when that has been so.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    list: BTreeSet<VoterId>,
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
        let repairs = now_voting.iter().any(|voter| !stays(scene, *voter) && !is_expected(scene, *voter));
        let settle = if repairs { scene.settings.round_trip } else { scene.settings.voters_settle };
        if propose.now.since(self.wish.since) >= settle {
            self.step(scene, propose);
        }
    }

    fn step(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let (log, wish) = (&propose.log, &self.wish.list);
        let newcomers: Vec<VoterId> = wish.difference(&log.voters().now).copied().collect();
        if let Some(newcomer) = newcomers.iter().find(|voter| !log.learners().contains(voter)) {
            return change(propose, VotersChange::AddLearner(*newcomer));
        }
        // Who has not answered an append yet may not even hear them, however short the log is.
        let level = |voter: &VoterId| {
            let matched = log.matched(*voter);
            matched > 0 && matched + LEVEL_WITHIN > log.last_index()
        };
        if !newcomers.iter().all(level) {
            return;
        }
        if !wish.contains(&scene.lives.voter(scene.me)) && !wish.is_disjoint(&log.voters().now) {
            let heirs = wish.intersection(&log.voters().now).copied();
            if let Some(heir) = heirs
                .filter(|heir| scene.just_heard_voter(propose.now, *heir))
                .min_by_key(|heir| age(scene, *heir))
            {
                propose.log.hand_over(propose.now, heir, propose.out);
            }
            return;
        }
        // A joint phase that begins towards the dead can end for nobody.
        let answers = |voter: &VoterId| scene.just_heard_voter(propose.now, *voter);
        let majority = 2 * wish.iter().filter(|voter| answers(voter)).count() > wish.len();
        if majority && newcomers.iter().all(answers) {
            change(propose, VotersChange::Begin(wish.clone()));
        }
    }
}

/// Who should vote. Who votes already counts as long as it stays, heard or not: whom a quorum does not hear is removed first, and one
/// node's bad moment must not make the list any shorter. Only newcomers have to be heard. A voter whose disk came back shorter is none until it has
/// been taken in again.
fn wanted_here(scene: &Scene<'_>, propose: &Proposals<'_>) -> BTreeSet<VoterId> {
    let voting = &propose.log.voters().now;
    let lost = propose.log.lost();
    let candidates: Vec<Candidate<'_>> = scene
        .table
        .members()
        .iter()
        .filter(|(_, member)| member.state == State::Active && !lost.contains(&scene.voter_of(member)))
        .filter(|(uid, member)| voting.contains(&scene.voter_of(member)) || scene.hears(propose.now, **uid))
        .map(|(_, member)| Candidate {
            voter: scene.voter_of(member),
            admission: member.admission,
            zone: &member.facts.zone,
        })
        .collect();
    let expected = voting.iter().copied().filter(|voter| !lost.contains(voter) && is_expected(scene, *voter));
    let choice = Choice { candidates: &candidates, voting, expected: &expected.collect() };
    wanted(scene.settings.strategy, scene.settings.max_voters, &choice)
}

/// Whether a voter that is no member at the moment is expected back: its vote is on its disk, and it went neither in order nor by decision.
fn is_expected(scene: &Scene<'_>, voter: VoterId) -> bool {
    let gone_for_good = |why| matches!(why, Removal::Goodbye | Removal::Operator | Removal::CutOff);
    let lives = scene.table.removed().iter().filter(|(uid, removed)| removed.voter(**uid) == voter);
    // It may have come back since an earlier life of it went.
    let newest = lives.max_by_key(|(_, removed)| removed.version);
    scene.settings.durable
        && scene.table.member_of(voter).is_none()
        && !newest.is_some_and(|(_, removed)| gone_for_good(removed.why))
}

/// Nobody catches up for nothing.
fn drop_learner(scene: &Scene<'_>, propose: &mut Proposals<'_>, list: &BTreeSet<VoterId>) {
    let useless = |voter: &&VoterId| !list.contains(voter) || scene.table.member_of(**voter).is_none();
    if let Some(voter) = propose.log.learners().iter().find(useless).copied() {
        change(propose, VotersChange::DropLearner(voter));
    }
}

fn change(propose: &mut Proposals<'_>, change: VotersChange) {
    // One at a time: refused while another is under way, and wanted again at the next look.
    let _ = propose.log.change_voters(propose.now, change, propose.out);
}

fn age(scene: &Scene<'_>, voter: VoterId) -> Option<Version> {
    scene.table.member_of(voter).map(|member| member.admission)
}

fn stays(scene: &Scene<'_>, voter: VoterId) -> bool {
    scene.table.member_of(voter).is_some_and(|member| member.state == State::Active)
}
