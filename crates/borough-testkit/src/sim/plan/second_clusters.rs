//! The drawing of second clusters: those of the documented exception, and those of an operator who is mistaken. By chance of its own.

use borough_protocol::random::Random;

use crate::sim::fault::{Fault, Target};
use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::strike::Strike;

/// So many of a thousand runs that may have a second cluster are to have one.
const DRAWN: u64 = 400;

/// What makes a second cluster in the run of that seed, if anything does.
pub(super) fn draw(seed: u64, slots: usize, faulty: Nanos) -> Option<Strike> {
    let mut random = Random::seeded(seed ^ 0x5EC0_0D00);
    if !random.per_mille(DRAWN) {
        return None;
    }
    let at = Moment::at(random.between(8 * SECOND, faulty - 25 * SECOND));
    let lasts = random.between(12 * SECOND, 30 * SECOND);
    let slot = usize::try_from(random.below(slots as u64)).unwrap_or_default();
    let fault = if random.per_mille(600) {
        Fault::SeedsCutOff { of: slot, lasts, is_followed: random.per_mille(700) }
    } else {
        Fault::RecoverByMistake { whom: Target::Slot(slot), lasts }
    };
    Some(Strike { number: 0, at, cue: None, fault })
}
