//! While a quorum of the voters lives, a cluster is founded once: also when all its seeds start at the same time.

use borough_protocol::table::Cluster;

use crate::sim::plan::Mode;
use crate::sim::rare::{Met, Rare};
use crate::sim::violation::Violation;

/// The foundings of a run.
#[derive(Debug)]
pub(super) struct OneFounding {
    is_bound: bool,
    first: Option<Cluster>,
}

impl OneFounding {
    pub(super) fn new(mode: Mode) -> Self {
        Self { is_bound: mode != Mode::Wild, first: None }
    }

    /// Somebody belongs to that cluster now; `other_lives` says whether anybody belongs to another one.
    pub(super) fn joined(
        &mut self,
        cluster: Cluster,
        other_lives: bool,
        met: &mut Met,
    ) -> Result<(), Violation> {
        let first = *self.first.get_or_insert(cluster);
        if first >= cluster {
            return Ok(());
        }
        self.first = Some(cluster);
        met.count(if other_lives { Rare::TwoFoundings } else { Rare::FoundedAnew });
        if self.is_bound {
            let text = format!("{cluster:?} was founded although {first:?} had lost no quorum");
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
            assert_eq!(rule.joined(CLUSTER, false, &mut met), Ok(()));
            assert_eq!(rule.joined(CLUSTER, false, &mut met), Ok(()));
            assert_eq!(rule.joined(second, true, &mut met).is_err(), is_found);
            assert_eq!(met.times(Rare::TwoFoundings), 1);
        }
    }
}
