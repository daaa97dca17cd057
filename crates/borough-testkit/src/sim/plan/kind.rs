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
pub enum Kind {
    /// Everything that may happen to a cluster.
    Usual,
    /// Links between several pairs are bad for 30 to 90 s, in rounds, for some minutes.
    BadLinks,
    /// Founders ask for the promise of one seed, and crash with it, or the seed does.
    Founders,
    /// A machine is cut off for good and runs on, and another one starts at its address. No seed has it: it is chosen for a planted flaw.
    Replaced,
    /// A node that no voter lists is removed, and remembers its cluster, while it alone reaches the seed of all, which starts again. No seed has it: it is chosen for a
    /// planted flaw.
    Remembering,
}

impl Kind {
    /// Of the run of that seed. One that is asked to be of a mode, or to have shards, is as usual.
    pub(super) fn of(seed: u64, wish: &Wish) -> Self {
        if let Some(kind) = wish.kind {
            return kind;
        }
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
            Self::Founders | Self::Replaced | Self::Remembering => Some(Mode::Wild),
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

/// How many nodes a run with a replaced machine has: enough for those that stay to go on.
pub(super) fn of_replaced(random: &mut Random) -> usize {
    3 + any(random, 4)
}

/// A machine is cut off, and within a second another one is started at its address.
pub(super) fn replaced(random: &mut Random, nodes: usize, faulty: Nanos) -> Vec<Strike> {
    let lasts = random.between(5 * SECOND, 20 * SECOND);
    let at = random.between(FIRST_ROUND, faulty - lasts - SECOND);
    let whom = if random.per_mille(300) { Target::Coordinator } else { Target::Slot(any(random, nodes)) };
    let back_after = random.between(MILLISECOND, SECOND);
    vec![strike(at, None, Fault::Replaced { whom, back_after, lasts })]
}

/// How many nodes a run of one that remembers has: a quorum of the voters is left without two of them.
pub(super) fn of_remembering(random: &mut Random) -> usize {
    5 + any(random, 3)
}

/// All name one seed, which names the first node, too: it founds by the promise of that one alone, and the other way round, and the lesser address has it.
pub(super) fn remembering_lists(random: &mut Random, nodes: usize) -> (Vec<Vec<SlotIndex>>, SlotIndex) {
    let common = 1 + any(random, nodes - 1);
    let list = |slot: SlotIndex| if slot == 0 || slot == common { vec![common, 0] } else { vec![common] };
    ((0..nodes).map(list).collect(), common)
}

/// The common seed is cut off from all but the first node, and crashes. That node is removed, and has given up when the seed is back.
pub(super) fn remembering(
    random: &mut Random,
    common: SlotIndex,
    nodes: usize,
    faulty: Nanos,
) -> Vec<Strike> {
    let lasts = random.between(15 * SECOND, 25 * SECOND);
    let at = random.between(FIRST_ROUND, faulty - lasts - SECOND);
    let mut others = (1..nodes).filter(|slot| *slot != common);
    let ways = others.clone().flat_map(|slot| [(slot, common), (common, slot)]).collect();
    let by = others.next_back().map_or(Target::Coordinator, Target::Slot);
    let back_after = Some(random.between(3 * SECOND, 6 * SECOND));
    vec![
        strike(at, None, Fault::BadLinks { ways, lasts }),
        strike(at, None, Fault::Crash { whom: Target::Slot(common), back_after }),
        strike(at + random.below(SECOND), None, Fault::Down { by, whom: Target::Slot(0) }),
    ]
}

fn strike(at: Nanos, cue: Option<(Cue, Nanos)>, fault: Fault) -> Strike {
    Strike { number: 0, at: Moment::at(at), cue, fault }
}

fn any(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or_default()
}
