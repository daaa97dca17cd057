//! Rules that can be broken on purpose, one at a time, to prove that the simulator would notice.
//!
//! Without the feature `flaws` nothing can be broken: [`Flaws`] has no state and every question is answered "no".

/// A rule broken on purpose. The name says what the broken node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "each name is the whole of what there is to say; docs list them")]
pub enum Flaw {
    // Gossip.
    MergeForgetsReachability,
    MergeTakesOlderStatus,
    SeenSetForgotten,
    StaleIncarnationAccepted,
    TombstoneDroppedEarly,
    ClockNotAdvanced,
    ClockNotPruned,
    // Failure detection.
    DetectorNeverRecovers,
    DetectorNeverAccuses,
    MonitorsForget,
    // The log.
    VotersChangedByNewMajorityAlone,
    EqualTermsAccepted,
    OfficeWithOwnCopy,
    CommitCountedOverOlderTerms,
    VoterCountedBeforeItHasTheCopy,
    RestartedVoterKeepsItsVote,
    OutgoingEndsJointPhase,
    // The durable log.
    AnswersBeforeWrite,
    CommitsBeforeWrite,
    VoteForgotten,
    VoterWithoutLogStays,
    FoundingNotWritten,
    OnlyVotersRecord,
    RestartedVoterSpeaksOfLeases,
    // Leases and office.
    QuorumOverGossipView,
    ActsBeforeFirstCommit,
    RenewalNotBoundToVoters,
    RefusesOnlyAfterCommit,
    LeaseFromTheAnswer,
    NoWait,
    WaitWithoutPause,
    NewCoordinatorDoesNotWait,
    ClockStopsInPause,
    RefusedConnectionIsDeath,
    GoodbyeBeforeResidentsDropped,
    RemovedTakenSeriously,
    DeafNodeCountsAsHeard,
    EraRestartsAtOne,
    TwoPromises,
    RecoversWithoutWait,
    // One cluster.
    FoundsWithoutFormerVoters,
    RememberedMembersFound,
    LaterLifeIsProofOfDeath,
    FoundsWhileASeedIsSilent,
    DiscoveredListIsComplete,
    SuspendedQuorumGivesUp,
    LaterFoundingWins,
    GreetingWithoutNonce,
    YieldsAfterAMomentsSilence,
    RecoveredBeatsLiving,
    RestartedSeedNotGreeted,
    SuspendedNodeGivesUp,
    NodeWithRecordFounds,
    PledgesForgotten,
    WelcomeBeforeRecord,
    LeavingEndsTheCluster,
    // Bad links.
    YoungerAlwaysRemoved,
    CoverRemovesOldVoters,
    AdmissionRecreatesBrokenPair,
    // Sharding: the coordinator.
    RebalanceToLeavingNode,
    AllocatesBeforeFreed,
    SettlesWithoutInstalled,
    CallOffReusesEpoch,
    ForgetsReportsOfOthers,
    FlapsBetweenNodes,
    MovesWhileVersionsAreMixed,
    OwnerWithoutHosting,
    EndsHostingBeforeDropped,
    OwnsBeforeStaticQuorum,
    // Regions: the host's side.
    RunsAtInstall,
    ReleasesBeforeCommit,
    InstallKeptAfterCallOff,
    DrainedBeforeMoved,
    RecordForgottenEarly,
    LeavesWhileOthersSend,
    // Regions: the sender's side.
    NoBarrier,
    ClosedNotAwaited,
    StraightBarrierWithoutVersion,
    // Lanes: where what arrives is placed.
    AnyTagTaken,
    SecondTransferOverwrites,
    ForwardsDroppedWhenOwnedAgain,
    FrozenHostAnswersBarrier,
    StraightBarrierNotWalkedBack,
    // Lanes and senders, as the simulator models them.
    LateArrivalsForgotten,
    ForwardedByTable,
    ResumesWithTheLateFirst,
    CarriedQueueLast,
    CutsInATurn,
    WaitingOvertaken,
    ParkedPolledWithoutLease,
    FencedAtFirstWrite,
    RaisedWithoutFence,
    LinksOfRemovedStayOpen,
    HoldLostAtNewTerm,
}

/// Which rules this node breaks: none, unless the simulator tests itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    #[cfg(feature = "flaws")]
    bits: u128,
}

impl Flaws {
    /// A node that breaks this rule.
    #[cfg(feature = "flaws")]
    pub const fn only(flaw: Flaw) -> Self {
        Self { bits: 1 << flaw as u8 }
    }

    /// Whether the node breaks the rule.
    #[cfg(feature = "flaws")]
    #[inline]
    pub const fn has(self, flaw: Flaw) -> bool {
        self.bits & (1 << flaw as u8) != 0
    }

    /// Whether the node breaks the rule.
    #[cfg(not(feature = "flaws"))]
    #[inline]
    pub const fn has(self, _: Flaw) -> bool {
        false
    }
}
