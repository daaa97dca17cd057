//! A later founding has the greater era, as long as nobody sets a wall clock: what was fenced off by the earlier one stays so.
//!
//! Whether there may be a second founding at all is for `world/founding.rs` to say.

use borough_protocol::table::Cluster;

use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::rare::{Met, Rare};
use crate::sim::slots::Slots;
use crate::sim::violation::Violation;

/// Eras are read from a clock of seconds when a node starts.
const SAME_ERA: Nanos = SECOND;

/// The foundings of a run, in their order.
#[derive(Debug, Default)]
pub(super) struct RisingEras {
    is_void: bool,
    foundings: Vec<(Moment, Cluster)>,
}

impl RisingEras {
    /// A wall clock was set.
    pub(super) fn let_go(&mut self) {
        self.is_void = true;
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
        let born = slots.life(cluster.founder).map_or(at, |life| life.born);
        if !self.is_void && first.era >= cluster.era && born > at.after(SAME_ERA) {
            let text = format!("{cluster:?} was founded by a node born at {born}, {first:?} before, at {at}");
            return Err(Violation::Safety("rising_eras", text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::CLUSTER;

    #[test]
    fn foundings_are_counted_once() {
        let second = Cluster { era: 2, ..CLUSTER };
        let mut rule = RisingEras::default();
        let mut met = Met::default();
        let slots = Slots::empty(1);
        let mut joined = |cluster| rule.joined(Moment::START, cluster, &slots, &mut met);
        assert_eq!(joined(CLUSTER), Ok(()));
        assert_eq!(joined(CLUSTER), Ok(()));
        assert_eq!(joined(second), Ok(()));
        assert_eq!(met.times(Rare::FoundedAnew), 1);
    }
}
