//! The drawing of what happens to disks. By chance of its own: all else is drawn as in a run without disks.

use borough_protocol::random::Random;

use super::Mode;
use crate::sim::disk;
use crate::sim::fault::{Fault, Target};
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};
use crate::sim::strike::{Cue, Strike};

/// Disks that are copied later than that are not restored in time.
const LAST_COPY: Nanos = 25 * SECOND;

/// Disks that are copied up to then may have no log yet.
const BEFORE_LOGS: Nanos = 8 * SECOND;

/// The faults of the disks of that seed.
pub(super) fn draw(seed: u64, mode: Mode, slots: usize, faulty: Nanos) -> Vec<Strike> {
    let mut random = disk::chance(seed);
    // What decides whether there are disks at all.
    random.next_u64();
    let mut random = Random::seeded(random.next_u64());
    let mut strikes = Vec::new();
    let (first, last) = (SECOND, faulty - SECOND);
    for _ in 0..random.between(2, 7) {
        let fault = fault(&mut random, slots);
        strikes.push(strike(&mut random, (first, last), None, fault));
    }
    for _ in 0..random.between(2, 6) {
        let delay = random.below(20 * MILLISECOND);
        let back_after = Some(back_after(&mut random));
        let fault = Fault::Crash { whom: Target::Victim, back_after };
        strikes.push(strike(&mut random, (first, last), Some((Cue::Write, delay)), fault));
    }
    if random.per_mille(400) {
        let (after, back_after) = (random.between(SECOND, 25 * SECOND), back_after(&mut random));
        let fault = Fault::DiskRestored { whom: target(&mut random, slots), after, back_after };
        strikes.push(strike(&mut random, (5 * SECOND, LAST_COPY), None, fault));
    }
    if mode == Mode::Wild {
        for _ in 0..random.below(3) {
            let fault = power_cycle(&mut random, slots);
            strikes.push(strike(&mut random, (first, last), None, fault));
        }
    }
    for _ in 0..random.below(3) {
        let (after, back_after) = (random.between(3 * SECOND, 40 * SECOND), back_after(&mut random));
        let whom = Target::Slot(usize::try_from(random.below(slots as u64)).unwrap_or_default());
        let fault = Fault::DiskRestored { whom, after, back_after };
        strikes.push(strike(&mut random, (200 * MILLISECOND, BEFORE_LOGS), None, fault));
    }
    strikes
}

fn strike(
    random: &mut Random,
    (first, last): (Nanos, Nanos),
    cue: Option<(Cue, Nanos)>,
    fault: Fault,
) -> Strike {
    Strike { number: 0, at: Moment::at(random.between(first, last)), cue, fault }
}

fn fault(random: &mut Random, slots: usize) -> Fault {
    let whom = target(random, slots);
    match random.below(10) {
        0..4 => Fault::DiskStuck { whom, lasts: random.between(200 * MILLISECOND, 10 * SECOND) },
        4..6 => {
            let lasts = random.between(SECOND, 15 * SECOND);
            Fault::DiskFull { whom, lasts, back_after: back_after(random) }
        }
        6..8 => Fault::DiskLost { whom, back_after: back_after(random) },
        _ => Fault::Crash { whom, back_after: Some(back_after(random)) },
    }
}

/// Everything at once, and back in any order: within a moment, or one after the other.
fn power_cycle(random: &mut Random, slots: usize) -> Fault {
    let longest = if random.per_mille(500) { SECOND } else { 15 * SECOND };
    Fault::PowerCycle { back_after: (0..slots).map(|_| random.between(10 * MILLISECOND, longest)).collect() }
}

fn target(random: &mut Random, slots: usize) -> Target {
    let slot = usize::try_from(random.below(slots as u64)).unwrap_or_default();
    match random.below(10) {
        0..3 => Target::Coordinator,
        3..5 => Target::Follower(slot),
        _ => Target::Slot(slot),
    }
}

fn back_after(random: &mut Random) -> Nanos {
    let longest = if random.per_mille(500) { SECOND } else { 8 * SECOND };
    random.between(10 * MILLISECOND, longest)
}
