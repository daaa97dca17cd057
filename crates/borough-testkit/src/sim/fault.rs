//! What can be done to a cluster. Each fault is whole in itself, its end included, so that any of them can be left out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cuts::SlotIndex;
use super::moment::{MILLISECOND, Nanos};
use super::network::Weather;

/// Whom a fault strikes. Roles are looked up when it strikes; nobody is struck if nobody has the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Whoever runs in that slot.
    Slot(SlotIndex),
    /// Whoever is in office; the one of the newest term, if several believe to be.
    Coordinator,
    /// Whom a fault that lay in wait found about to be removed.
    Victim,
    /// A voter that is not in office, the first from that slot on.
    Follower(SlotIndex),
}

/// Something bad, or at least untimely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the sentence above each variant uses the names of its fields")]
pub enum Fault {
    /// The process dies; another starts at its address after a while, if ever before the end of the faults.
    Crash { whom: Target, back_after: Option<Nanos> },
    /// The process stands still: it handles nothing, what is sent to it waits, its clock goes on.
    Pause { whom: Target, lasts: Nanos },
    /// Nothing passes between these slots and all others.
    Partition { side: Vec<SlotIndex>, lasts: Nanos },
    /// Nothing passes between the fewest voters that are a quorum and all others.
    VotersCutOff { lasts: Nanos },
    /// The processes in these slots die, and others start there, one after another within a while.
    Restart { slots: Vec<SlotIndex>, back_within: Nanos },
    /// The wall clock of that machine is set back or forth. The clock that measures time runs on.
    WallClock { whom: Target, seconds: i32 },
    /// Nothing passes between these two.
    Apart { one: Target, other: Target, lasts: Nanos },
    /// Nothing passes from the one to the other; the way back is open.
    OneWay { from: Target, to: Target, lasts: Nanos },
    /// Nothing passes on any of these ways, from the one slot to the other.
    BadLinks { ways: Vec<(SlotIndex, SlotIndex)>, lasts: Nanos },
    /// It hears nobody; everybody hears it.
    Deaf { whom: Target, lasts: Nanos },
    /// Nobody hears it; it hears everybody.
    Mute { whom: Target, lasts: Nanos },
    /// The network is bad for everybody.
    Storm { weather: Weather, lasts: Nanos },
    /// It is told to leave; another starts at its address after a while, if ever before the end of the faults.
    Leave { whom: Target, back_after: Option<Nanos> },
    /// `by` is told to have `whom` removed.
    Down { by: Target, whom: Target },
    /// `by` is told that a connection to `whom` was refused, which says nothing about `whom`.
    Refused { by: Target, whom: Target },
    /// A node starts in a slot that was empty so far.
    Start { slot: SlotIndex },
    /// `by` is told to shut the whole cluster down.
    Close { by: Target },
    /// As many voters of its cluster die as leave no quorum, `whom` is cut off from all others, and as soon as it may it is told to begin the
    /// cluster anew.
    Recover { whom: Target, back_after: Nanos, lasts: Nanos },
    /// The seeds behind the list of that slot crash and start again, cut off from a quorum that works. Once they are a cluster, a member of the first
    /// one is cut off with them, if one follows.
    SeedsCutOff { of: SlotIndex, lasts: Nanos, is_followed: bool },
    /// A node is cut off from a quorum that works, and as soon as it may it is told to recover the cluster.
    RecoverByMistake { whom: Target, lasts: Nanos },
    /// Its disk syncs nothing for a while.
    DiskStuck { whom: Target, lasts: Nanos },
    /// Its disk has no room; after a while somebody makes room and starts the process again.
    DiskFull { whom: Target, lasts: Nanos, back_after: Nanos },
    /// The machine is lost with its disk; another one starts at its address with an empty one.
    DiskLost { whom: Target, back_after: Nanos },
    /// A copy of its disk is made now; after a while the process dies, and another one starts with the copy, if no other voter lacks anything then.
    DiskRestored { whom: Target, after: Nanos, back_after: Nanos },
    /// Nothing passes between its machine and all others for a while, and then it ends. Meanwhile it runs on, and another machine has its address: a new process starts
    /// there after a while.
    Replaced { whom: Target, back_after: Nanos, lasts: Nanos },
    /// All processes die at once; the one in each slot is back after a while of its own.
    PowerCycle { back_after: Vec<Nanos> },
}

impl Fault {
    /// Whether it speaks of slots below `slots` only.
    pub fn fits(&self, slots: usize) -> bool {
        let fits = |target: &Target| match target {
            Target::Slot(slot) | Target::Follower(slot) => *slot < slots,
            Target::Coordinator | Target::Victim => true,
        };
        match self {
            Self::Crash { whom, .. }
            | Self::Pause { whom, .. }
            | Self::Deaf { whom, .. }
            | Self::Mute { whom, .. }
            | Self::Leave { whom, .. }
            | Self::Recover { whom, .. }
            | Self::RecoverByMistake { whom, .. }
            | Self::DiskStuck { whom, .. }
            | Self::DiskFull { whom, .. }
            | Self::DiskLost { whom, .. }
            | Self::DiskRestored { whom, .. }
            | Self::Replaced { whom, .. }
            | Self::WallClock { whom, .. }
            | Self::Close { by: whom } => fits(whom),
            Self::Apart { one, other, .. } => fits(one) && fits(other),
            Self::OneWay { from, to, .. } => fits(from) && fits(to),
            Self::Down { by, whom } | Self::Refused { by, whom } => fits(by) && fits(whom),
            Self::Partition { side, .. } => side.iter().all(|slot| *slot < slots) && side.len() < slots,
            Self::Start { slot } | Self::SeedsCutOff { of: slot, .. } => *slot < slots,
            Self::BadLinks { ways, .. } => ways.iter().all(|(from, to)| *from < slots && *to < slots),
            Self::Restart { slots: all, .. } => all.iter().all(|slot| *slot < slots),
            Self::Storm { .. } | Self::VotersCutOff { .. } | Self::PowerCycle { .. } => true,
        }
    }
}

impl Fault {
    /// The same with other targets.
    #[must_use]
    pub(super) fn with_targets(&self, find: impl Fn(Target) -> Target) -> Self {
        let mut fault = self.clone();
        match &mut fault {
            Self::Crash { whom, .. }
            | Self::Pause { whom, .. }
            | Self::Deaf { whom, .. }
            | Self::Mute { whom, .. }
            | Self::Leave { whom, .. }
            | Self::Recover { whom, .. }
            | Self::RecoverByMistake { whom, .. }
            | Self::DiskStuck { whom, .. }
            | Self::DiskFull { whom, .. }
            | Self::DiskLost { whom, .. }
            | Self::DiskRestored { whom, .. }
            | Self::Replaced { whom, .. }
            | Self::WallClock { whom, .. }
            | Self::Close { by: whom } => *whom = find(*whom),
            Self::Apart { one: a, other: b, .. }
            | Self::OneWay { from: a, to: b, .. }
            | Self::Down { by: a, whom: b }
            | Self::Refused { by: a, whom: b } => (*a, *b) = (find(*a), find(*b)),
            Self::Partition { .. }
            | Self::BadLinks { .. }
            | Self::VotersCutOff { .. }
            | Self::Restart { .. }
            | Self::SeedsCutOff { .. }
            | Self::Start { .. }
            | Self::PowerCycle { .. }
            | Self::Storm { .. } => {}
        }
        fault
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot(slot) => write!(f, "n{slot}"),
            Self::Coordinator => f.write_str("the coordinator"),
            Self::Victim => f.write_str("the one to be removed"),
            Self::Follower(slot) => write!(f, "a follower from n{slot} on"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { whom, back_after } => write!(f, "{whom} crashes{}", Back(*back_after)),
            Self::Pause { whom, lasts } => write!(f, "{whom} stands still for {}", Length(*lasts)),
            Self::Partition { side, lasts } => {
                write!(f, "slots {side:?} are cut off from the others for {}", Length(*lasts))
            }
            Self::VotersCutOff { lasts } => {
                write!(f, "a quorum of the voters is cut off from the others for {}", Length(*lasts))
            }
            Self::Restart { slots, back_within } => {
                write!(f, "slots {slots:?} crash{}", Back(Some(*back_within)))
            }
            Self::WallClock { whom, seconds } => write!(f, "the wall clock of {whom} is set by {seconds} s"),
            Self::Apart { one, other, lasts } => {
                write!(f, "{one} and {other} are cut apart for {}", Length(*lasts))
            }
            Self::OneWay { from, to, lasts } => {
                write!(f, "{from} is not heard by {to} for {}", Length(*lasts))
            }
            Self::BadLinks { ways, lasts } => {
                write!(f, "nothing passes from one to the other of {ways:?} for {}", Length(*lasts))
            }
            Self::Deaf { whom, lasts } => write!(f, "{whom} hears nobody for {}", Length(*lasts)),
            Self::Mute { whom, lasts } => write!(f, "{whom} is heard by nobody for {}", Length(*lasts)),
            Self::Storm { weather, lasts } => write!(
                f,
                "{} of 1000 messages are lost, delays of up to {}, for {}",
                weather.loss_per_mille,
                Length(weather.late_max),
                Length(*lasts)
            ),
            Self::Leave { whom, back_after } => write!(f, "{whom} leaves{}", Back(*back_after)),
            Self::Down { by, whom } => write!(f, "{by} is told to remove {whom}"),
            Self::Refused { by, whom } => write!(f, "{by} is refused a connection by {whom}"),
            Self::Start { slot } => write!(f, "n{slot} starts"),
            Self::Close { by } => write!(f, "{by} is told to close the cluster"),
            Self::Recover { whom, back_after, lasts } => write!(
                f,
                "most voters of {whom} die{}, and it is to begin anew, cut off for {}",
                Back(Some(*back_after)),
                Length(*lasts)
            ),
            Self::SeedsCutOff { of, lasts, is_followed } => write!(
                f,
                "the seeds of n{of} crash and start again, cut off from a quorum for {}{}",
                Length(*lasts),
                if *is_followed { ", and one follows" } else { "" }
            ),
            Self::RecoverByMistake { whom, lasts } => write!(
                f,
                "{whom} is cut off for {}, and is to begin anew though a quorum works",
                Length(*lasts)
            ),
            Self::DiskStuck { whom, lasts } => {
                write!(f, "the disk of {whom} is stuck for {}", Length(*lasts))
            }
            Self::DiskFull { whom, lasts, back_after } => write!(
                f,
                "the disk of {whom} is full for {}, then it is started again{}",
                Length(*lasts),
                Back(Some(*back_after))
            ),
            Self::DiskLost { whom, back_after } => {
                write!(f, "{whom} is lost with its disk{}", Back(Some(*back_after)))
            }
            Self::DiskRestored { whom, after, back_after } => write!(
                f,
                "the disk of {whom} is copied, and restored {} later{}",
                Length(*after),
                Back(Some(*back_after))
            ),
            Self::Replaced { whom, back_after, lasts } => {
                let (lasts, back) = (Length(*lasts), Back(Some(*back_after)));
                write!(f, "{whom} is cut off until it ends after {lasts}; another has its address{back}")
            }
            Self::PowerCycle { back_after } => {
                let last = back_after.iter().max().copied();
                write!(f, "all crash, the last one{}", Back(last))
            }
        }
    }
}

/// A length as people read it.
struct Length(Nanos);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0 / MILLISECOND)
    }
}

/// When a slot is used again.
struct Back(Option<Nanos>);

impl fmt::Display for Back {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nanos) => write!(f, ", back after {}", Length(nanos)),
            None => f.write_str(" for good"),
        }
    }
}
