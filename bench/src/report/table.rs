//! The tables in the terminal: the goals, then every program.

use crate::cluster::{self, Of, Unit};
use crate::goals::{Bound, Goal};
use crate::programs::{self, PEERS};
use crate::row::{Row, Verdict};
use crate::samples::{Samples, Spread};
use crate::workloads::Workload;

/// One line a goal; without the goals' columns when none is judged.
pub(super) fn goals(rows: &[Row], judged: bool) -> String {
    let mut heads = vec!["workload", "best peer", "raw limit", "borough", "ratio"];
    if judged {
        heads.extend(["goal", ""]);
    }
    let mut lines = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in rows {
        let workload = row.goal.workload;
        let named = |it: Option<(&str, Spread)>| {
            it.map_or_else(|| "-".to_owned(), |(name, spread)| format!("{name} {}", figure(workload, spread)))
        };
        let mut line = vec![
            workload.title().to_owned(),
            named(row.peer),
            named(row.limit),
            row.borough.map_or_else(|| "-".to_owned(), |spread| figure(workload, spread)),
            row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        ];
        if judged {
            line.extend([wish(&row.goal), verdict(&row.verdict)]);
        }
        lines.push(line);
    }
    aligned(&lines)
}

/// One line a program, one column a workload.
pub(super) fn programs(samples: &Samples) -> String {
    let workloads = samples.workloads();
    let mut lines = vec![vec!["medians".to_owned()]];
    lines[0].extend(workloads.iter().map(|workload| workload.name().to_owned()));
    for (program, _) in programs::all() {
        let shown = |workload: &Workload| match samples.spread(*workload, program) {
            Some(spread) => workload.show(spread.median),
            None if samples.failed(*workload, program) => "failed".to_owned(),
            None => "-".to_owned(),
        };
        let mut line = vec![program.to_owned()];
        line.extend(workloads.iter().map(shown));
        if line.iter().skip(1).any(|figure| figure != "-") {
            lines.push(line);
        }
    }
    let busy = |workload: &Workload| {
        samples
            .busy(*workload)
            .map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share.median * 100.0))
    };
    let mut others = vec!["others' share".to_owned()];
    others.extend(workloads.iter().map(busy));
    lines.push(others);
    aligned(&lines)
}

/// One line a figure of a cluster.
pub(super) fn clusters(rows: &[cluster::Row], judged: bool) -> String {
    let mut heads = vec!["cluster", "median", "range", "runs"];
    if judged {
        heads.extend(["goal", ""]);
    }
    let mut lines = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in rows {
        let shown = |of: fn(Unit, Spread) -> String| {
            row.figure.map_or_else(|| "-".to_owned(), |(unit, spread)| of(unit, spread))
        };
        let mut line = vec![
            row.goal.title.to_owned(),
            shown(|unit, spread| unit.show(spread.median)),
            shown(|unit, spread| format!("{}..{}", unit.show(spread.low), unit.show(spread.high))),
            row.runs.len().to_string(),
        ];
        if judged {
            line.extend([wish_of_cluster(row), verdict(&row.verdict)]);
        }
        lines.push(line);
    }
    aligned(&lines)
}

/// What a goal of a cluster asks for, in words.
pub(super) fn wish_of_cluster(row: &cluster::Row) -> String {
    let show = |most| row.figure.map_or_else(|| format!("{most}"), |(unit, _)| unit.show(most));
    match row.goal.of {
        Of::Median(most) => format!("median at most {}", show(most)),
        Of::Worst(most) => format!("at most {}", show(most)),
        Of::Shown => "-".to_owned(),
    }
}

/// What a goal asks for, in words.
pub(super) fn wish(goal: &Goal) -> String {
    let number = goal.bound.number();
    match goal.bound {
        Bound::TimesPeer(_) => format!("at least {number} x {}", peers(goal.peers)),
        Bound::TimesLimit(_) => format!("at most {number} x raw limit"),
        Bound::ShareOfLimit(_) => format!("at least {number} of raw limit"),
        Bound::TimesOwn(_, workload) => format!("at least {number} x own {}", workload.name()),
        Bound::Value(_) => format!("at most {}", goal.workload.show(number)),
        Bound::Shown => "-".to_owned(),
    }
}

fn peers(peers: &[&str]) -> String {
    match peers {
        [one] => (*one).to_owned(),
        all if all.len() == PEERS.len() => "best peer".to_owned(),
        some => format!("best of {}", some.join(", ")),
    }
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Met => "met".to_owned(),
        Verdict::Missed => "missed".to_owned(),
        Verdict::Unmeasured(reason) => format!("missed ({reason})"),
        Verdict::Unjudged => String::new(),
    }
}

fn figure(workload: Workload, spread: Spread) -> String {
    let median = workload.show(spread.median);
    let unit = median.rsplit(' ').next().unwrap_or_default();
    // The ends of a range name their unit only where it is not that of the median.
    let end = |value| {
        let shown = workload.show(value);
        shown.strip_suffix(unit).map_or(shown.clone(), |number| number.trim_end().to_owned())
    };
    let (low, high) = (end(spread.low), end(spread.high));
    format!("{median} [{low}..{high}]")
}

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::starts_and_leaves;
    use crate::goals::LOCAL;
    use crate::row::{rows, tests::tell1};

    #[test]
    fn a_row_shows_figures_ratio_goal_and_verdict() {
        let table = goals(&rows(&LOCAL, &tell1(4.2), true), true);
        let row = table.lines().nth(1).unwrap();
        for part in [
            "tell, 1 sender",
            "xtra 5.00 M/s [5.00..5.00]",
            "raw-batch 100.00 M/s",
            "21.00 M/s [21.00..21.00]",
            "4.20",
            "at least 4 x best of xtra, ractor, coerce, kameo",
        ] {
            assert!(row.contains(part), "{part:?} is not in {row:?}");
        }
        assert!(row.ends_with("met"));
        assert!(table.lines().nth(2).unwrap().ends_with("missed (nothing to compare with)"));
    }

    #[test]
    fn a_range_names_units_that_differ() {
        let spread = Spread { median: 958e3, low: 575e3, high: 1.03e6 };
        assert_eq!(figure(Workload::Spawn, spread), "958 k/s [575..1.03 M/s]");
    }

    #[test]
    fn a_row_of_a_cluster_shows_its_figures_goal_and_verdict() {
        let table = clusters(&starts_and_leaves("3000, 12000, 3500", "10", ""), true);
        let lines: Vec<_> = table.lines().collect();
        for part in ["3 nodes, cold start", "3500 ms", "3000 ms..12.0 s", "median at most 4000 ms"] {
            assert!(lines[1].contains(part), "{part:?} is not in {:?}", lines[1]);
        }
        assert!(lines[1].ends_with("met") && lines[2].ends_with("missed"), "{table}");
        let lost = clusters(&starts_and_leaves("3000", "10", r#""a message was lost""#), true);
        assert!(lost.contains("missed (a message was lost)"), "{lost}");
    }

    #[test]
    fn an_unjudged_table_has_no_goals() {
        let table = goals(&rows(&LOCAL, &tell1(4.2), false), false);
        assert!(table.contains("4.20") && !table.contains("at least") && !table.contains("met"));
    }

    #[test]
    fn a_failed_program_is_named_as_such() {
        let mut samples = tell1(4.0);
        samples.record(Workload::Tell1, "kameo", Err("wrong sum".to_owned()));
        let table = programs(&samples);
        assert!(table.lines().any(|line| line.starts_with("kameo") && line.ends_with("failed")));
    }
}
