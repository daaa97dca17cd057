//! Situations that must come up sometimes, or the simulator proves less than it seems to.
//!
//! A run counts those it met. Over a thousand seeds each must be met at least once: one that is not is a hole in the
//! faults, not a success.

use std::fmt;

/// A situation that is hard to get into and easy to get wrong. The name says what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "each name is the whole of what there is to say")]
pub enum Rare {
    // Formation.
    PartitionDuringJoin,
    TwoFoundings,
    FoundedAnew,
    SecondClusterByException,
    SeveralRestarted,
    WallClockSet,
    BegunAnew,
    PartOfTheSeedsShown,
    GaveUpOvertaken,
    GaveUpForsaken,
    // Voters and office.
    CoordinatorCrashedInJointPhase,
    VoterCrashedInJointPhase,
    LeaverCrashedInJointPhase,
    CoordinatorLeft,
    TakeOverWithUncommittedRemoval,
    VotersSplitEvenly,
    VotersOnTheSmallerSide,
    // Leases and removal.
    PausedUntilRemoved,
    PausedInATurn,
    TurnAtTheEndOfTheLease,
    LeaseLapsedAndResumed,
    GaveUpSuspended,
    GaveUpOver,
    GaveUpRemoved,
    GaveUpDownAll,
    GaveUpAndReturned,
    RemovedQuiet,
    RemovedGoodbye,
    RemovedReplaced,
    RemovedOperator,
    RemovedCutOff,
    FreedInALaterTerm,
    HeardFromRemoved,
    // Disks.
    VoterResumed,
    WritesLost,
    DiskStuck,
    DiskFull,
    DiskLost,
    DiskRestored,
    RestoredWithoutLog,
    AllCrashed,
    LogLost,
    GaveUpCopy,
    // The end.
    ClusterClosed,
}

const COUNT: usize = Rare::ClusterClosed as usize + 1;

impl Rare {
    /// All of them, in their order.
    pub const ALL: [Self; COUNT] = [
        Self::PartitionDuringJoin,
        Self::TwoFoundings,
        Self::FoundedAnew,
        Self::SecondClusterByException,
        Self::SeveralRestarted,
        Self::WallClockSet,
        Self::BegunAnew,
        Self::PartOfTheSeedsShown,
        Self::GaveUpOvertaken,
        Self::GaveUpForsaken,
        Self::CoordinatorCrashedInJointPhase,
        Self::VoterCrashedInJointPhase,
        Self::LeaverCrashedInJointPhase,
        Self::CoordinatorLeft,
        Self::TakeOverWithUncommittedRemoval,
        Self::VotersSplitEvenly,
        Self::VotersOnTheSmallerSide,
        Self::PausedUntilRemoved,
        Self::PausedInATurn,
        Self::TurnAtTheEndOfTheLease,
        Self::LeaseLapsedAndResumed,
        Self::GaveUpSuspended,
        Self::GaveUpOver,
        Self::GaveUpRemoved,
        Self::GaveUpDownAll,
        Self::GaveUpAndReturned,
        Self::RemovedQuiet,
        Self::RemovedGoodbye,
        Self::RemovedReplaced,
        Self::RemovedOperator,
        Self::RemovedCutOff,
        Self::FreedInALaterTerm,
        Self::HeardFromRemoved,
        Self::VoterResumed,
        Self::WritesLost,
        Self::DiskStuck,
        Self::DiskFull,
        Self::DiskLost,
        Self::DiskRestored,
        Self::RestoredWithoutLog,
        Self::AllCrashed,
        Self::LogLost,
        Self::GaveUpCopy,
        Self::ClusterClosed,
    ];
}

/// How often each was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    counts: [u64; COUNT],
}

impl Default for Met {
    fn default() -> Self {
        Self { counts: [0; COUNT] }
    }
}

impl Met {
    /// It was met once more.
    pub fn count(&mut self, rare: Rare) {
        self.counts[rare as usize] += 1;
    }

    /// How often it was met.
    pub fn times(&self, rare: Rare) -> u64 {
        self.counts[rare as usize]
    }

    /// Those that were never met.
    pub fn never(&self) -> impl Iterator<Item = Rare> + '_ {
        Rare::ALL.into_iter().filter(|rare| self.times(*rare) == 0)
    }

    /// Adds what another run met.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }
}

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rare in Rare::ALL {
            writeln!(f, "{:>9}  {rare:?}", self.times(rare))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_are_listed_in_their_order() {
        for (place, rare) in Rare::ALL.into_iter().enumerate() {
            assert_eq!(rare as usize, place);
        }
    }

    #[test]
    fn what_was_never_met_is_named() {
        let mut met = Met::default();
        met.count(Rare::TwoFoundings);
        let mut sum = Met::default();
        sum.add(&met);
        sum.add(&met);
        assert_eq!(sum.times(Rare::TwoFoundings), 2);
        assert_eq!(sum.never().count(), COUNT - 1);
        assert!(sum.never().all(|rare| rare != Rare::TwoFoundings));
    }
}
