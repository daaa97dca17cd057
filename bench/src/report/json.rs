//! The report for programs: an array with one object a row.

use super::{Report, table};
use crate::cluster::{self, Unit};
use crate::programs::{self, BOROUGH};
use crate::row::{Row, Verdict};
use crate::samples::{Samples, Spread};
use crate::workloads::Workload;
use serde_json::{Map, Value, json};

/// Figures are in the row's `unit`; absent ones are null. `met` is null when goals are not judged.
pub(super) fn render(report: &Report<'_>) -> String {
    let skipped: Map<_, _> =
        report.skipped.iter().map(|(name, why)| ((*name).to_owned(), json!(why))).collect();
    let mut rows: Vec<_> = report.rows.iter().map(|row| object(row, report.samples, &skipped)).collect();
    rows.extend(report.clusters.iter().map(of_cluster));
    format!("{:#}\n", Value::from(rows))
}

fn object(row: &Row, samples: &Samples, skipped: &Map<String, Value>) -> Value {
    let workload = row.goal.workload;
    let judged = row.verdict != Verdict::Unjudged;
    json!({
        "workload": workload.name(),
        "unit": workload.unit(),
        "peer": row.peer.map(|(_, spread)| spread.median),
        "peer_name": row.peer.map(|(name, _)| name),
        "peer_range": row.peer.map(|(_, spread)| range(spread)),
        "limit": row.limit.map(|(_, spread)| spread.median),
        "limit_name": row.limit.map(|(name, _)| name),
        "borough": row.borough.map(|spread| spread.median),
        "borough_range": row.borough.map(range),
        "ratio": row.ratio,
        "goal": judged.then(|| row.goal.bound.number()),
        "goal_is": if row.goal.bound.is_ceiling() { "at most" } else { "at least" },
        "goal_text": judged.then(|| table::wish(&row.goal)),
        "met": judged.then_some(row.verdict == Verdict::Met),
        "others_share": samples.busy(workload).map(|share| share.median),
        "runs": runs(workload, samples),
        "skipped": skipped,
    })
}

/// The same keys, of a row that has neither peers nor a limit.
fn of_cluster(row: &cluster::Row) -> Value {
    let (unit, spread) = row.figure.unzip();
    let judged = row.verdict != Verdict::Unjudged;
    let runs = match &row.verdict {
        Verdict::Unmeasured(reason) => json!({ BOROUGH: { "failed": reason } }),
        _ => json!({ BOROUGH: row.runs }),
    };
    json!({
        "workload": row.goal.figure,
        "measurement": row.goal.measurement.name(),
        "unit": unit.map(Unit::name),
        "peer": Value::Null,
        "peer_name": Value::Null,
        "peer_range": Value::Null,
        "limit": Value::Null,
        "limit_name": Value::Null,
        "borough": spread.map(|spread| spread.median),
        "borough_range": spread.map(range),
        "ratio": Value::Null,
        "goal": row.goal.of.number().filter(|_| judged),
        "goal_is": "at most",
        "goal_text": judged.then(|| table::wish_of_cluster(row)),
        "met": judged.then_some(row.verdict == Verdict::Met),
        "others_share": row.others,
        "runs": runs,
        "skipped": {},
    })
}

fn range(spread: Spread) -> [f64; 2] {
    [spread.low, spread.high]
}

/// Every run of every program under the workload, or why there is none.
fn runs(workload: Workload, samples: &Samples) -> Value {
    let mut all = Map::new();
    for (program, _) in programs::all() {
        let runs = samples.runs(workload, program);
        match samples.failure(workload, program) {
            Some(reason) => _ = all.insert(program.to_owned(), json!({ "failed": reason })),
            None if runs.is_empty() => {}
            None => _ = all.insert(program.to_owned(), json!(runs)),
        }
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::starts_and_leaves;
    use crate::goals::LOCAL;
    use crate::row::{rows, tests::tell1};

    fn rendered(samples: &Samples, judged: bool) -> Value {
        let skipped = [("actix", "error: gone".to_owned())];
        let rows = rows(&LOCAL, samples, judged);
        let report = Report { rows: &rows, clusters: &[], samples, skipped: &skipped };
        serde_json::from_str(&render(&report)).unwrap()
    }

    #[test]
    fn a_row_of_a_cluster_has_the_promised_keys_too() {
        let clusters = starts_and_leaves("3000, 5000, 4000", "300", "");
        let report = Report { rows: &[], clusters: &clusters, samples: &Samples::default(), skipped: &[] };
        let report: Value = serde_json::from_str(&render(&report)).unwrap();
        let start = &report[0];
        assert_eq!((&start["workload"], &start["unit"]), (&json!("cold_start"), &json!("ms")));
        assert_eq!(
            (&start["borough"], &start["goal"], &start["met"]),
            (&json!(4000.0), &json!(4000.0), &json!(true))
        );
        assert_eq!(start["runs"][BOROUGH], json!([3000.0, 5000.0, 4000.0]));
        assert_eq!((&report[3]["workload"], &report[3]["met"]), (&json!("leave_silence"), &json!(false)));
        let row = rendered(&tell1(4.0), true);
        let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(keys(&row[0]).iter().all(|key| keys(start).contains(key)));
    }

    #[test]
    fn a_cluster_that_lost_something_says_so_instead_of_figures() {
        let clusters = starts_and_leaves("3000", "10", r#""a message was lost""#);
        let report = Report { rows: &[], clusters: &clusters, samples: &Samples::default(), skipped: &[] };
        let report: Value = serde_json::from_str(&render(&report)).unwrap();
        let silence = &report[3];
        assert_eq!((&silence["borough"], &silence["met"]), (&Value::Null, &json!(false)));
        assert_eq!(silence["runs"][BOROUGH]["failed"], "a message was lost");
    }

    #[test]
    fn one_object_a_row_with_the_promised_keys() {
        let report = rendered(&tell1(4.0), true);
        assert_eq!(report.as_array().unwrap().len(), 2);
        let row = &report[0];
        assert_eq!(row["workload"], "tell1");
        assert_eq!((&row["peer"], &row["peer_name"]), (&json!(5e6), &json!("xtra")));
        assert_eq!((&row["limit"], &row["borough"]), (&json!(1e8), &json!(2e7)));
        assert_eq!((&row["ratio"], &row["goal"], &row["met"]), (&json!(4.0), &json!(4.0), &json!(true)));
        assert_eq!(row["runs"]["kameo"], json!([3e6]));
        assert_eq!(row["skipped"], json!({ "actix": "error: gone" }));
        assert_eq!((&report[1]["peer"], &report[1]["met"]), (&Value::Null, &json!(false)));
    }

    #[test]
    fn a_failed_program_says_why() {
        let mut samples = tell1(4.0);
        samples.record(Workload::Tell1, BOROUGH, Err("wrong sum: 1 instead of 2".to_owned()));
        let report = rendered(&samples, true);
        assert_eq!(report[0]["runs"][BOROUGH]["failed"], "wrong sum: 1 instead of 2");
        assert_eq!((&report[0]["borough"], &report[0]["met"]), (&Value::Null, &json!(false)));
    }

    #[test]
    fn unjudged_rows_have_neither_goal_nor_verdict() {
        let row = &rendered(&tell1(4.0), false)[0];
        assert_eq!((&row["goal"], &row["met"]), (&Value::Null, &Value::Null));
    }
}
