//! A goal held against what was measured.

use crate::goals::{Bound, Goal};
use crate::programs::BOROUGH;
use crate::samples::{Samples, Spread};

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) goal: Goal,
    pub(crate) peer: Option<(&'static str, Spread)>,
    pub(crate) limit: Option<(&'static str, Spread)>,
    pub(crate) borough: Option<Spread>,
    pub(crate) ratio: Option<f64>,
    pub(crate) verdict: Verdict,
}

/// What came of a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// Something needed has no figure; counts as missed.
    Unmeasured(String),
    /// Not judged, as the goals are for two cores, or because there is no goal.
    Unjudged,
}

impl Row {
    /// Holds a goal against the samples.
    pub(crate) fn of(goal: Goal, samples: &Samples, judged: bool) -> Self {
        let peer = samples.best(goal.workload, goal.peers);
        let limit = samples.best(goal.workload, goal.limits);
        let borough = samples.spread(goal.workload, BOROUGH);
        let base = match goal.bound {
            Bound::TimesPeer(_) | Bound::Shown => peer.map(|(_, spread)| spread),
            Bound::TimesLimit(_) | Bound::ShareOfLimit(_) | Bound::Value(_) => {
                limit.map(|(_, spread)| spread)
            }
            Bound::TimesOwn(_, workload) => samples.spread(workload, BOROUGH),
        };
        let ratio = borough.zip(base).map(|(borough, base)| borough.median / base.median);
        let judged = judged && goal.bound != Bound::Shown;
        let verdict = if judged { judge(goal.bound, borough, ratio) } else { Verdict::Unjudged };
        Self { goal, peer, limit, borough, ratio, verdict }
    }
}

fn judge(bound: Bound, borough: Option<Spread>, ratio: Option<f64>) -> Verdict {
    let Some(borough) = borough else { return Verdict::Unmeasured("no figure of ours".to_owned()) };
    let ratio = match bound {
        // Stands without a ratio.
        Bound::Value(_) => ratio.unwrap_or(f64::NAN),
        _ => match ratio {
            Some(ratio) => ratio,
            None => return Verdict::Unmeasured("nothing to compare with".to_owned()),
        },
    };
    if bound.holds(ratio, borough.median) { Verdict::Met } else { Verdict::Missed }
}

/// All rows whose workloads were measured.
pub(crate) fn rows(goals: &[Goal], samples: &Samples, judged: bool) -> Vec<Row> {
    let measured = samples.workloads();
    let wanted = |goal: &&Goal| {
        let base_measured = match goal.bound {
            Bound::TimesOwn(_, workload) => measured.contains(&workload),
            _ => true,
        };
        base_measured && measured.contains(&goal.workload)
    };
    goals.iter().filter(wanted).map(|goal| Row::of(*goal, samples, judged)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::goals::{LOCAL, REMOTE};
    use crate::workloads::Workload;

    /// Samples of `tell1` in which Borough is `times` as fast as xtra.
    pub(crate) fn tell1(times: f64) -> Samples {
        let mut samples = Samples::default();
        for (program, value) in [(BOROUGH, 5e6 * times), ("xtra", 5e6), ("kameo", 3e6), ("raw-batch", 1e8)] {
            samples.record(Workload::Tell1, program, Ok(value));
        }
        samples
    }

    #[test]
    fn the_best_peer_decides() {
        let met = &rows(&LOCAL, &tell1(4.0), true)[0];
        assert_eq!((met.peer.unwrap().0, met.ratio, &met.verdict), ("xtra", Some(4.0), &Verdict::Met));
        let missed = &rows(&LOCAL, &tell1(3.99), true)[0];
        assert_eq!(missed.verdict, Verdict::Missed);
    }

    #[test]
    fn a_row_without_its_peer_is_not_met() {
        let rows = rows(&LOCAL, &tell1(4.0), true);
        assert_eq!(rows.len(), 2, "only tell1 was measured");
        assert_eq!(rows[1].verdict, Verdict::Unmeasured("nothing to compare with".to_owned()));
    }

    #[test]
    fn a_row_without_us_is_not_met() {
        let mut samples = tell1(4.0);
        samples.record(Workload::Tell1, BOROUGH, Err("wrong sum".to_owned()));
        let rows = rows(&LOCAL, &samples, true);
        assert_eq!(rows[0].verdict, Verdict::Unmeasured("no figure of ours".to_owned()));
    }

    #[test]
    fn memory_is_held_against_bytes_not_against_the_limit() {
        let mut samples = Samples::default();
        samples.record(Workload::Memory, BOROUGH, Ok(480.0));
        samples.record(Workload::Memory, "raw-task", Ok(320.0));
        let row = &rows(&LOCAL, &samples, true)[0];
        assert_eq!((row.ratio, &row.verdict), (Some(1.5), &Verdict::Met));
    }

    #[test]
    fn threads_are_held_against_our_own_tasks() {
        let mut samples = Samples::default();
        samples.record(Workload::Tell4, BOROUGH, Ok(20.0));
        samples.record(Workload::Tell4Threads, BOROUGH, Ok(9.0));
        let own = rows(&LOCAL, &samples, true)
            .into_iter()
            .find(|row| matches!(row.goal.bound, Bound::TimesOwn(..)));
        let own = own.unwrap();
        assert_eq!((own.ratio, own.verdict), (Some(0.45), Verdict::Missed));
    }

    #[test]
    fn a_remote_tell_is_held_against_the_peer_and_against_the_raw_limit() {
        let mut samples = Samples::default();
        for (program, value) in [(BOROUGH, 5e6), ("ractor_cluster", 2.5e5), ("raw-tcp", 12.5e6)] {
            samples.record(Workload::RemoteTell, program, Ok(value));
        }
        let rows = rows(&REMOTE, &samples, true);
        assert_eq!((rows[0].ratio, &rows[0].verdict), (Some(20.0), &Verdict::Met));
        assert_eq!((rows[1].ratio, &rows[1].verdict), (Some(0.4), &Verdict::Missed));
    }

    #[test]
    fn pinned_rows_are_not_judged() {
        assert_eq!(rows(&LOCAL, &tell1(1.0), false)[0].verdict, Verdict::Unjudged);
    }
}
