//! Runs of a kind of their own, chosen by the number of the seed. What they draw besides comes from chance of its own: all other seeds are as they were
//! before there were any.

use borough_protocol::random::Random;

use super::{Mode, Wish};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::{Fault, Target};
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};
use crate::sim::strike::{Cue, Strike};

/// One seed of so many is of each kind.
const ONE_OF: u64 = 16;
const BAD_LINKS: u64 = 6;
const FOUNDERS: u64 = 12;

/// When the first links may be bad: a cluster has formed, and its voters' list is complete.
const FIRST_ROUND: Nanos = 15 * SECOND;
/// Between two rounds of bad links: who was removed comes back.
const REST: Nanos = 25 * SECOND;

/// What a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everything that may happen to a cluster.
    Usual,
    /// Links between several pairs are bad for 30 to 90 s, in rounds, for some minutes.
    BadLinks,
    /// Founders ask for the promise of one seed, and crash with it, or the seed does.
    Founders,
}

impl Kind {
    /// Of the run of that seed. One that is asked to be of a mode, or to have shards, is as usual.
    pub(super) fn of(seed: u64, wish: &Wish) -> Self {
        if wish.sharding || wish.mode.is_some() {
            return Self::Usual;
        }
        match seed % ONE_OF {
            BAD_LINKS => Self::BadLinks,
            FOUNDERS if wish.durable != Some(false) => Self::Founders,
            _ => Self::Usual,
        }
    }

    /// Its mode, if that is not drawn.
    pub(super) fn mode(self) -> Option<Mode> {
        match self {
            Self::Usual => None,
            Self::BadLinks => Some(Mode::Safe),
            Self::Founders => Some(Mode::Wild),
        }
    }
}

/// Where the chance of such a run comes from.
pub(super) fn chance(seed: u64) -> Random {
    Random::seeded(seed ^ 0x0BAD_1196)
}

/// How many nodes a run of bad links has, and how long they are bad.
pub(super) fn of_bad_links(random: &mut Random) -> (usize, Nanos) {
    (5 + any(random, 4), random.between(150 * SECOND, 400 * SECOND))
}

/// The rounds of a run, with one that crashes between some of them.
pub(super) fn bad_links(random: &mut Random, slots: usize, faulty: Nanos) -> Vec<Strike> {
    let mut strikes = Vec::new();
    let mut at = FIRST_ROUND + random.below(10 * SECOND);
    loop {
        let lasts = random.between(30 * SECOND, 90 * SECOND);
        if at + lasts + SECOND > faulty {
            return strikes;
        }
        strikes.push(strike(at, None, Fault::BadLinks { ways: ways(random, slots), lasts }));
        at += lasts + REST;
        if random.per_mille(300) {
            let whom =
                if random.per_mille(500) { Target::Coordinator } else { Target::Slot(any(random, slots)) };
            let back_after = Some(random.between(10 * MILLISECOND, 5 * SECOND));
            strikes.push(strike(at, None, Fault::Crash { whom, back_after }));
            at += REST;
        }
        at += random.below(20 * SECOND);
    }
}

/// One or two nodes that do not hear several others, or a few pairs.
fn ways(random: &mut Random, slots: usize) -> Vec<(SlotIndex, SlotIndex)> {
    let mut ways = Vec::new();
    let mut add = |random: &mut Random, one: SlotIndex, other: SlotIndex| {
        let is_new = !ways.contains(&(one, other)) && !ways.contains(&(other, one));
        if one != other && is_new {
            match random.below(4) {
                0 => ways.push((one, other)),
                1 => ways.push((other, one)),
                _ => ways.extend([(one, other), (other, one)]),
            }
        }
    };
    if random.per_mille(300) {
        for _ in 0..=random.below(4) {
            let (one, other) = (any(random, slots), any(random, slots));
            add(random, one, other);
        }
    } else {
        for _ in 0..=random.below(2) {
            let one = any(random, slots);
            for _ in 0..random.between(2, 5) {
                let other = any(random, slots);
                add(random, one, other);
            }
        }
    }
    ways
}

/// The lists of a run of founders: all name one seed, which is not the least, so that others get its promise.
pub(super) fn lists(random: &mut Random, nodes: usize, slots: usize) -> Vec<Vec<SlotIndex>> {
    let common = 1 + any(random, nodes - 1);
    let list = |random: &mut Random| {
        let other = any(random, nodes);
        if other != common && random.per_mille(200) { vec![common, other] } else { vec![common] }
    };
    (0..slots).map(|_| list(random)).collect()
}

/// Those that have a promise crash, and those that gave it.
pub(super) fn founders(random: &mut Random) -> Vec<Strike> {
    let mut strikes = Vec::new();
    for _ in 0..=random.below(2) {
        let back_after = Some(random.between(SECOND, 30 * SECOND));
        let cue = Some((Cue::Promised, random.below(2500 * MILLISECOND)));
        strikes.push(strike(0, cue, Fault::Crash { whom: Target::Victim, back_after }));
        let back_after = Some(random.between(10 * MILLISECOND, 2 * SECOND));
        let cue = Some((Cue::Promises, random.below(2500 * MILLISECOND)));
        strikes.push(strike(0, cue, Fault::Crash { whom: Target::Victim, back_after }));
    }
    strikes
}

fn strike(at: Nanos, cue: Option<(Cue, Nanos)>, fault: Fault) -> Strike {
    Strike { number: 0, at: Moment::at(at), cue, fault }
}

fn any(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or_default()
}
