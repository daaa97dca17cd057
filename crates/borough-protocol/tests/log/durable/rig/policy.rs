//! Who stands and who votes: the smallest thing that keeps five voters going.

use std::collections::BTreeSet;
use std::time::Duration;

use borough_protocol::log::{Log, VotersChange};
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;

use super::super::voter::{Said, Voter};
use super::Place;
use crate::carrier::TIMING;

const RANK: Duration = Duration::from_millis(150);

pub(super) fn act(
    me: VoterId,
    place: &mut Place,
    now: Timestamp,
    wanted: &BTreeSet<VoterId>,
    out: &mut Said,
) {
    let Some(voter) = &mut place.voter else { return };
    let log = &mut voter.log;
    if now >= log.next_deadline() {
        log.on_deadline(now, out);
    }
    if let Some((_, heard)) = log.coordinator() {
        place.coordinator_heard = place.coordinator_heard.max(heard);
    }
    if log.may_act() {
        return change_lists(me, voter, now, wanted, out);
    }
    let rank = u32::try_from(log.voters().all().filter(|&uid| uid < me).count()).expect("few");
    let patience = TIMING.suspect_after + RANK * rank;
    let alone = log.voters().quorum(|uid| uid == me);
    let quiet = now > place.coordinator_heard + patience && now > place.stood + patience / 2;
    if !log.in_office() && log.voters().names(me) && (alone || quiet) {
        place.stood = now;
        log.stand(now, out);
    }
}

/// One step towards the wanted voters; refused while a change is under way, and then asked for with the next tick.
fn change_lists(me: VoterId, voter: &mut Voter, now: Timestamp, wanted: &BTreeSet<VoterId>, out: &mut Said) {
    let log = &mut voter.log;
    if log.voters().is_joint() || log.voters().now == *wanted {
        return;
    }
    let named = |uid: VoterId| log.voters().names(uid) || log.learners().contains(&uid);
    if let Some(&uid) = wanted.iter().find(|&&uid| !named(uid)) {
        let _ = log.change_voters(now, VotersChange::AddLearner(uid), out);
        return;
    }
    let level = |uid: VoterId| log.matched(uid) + 8 > log.last_index();
    if !wanted.iter().all(|&uid| uid == me || level(uid)) {
        return;
    }
    // Every third time a coordinator that is to go leads the joint phase itself.
    let heir = wanted.iter().copied().find(|&uid| log.voters().now.contains(&uid));
    if let (false, Some(heir), true) = (wanted.contains(&me), heir, !log.last_index().is_multiple_of(3)) {
        log.hand_over(now, heir, out);
        return;
    }
    let _ = log.change_voters(now, VotersChange::Begin(wanted.clone()), out);
}
