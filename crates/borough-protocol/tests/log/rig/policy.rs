//! Who stands and who votes: the smallest thing that keeps five voters going.

use std::collections::BTreeSet;
use std::time::Duration;

use borough_protocol::log::VotersChange;
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;

use super::Host;
use crate::carrier::{Carrier, TIMING};

const RANK: Duration = Duration::from_millis(150);
const SETTLED: Duration = Duration::from_millis(200);

/// The older, the sooner.
pub(super) fn stand_if_quiet<L: Carrier>(
    me: VoterId,
    host: &mut Host<L>,
    now: Timestamp,
    out: &mut Vec<(VoterId, L::Message)>,
) {
    if let Some((_, heard)) = host.log.coordinator() {
        host.coordinator_heard = host.coordinator_heard.max(heard);
    }
    if host.log.in_office() || !host.log.voters().names(me) {
        return;
    }
    let rank = u32::try_from(host.log.voters().all().filter(|&uid| uid < me).count()).expect("few");
    let patience = TIMING.suspect_after + RANK * rank;
    if now > host.coordinator_heard + patience && now > host.stood + patience - TIMING.suspect_after / 2 {
        host.stood = now;
        host.log.stand(now, out);
    }
}

/// One step towards an odd number of living voters, the oldest; nothing if a change is under way.
pub(super) fn change_lists<L: Carrier>(
    me: VoterId,
    host: &mut Host<L>,
    (now, alive): (Timestamp, &[VoterId]),
    out: &mut Vec<(VoterId, L::Message)>,
) {
    if !host.log.in_office() || host.log.voters().is_joint() {
        return;
    }
    let Some(change) = wanted(me, host, now) else { return };
    if let VotersChange::Begin(next) = &change {
        if host.wish.0 != *next {
            host.wish = (next.clone(), now);
            return;
        }
        if now < host.wish.1 + SETTLED {
            return;
        }
        // A joint phase needs a quorum of `next`; the real policy asks for answers no older than a round trip.
        if 2 * next.iter().filter(|uid| alive.contains(uid)).count() <= next.len() {
            return;
        }
        // Better to go in order than to lead a phase one cannot end; every third time, go the hard way.
        let heirs = next.intersection(&host.log.voters().now);
        let heir = heirs.copied().find(|&uid| uid != me);
        if let (false, Some(heir), true) = (next.contains(&me), heir, host.log.last_index() % 3 != 0) {
            host.log.hand_over(now, heir, out);
            return;
        }
    }
    // Refused while a change is under way: it is asked for again with the next tick.
    let _ = host.log.change_voters(now, change, out);
}

fn wanted<L: Carrier>(me: VoterId, host: &Host<L>, now: Timestamp) -> Option<VotersChange> {
    let log = &host.log;
    let fresh = |uid: VoterId, ms: u64| {
        uid == me || host.heard.get(&uid).is_some_and(|(at, _)| now < *at + Duration::from_millis(ms))
    };
    let leaving = |uid: VoterId| match host.heard.get(&uid) {
        _ if uid == me => host.leaving.is_some(),
        Some((_, leaving)) => *leaving,
        None => false,
    };
    let known = host.heard.keys().copied().chain([me]).collect::<BTreeSet<VoterId>>();
    let living: BTreeSet<VoterId> =
        known.into_iter().filter(|&uid| fresh(uid, 700) && !leaving(uid)).collect();
    let named = |uid| log.voters().names(uid) || log.learners().contains(&uid);
    if let Some(&uid) = living.iter().find(|&&uid| !named(uid)) {
        return Some(VotersChange::AddLearner(uid));
    }
    if let Some(&uid) = log.learners().iter().find(|&&uid| !fresh(uid, 1500) || leaving(uid)) {
        return Some(VotersChange::DropLearner(uid));
    }
    let now_voting = &log.voters().now;
    let caught_up = |uid| fresh(uid, 400) && log.matched(uid) + 16 > host.state.version.index;
    let ready: Vec<VoterId> =
        living.into_iter().filter(|&uid| now_voting.contains(&uid) || caught_up(uid)).collect();
    let count = ready.len().min(5).div_ceil(2) * 2;
    let next: BTreeSet<VoterId> = ready.iter().copied().take(count.saturating_sub(1)).collect();
    (!next.is_empty() && next != *now_voting).then_some(VotersChange::Begin(next))
}
