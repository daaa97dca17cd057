//! A goal of a cluster held against what was measured.

use super::{Goal, Measured, Of, Unit};
use crate::row::Verdict;
use crate::samples::Spread;

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) goal: Goal,
    /// What its values are, and their spread; none if there is no value, or one that counts for nothing.
    pub(crate) figure: Option<(Unit, Spread)>,
    pub(crate) runs: Vec<f64>,
    pub(crate) others: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Row {
    fn of(goal: Goal, measured: &Measured, judged: bool) -> Self {
        let runs = measured.runs(goal.figure);
        let figure = runs.and_then(|(unit, runs)| Some((unit, Spread::of(runs)?)));
        // Half a result is none, and quick ones that lose something least of all.
        let figure = figure.filter(|_| measured.faults.is_empty());
        let verdict = match (figure, goal.of) {
            _ if !judged => Verdict::Unjudged,
            (None, _) => Verdict::Unmeasured(
                measured.faults.first().cloned().unwrap_or_else(|| "no such figure".to_owned()),
            ),
            (Some(_), Of::Shown) => Verdict::Unjudged,
            (Some((_, spread)), Of::Median(most)) if spread.median <= most => Verdict::Met,
            (Some((_, spread)), Of::Worst(most)) if spread.high <= most => Verdict::Met,
            (Some(_), Of::Median(_) | Of::Worst(_)) => Verdict::Missed,
        };
        let runs = runs.map(|(_, runs)| runs.to_vec()).unwrap_or_default();
        Self { goal, figure, runs, others: measured.others, verdict }
    }
}

/// All rows whose measurements were made.
pub(crate) fn rows(goals: &[Goal], all: &[Measured], judged: bool) -> Vec<Row> {
    let of = |goal: &Goal| {
        let measured = all.iter().find(|measured| measured.measurement == goal.measurement)?;
        Some(Row::of(*goal, measured, judged))
    };
    goals.iter().filter_map(of).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cluster::CLUSTER;

    /// The rows of cold starts that took so long, and of leaves with so much silence.
    pub(crate) fn starts_and_leaves(starts: &str, silence: &str, faults: &str) -> Vec<Row> {
        let starts = format!(
            r#"{{"measurement":"cold-start","figures":[{{"name":"cold_start","unit":"ms","runs":[{starts}]}}],"faults":[]}}"#
        );
        let leaves = format!(
            r#"{{"measurement":"leave","figures":[{{"name":"leave_silence","unit":"ms","runs":[{silence}]}},{{"name":"leave_lost","unit":"count","runs":[0]}},{{"name":"leave_took","unit":"ms","runs":[900]}}],"faults":[{faults}]}}"#
        );
        let all = [Measured::read(&starts).unwrap(), Measured::read(&leaves).unwrap()];
        rows(&CLUSTER, &all, true)
    }

    fn verdicts(rows: &[Row]) -> Vec<(&'static str, Verdict)> {
        rows.iter().map(|row| (row.goal.figure, row.verdict.clone())).collect()
    }

    #[test]
    fn the_middle_and_the_worst_run_are_held_against_goals_of_their_own() {
        let rows = starts_and_leaves("3000, 4000, 6001", "250, 100", "");
        assert_eq!(
            verdicts(&rows),
            [
                ("cold_start", Verdict::Met),
                ("cold_start", Verdict::Missed),
                ("leave_took", Verdict::Unjudged),
                ("leave_silence", Verdict::Met),
                ("leave_lost", Verdict::Met),
            ]
        );
        let slower = starts_and_leaves("3000, 4001, 6000", "250.1, 100", "");
        assert_eq!(slower[0].verdict, Verdict::Missed);
        assert_eq!(slower[1].verdict, Verdict::Met);
        assert_eq!(slower[3].verdict, Verdict::Missed);
    }

    #[test]
    fn figures_of_a_measurement_that_found_something_wrong_count_for_nothing() {
        let rows = starts_and_leaves("3000", "10", r#""3 times: a message was lost""#);
        assert_eq!(rows[0].verdict, Verdict::Met);
        for row in &rows[2..] {
            assert_eq!(row.verdict, Verdict::Unmeasured("3 times: a message was lost".to_owned()));
            assert_eq!(row.figure, None);
        }
    }
}
