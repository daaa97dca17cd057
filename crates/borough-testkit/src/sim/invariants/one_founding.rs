//! While a quorum of the voters lives, a cluster is founded once: also when all its seeds start at the same time.
//!
//! And a later founding has the greater era: what was fenced off by the earlier one stays so.

use borough_protocol::table::Cluster;

use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::plan::Mode;
use crate::sim::rare::{Met, Rare};
use crate::sim::slots::Slots;
use crate::sim::violation::Violation;

/// Eras are read from a clock of seconds when a node starts.
const SAME_ERA: Nanos = SECOND;

/// The foundings of a run, in their order.
#[derive(Debug)]
pub(super) struct OneFounding {
    is_bound: bool,
    foundings: Vec<(Moment, Cluster)>,
}

impl OneFounding {
    pub(super) fn new(mode: Mode) -> Self {
        Self { is_bound: mode != Mode::Wild, foundings: Vec::new() }
    }

    /// A quorum was lost after all: others may be founded.
    pub(super) fn let_go(&mut self) {
        self.is_bound = false;
    }

    /// Somebody belongs to that cluster now, first of all its founder.
    pub(super) fn joined(
        &mut self,
        now: Moment,
        cluster: Cluster,
        slots: &Slots,
        met: &mut Met,
    ) -> Result<(), Violation> {
        if self.foundings.iter().any(|(_, known)| *known == cluster) {
            return Ok(());
        }
        let first = self.foundings.first().copied();
        self.foundings.push((now, cluster));
        let Some((at, first)) = first else { return Ok(()) };
        met.count(if slots.has_other_cluster(cluster) { Rare::TwoFoundings } else { Rare::FoundedAnew });
        if self.is_bound {
            let text = format!("{cluster:?} was founded although {first:?} had lost no quorum");
            return Err(Violation::Safety("one_founding", text));
        }
        let born = slots.life(cluster.founder).map_or(at, |life| life.born);
        if first.era >= cluster.era && born > at.after(SAME_ERA) {
            let text = format!("{cluster:?} was founded by a node born at {born}, {first:?} before, at {at}");
            return Err(Violation::Safety("one_founding", text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::CLUSTER;

    #[test]
    fn a_second_founding_is_found_unless_anything_goes() {
        let second = Cluster { era: 2, ..CLUSTER };
        for (mode, is_found) in [(Mode::Safe, true), (Mode::Wild, false)] {
            let mut rule = OneFounding::new(mode);
            let mut met = Met::default();
            let slots = Slots::empty(1);
            let mut joined = |cluster| rule.joined(Moment::START, cluster, &slots, &mut met);
            assert_eq!(joined(CLUSTER), Ok(()));
            assert_eq!(joined(CLUSTER), Ok(()));
            assert_eq!(joined(second).is_err(), is_found);
            assert_eq!(met.times(Rare::FoundedAnew), 1);
        }
    }
}
