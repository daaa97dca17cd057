//! Situations that runs with shards must get into sometimes, or they prove less than they seem to.

use std::fmt;

/// Something that is hard to get into and easy to get wrong. The name says what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "each name is the whole of what there is to say")]
pub enum Situation {
    ShardMoved,
    ResumedAfterCallOff,
    SentElsewhereWhileFrozen,
    InstallDiscarded,
    ShardDropped,
    BarrierSent,
    BarrierSentStraight,
    BarrierWentBack,
    ChainBroken,
    MessageForwarded,
    MessageWaitedForTheTable,
    SomethingForgotten,
    StoreRefusedALateWrite,
    TurnLongerThanAllowed,
    LeavingNodeWasTold,
    StrangerFencedTheStore,
    EpochRaised,
}

const COUNT: usize = Situation::EpochRaised as usize + 1;

impl Situation {
    /// All of them, in their order.
    pub const ALL: [Self; COUNT] = [
        Self::ShardMoved,
        Self::ResumedAfterCallOff,
        Self::SentElsewhereWhileFrozen,
        Self::InstallDiscarded,
        Self::ShardDropped,
        Self::BarrierSent,
        Self::BarrierSentStraight,
        Self::BarrierWentBack,
        Self::ChainBroken,
        Self::MessageForwarded,
        Self::MessageWaitedForTheTable,
        Self::SomethingForgotten,
        Self::StoreRefusedALateWrite,
        Self::TurnLongerThanAllowed,
        Self::LeavingNodeWasTold,
        Self::StrangerFencedTheStore,
        Self::EpochRaised,
    ];
}

/// How often each situation came up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situations {
    counts: [u64; COUNT],
}

impl Situations {
    /// It came up.
    pub(in crate::sim) fn count(&mut self, situation: Situation) {
        self.counts[situation as usize] += 1;
    }

    /// Takes those of another run in.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
    }

    /// Those that never came up.
    pub fn never(&self) -> impl Iterator<Item = Situation> + '_ {
        Situation::ALL.into_iter().filter(|situation| self.counts[*situation as usize] == 0)
    }
}

impl fmt::Display for Situations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for situation in Situation::ALL {
            writeln!(f, "{:>9}  {situation:?}", self.counts[situation as usize])?;
        }
        Ok(())
    }
}
