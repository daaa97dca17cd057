//! Who was removed for bad links is not admitted while it would be in the cover again.
//!
//! Judged by true time: the links that were bad when it was removed still are.

use std::collections::BTreeSet;

use borough_protocol::incarnation::Uid;

use super::fewest_go::FewestGo;
use crate::sim::cover;
use crate::sim::cuts::SlotIndex;
use crate::sim::violation::Violation;

/// A life in that slot is admitted to members in these slots, from the oldest to the youngest. `is_bad` tells which links of that round still are.
pub(super) fn admitted(
    round: &FewestGo,
    (uid, slot): (Uid, SlotIndex),
    mut members: Vec<SlotIndex>,
    is_bad: impl Fn(&(SlotIndex, SlotIndex)) -> bool,
) -> Result<(), Violation> {
    if !round.removed_from(slot) {
        return Ok(());
    }
    members.retain(|member| *member != slot);
    members.push(slot);
    let pairs: BTreeSet<_> = round.pairs().iter().copied().filter(is_bad).collect();
    if !cover::smallest(&members, &pairs).contains(&slot) {
        return Ok(());
    }
    let text = format!("{uid:?} is admitted in slot {slot} to {members:?}, and is in the cover of {pairs:?}");
    Err(Violation::Safety("kept_out", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::uid;

    #[test]
    fn it_stays_out_while_those_are_members_that_do_not_hear_it() {
        let mut round = FewestGo::begins([(0, 1), (0, 2)].into(), 4);
        let admitted = |round: &FewestGo, members: &[SlotIndex]| {
            admitted(round, (uid(9), 0), members.to_vec(), |_| true)
        };
        assert!(admitted(&round, &[1, 2, 3]).is_ok(), "it was not removed");
        round.removed(uid(1), 0).expect("it covers both pairs");
        assert!(matches!(admitted(&round, &[1, 2, 3]), Err(Violation::Safety("kept_out", _))));
        assert!(admitted(&round, &[3]).is_ok());
    }
}
