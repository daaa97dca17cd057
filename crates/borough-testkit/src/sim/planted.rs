//! Flaws that the simulator must find, one at a time.

use borough_protocol::flaws::{Flaw, Flaws};

use super::guard::guarded;
use super::plan::{Kind, Mode, Plan, Wish};
use super::violation::Violation;

/// Those that runs of whole clusters can show. The flaws of the log itself that are not here live inside of the consensus that
/// carries it: they are planted in a log made for it, in the tests of `borough_protocol::log`. In a small cluster everybody is watched by all,
/// so that `MonitorsForget` shows in the tests of `borough_protocol::heartbeat` alone.
pub const FLAWS: [Flaw; 53] = [
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
    Flaw::RecoversWithoutWait,
    Flaw::FoundsWithoutFormerVoters,
    Flaw::RememberedMembersFound,
    Flaw::LaterLifeIsProofOfDeath,
    Flaw::FoundsWhileASeedIsSilent,
    Flaw::RestartedSeedNotGreeted,
    Flaw::SuspendedNodeGivesUp,
    Flaw::AnswersBeforeWrite,
    Flaw::CommitsBeforeWrite,
    Flaw::NodeWithRecordFounds,
    Flaw::WelcomeBeforeRecord,
    Flaw::LeavingEndsTheCluster,
    Flaw::VoteForgotten,
    Flaw::VoterWithoutLogStays,
    Flaw::FoundingNotWritten,
    Flaw::OnlyVotersRecord,
    Flaw::DiscoveredListIsComplete,
    Flaw::SuspendedQuorumGivesUp,
    Flaw::LaterFoundingWins,
    Flaw::GreetingWithoutNonce,
    Flaw::YieldsAfterAMomentsSilence,
    Flaw::RecoveredBeatsLiving,
    Flaw::RestartedVoterSpeaksOfLeases,
    Flaw::PledgesForgotten,
    Flaw::YoungerAlwaysRemoved,
    Flaw::CoverRemovesOldVoters,
    Flaw::AdmissionRecreatesBrokenPair,
];

/// Those that runs with shards can show: of regions and lanes, then of the coordinator. What is forgotten of reports is mostly heard again
/// in time: `ForgetsReportsOfOthers` shows in the tests of nodes, as do `OwnsBeforeStaticQuorum`, and `MovesWhileVersionsAreMixed` because all nodes of a run are of one version.
pub const SHARDING_FLAWS: [Flaw; 32] = [
    Flaw::RunsAtInstall,
    Flaw::ReleasesBeforeCommit,
    Flaw::InstallKeptAfterCallOff,
    Flaw::DrainedBeforeMoved,
    Flaw::RecordForgottenEarly,
    Flaw::LeavesWhileOthersSend,
    Flaw::NoBarrier,
    Flaw::ClosedNotAwaited,
    Flaw::StraightBarrierWithoutVersion,
    Flaw::AnyTagTaken,
    Flaw::SecondTransferOverwrites,
    Flaw::ForwardsDroppedWhenOwnedAgain,
    Flaw::FrozenHostAnswersBarrier,
    Flaw::StraightBarrierNotWalkedBack,
    Flaw::LateArrivalsForgotten,
    Flaw::ForwardedByTable,
    Flaw::ResumesWithTheLateFirst,
    Flaw::CarriedQueueLast,
    Flaw::CutsInATurn,
    Flaw::WaitingOvertaken,
    Flaw::ParkedPolledWithoutLease,
    Flaw::FencedAtFirstWrite,
    Flaw::RaisedWithoutFence,
    Flaw::LinksOfRemovedStayOpen,
    Flaw::HoldLostAtNewTerm,
    Flaw::RebalanceToLeavingNode,
    Flaw::AllocatesBeforeFreed,
    Flaw::SettlesWithoutInstalled,
    Flaw::CallOffReusesEpoch,
    Flaw::FlapsBetweenNodes,
    Flaw::OwnerWithoutHosting,
    Flaw::EndsHostingBeforeDropped,
];

/// The mode in which a flaw shows: what only loses messages shows where nothing may be lost.
fn mode_for(flaw: Flaw) -> Option<Mode> {
    match flaw {
        Flaw::LeavesWhileOthersSend | Flaw::DrainedBeforeMoved | Flaw::ForwardsDroppedWhenOwnedAgain => {
            Some(Mode::Calm)
        }
        Flaw::RecoversWithoutWait => Some(Mode::Wild),
        _ => None,
    }
}

/// Whether a flaw shows with disks or without; `None` if it does not matter.
fn disks_for(flaw: Flaw) -> Option<bool> {
    match flaw {
        // With disks a node that remembers a cluster never founds; and a machine that is replaced never comes back, nor would its disk.
        Flaw::FoundsWithoutFormerVoters | Flaw::RememberedMembersFound | Flaw::LaterLifeIsProofOfDeath => {
            Some(false)
        }
        _ => None,
    }
}

/// The kind of run in which a flaw shows, if ordinary runs show it too rarely.
fn kind_for(flaw: Flaw) -> Option<Kind> {
    match flaw {
        // Elsewhere an address has one process, and a later one there proves that the earlier one is gone.
        Flaw::LaterLifeIsProofOfDeath => Some(Kind::Replaced),
        Flaw::FoundsWithoutFormerVoters => Some(Kind::Remembering),
        _ => None,
    }
}

/// The flaw of that name.
pub fn named(name: &str) -> Option<Flaw> {
    FLAWS.into_iter().chain(SHARDING_FLAWS).find(|flaw| format!("{flaw:?}") == name)
}

/// The same wish for runs that break that rule: of the mode, the kind and with the disks that show it, unless it asks for others.
pub fn wish_for(flaw: Flaw, wish: &Wish) -> Wish {
    Wish {
        flaws: Flaws::only(flaw),
        mode: wish.mode.or(mode_for(flaw)),
        durable: wish.durable.or(disks_for(flaw)),
        kind: wish.kind.or(kind_for(flaw)),
        ..wish.clone()
    }
}

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
