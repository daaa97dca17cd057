//! Flaws that the simulator must find, one at a time.

use borough_protocol::flaws::{Flaw, Flaws};

use super::guard::guarded;
use super::plan::{Plan, Wish};
use super::violation::Violation;

/// Those that runs of whole clusters can show. The flaws of the log itself that are not here live inside of the consensus that
/// carries it: they are planted in a log made for it, in the tests of `borough_protocol::log`. In a small cluster everybody is watched by all,
/// so that `MonitorsForget` shows in the tests of `borough_protocol::heartbeat` alone.
pub const FLAWS: [Flaw; 26] = [
    Flaw::MergeForgetsReachability,
    Flaw::MergeTakesOlderStatus,
    Flaw::SeenSetForgotten,
    Flaw::StaleIncarnationAccepted,
    Flaw::TombstoneDroppedEarly,
    Flaw::ClockNotAdvanced,
    Flaw::ClockNotPruned,
    Flaw::DetectorNeverRecovers,
    Flaw::DetectorNeverAccuses,
    Flaw::RestartedVoterKeepsItsVote,
    Flaw::OutgoingEndsJointPhase,
    Flaw::QuorumOverGossipView,
    Flaw::ActsBeforeFirstCommit,
    Flaw::RenewalNotBoundToVoters,
    Flaw::RefusesOnlyAfterCommit,
    Flaw::LeaseFromTheAnswer,
    Flaw::NoWait,
    Flaw::WaitWithoutPause,
    Flaw::NewCoordinatorDoesNotWait,
    Flaw::ClockStopsInPause,
    Flaw::RefusedConnectionIsDeath,
    Flaw::GoodbyeBeforeResidentsDropped,
    Flaw::RemovedTakenSeriously,
    Flaw::DeafNodeCountsAsHeard,
    Flaw::EraRestartsAtOne,
    Flaw::TwoPromises,
];

/// The first of so many seeds whose run breaks a rule because of the flaws wished for, and the rule.
pub fn find(from: u64, seeds: u64, wish: &Wish) -> Option<(u64, Violation)> {
    let broken = |seed: u64, wish: &Wish| guarded(&Plan::draw(seed, wish), None).violation;
    let sound = Wish { flaws: Flaws::default(), ..wish.clone() };
    (from..from + seeds).find_map(|seed| {
        let violation = broken(seed, wish)?;
        // A seed that fails anyway proves nothing about the flaw.
        broken(seed, &sound).is_none().then_some((seed, violation))
    })
}
