//! What is asked of a cluster as it grows, and whether it is met.

use std::fmt;
use std::time::Duration;

use super::crowd::Role;
use super::phase::Share;
use super::scenario::{Course, crash_bound};

/// What a voter may send, and receive, each second in a cluster at rest.
const VOTER_BYTES_MAX: f64 = 1e6;

/// A goal and how it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Whether it was.
    pub is_met: bool,
    /// What was asked for, and what was measured.
    pub text: String,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.is_met { "met" } else { "missed" }, self.text)
    }
}

/// Judges some runs, in the order of their size.
pub fn goals(courses: &[Course]) -> Vec<Goal> {
    let growth = courses.windows(2).filter_map(|pair| growth(&pair[0], &pair[1]));
    let voters = courses.iter().filter_map(voter);
    let crashes = courses.iter().filter_map(crash);
    growth.chain(voters).chain(crashes).collect()
}

/// When nothing changes, the bytes of a member without a voice grow no faster than the logarithm of the number of nodes.
fn growth(small: &Course, large: &Course) -> Option<Goal> {
    let rate = |course: &Course| Some(course.phase("rest")?.share(Role::Member).both_ways());
    let (from, to) = (rate(small)?, rate(large)?);
    let allowed = logarithm(large.nodes) / logarithm(small.nodes);
    let (fewer, more) = (small.nodes, large.nodes);
    Some(Goal {
        is_met: to <= from * allowed,
        text: format!(
            "at rest a non-voter has {:.3} times the bytes of {fewer} nodes at {more}, at most {allowed:.3} times",
            to / from
        ),
    })
}

/// When nothing changes, a voter stays below a bound, each way.
fn voter(course: &Course) -> Option<Goal> {
    let rest = course.phase("rest")?;
    let busier = |share: &Share| {
        let (sent, received) = (share.traffic.all_sent(), share.traffic.all_received());
        share.byte_rate(sent).max(share.byte_rate(received))
    };
    let most = busier(rest.share(Role::Voter)).max(busier(rest.share(Role::Coordinator)));
    Some(Goal {
        is_met: most <= VOTER_BYTES_MAX,
        text: format!(
            "at rest a voter of {} nodes has {:.1} kB/s in its busier direction, at most {:.0} kB/s",
            course.nodes,
            most / 1e3,
            VOTER_BYTES_MAX / 1e3
        ),
    })
}

/// A crash is known to all in time.
fn crash(course: &Course) -> Option<Goal> {
    let known = Duration::from_nanos(course.phase("crash")?.known_after?);
    let bound = crash_bound();
    Some(Goal {
        is_met: known <= bound,
        text: format!(
            "a crash is known to all of {} nodes after {:.2} s, at most {:.2} s",
            course.nodes,
            known.as_secs_f64(),
            bound.as_secs_f64()
        ),
    })
}

#[expect(clippy::cast_precision_loss, reason = "no cluster is that large")]
fn logarithm(nodes: usize) -> f64 {
    (nodes as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::sample;

    fn met(courses: &[Course]) -> Vec<bool> {
        goals(courses).iter().map(|goal| goal.is_met).collect()
    }

    #[test]
    fn a_constant_non_voter_a_linear_voter_and_a_quick_crash_meet_the_goals() {
        let courses = [sample(100, 3000, 40_000, 700), sample(1000, 3000, 400_000, 800)];
        assert_eq!(met(&courses), [true; 5]);
    }

    #[test]
    fn a_non_voter_may_grow_as_the_logarithm_and_no_faster() {
        let small = sample(100, 3000, 1, 1);
        assert!(met(&[small.clone(), sample(1000, 4400, 1, 1)])[0]);
        assert!(!met(&[small, sample(1000, 4600, 1, 1)])[0]);
    }

    #[test]
    fn a_voter_above_the_bound_and_a_late_crash_are_missed() {
        assert_eq!(met(&[sample(1000, 3000, 1_200_000, 5000)]), [false, false]);
    }
}
