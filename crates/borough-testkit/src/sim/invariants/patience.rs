//! A member of the older of two clusters that lost sight of its quorum yields to the younger only after 60 s.
//!
//! A quorum whose members are suspended for a moment would go over to the younger cluster one by one otherwise. A cluster that an operator had begun
//! anew in place of the older one is joined at once.

use borough_protocol::settings::Checked;

use crate::sim::meeting::Meeting;
use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::violation::Violation;

/// So long a member waits for its quorum, by its own clock.
const WAITS: Nanos = 60 * SECOND;

/// A member yields that has had no lease since then; none: it has, or had until a moment ago.
pub(super) fn yields(
    (now, since): (Moment, Option<Moment>),
    meeting: &Meeting,
    settings: &Checked,
) -> Result<(), Violation> {
    let Meeting { uid, ours, works, theirs } = meeting;
    if *works || theirs.cluster < *ours || theirs.ancestors.has(*ours) {
        return Ok(());
    }
    let waited = since.map_or(0, |since| now.since(since));
    // Its clock may be fast.
    if waited >= WAITS * 1000 / (1000 + u64::from(settings.drift_per_mille)) {
        return Ok(());
    }
    let text = format!(
        "{uid:?} of {ours:?} yields to {:?}, which is younger, {} ms after it lost its quorum",
        theirs.cluster,
        waited / 1_000_000
    );
    Err(Violation::Safety("patience", text))
}

#[cfg(test)]
mod tests {
    use borough_protocol::settings::Settings;

    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, meeting};

    #[test]
    fn a_suspended_member_waits_for_a_minute() {
        let settings = Checked::new(Settings::default()).expect("safe");
        let at = |seconds: u64| Moment::at(seconds * SECOND);
        let younger = meeting(CLUSTER.era + 1, false);
        let after = |seconds: u64, meeting| yields((at(100 + seconds), Some(at(100))), meeting, &settings);
        assert!(after(60, &younger).is_ok());
        assert!(matches!(after(5, &younger), Err(Violation::Safety("patience", _))));
        assert!(yields((at(100), None), &younger, &settings).is_err());
        assert!(after(5, &meeting(CLUSTER.era - 1, false)).is_ok());
    }
}
