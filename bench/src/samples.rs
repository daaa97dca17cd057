//! What was measured: every good run of every program under every workload, and why the rest is missing.

use crate::workloads::{Better, Workload};
use std::collections::BTreeMap;

/// The runs of one program under one workload.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    runs: Vec<f64>,
    failure: Option<String>,
}

/// Median and range of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// `None` of no runs.
    pub(crate) fn of(runs: &[f64]) -> Option<Self> {
        let mut sorted = runs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Self { median, low, high })
    }
}

/// All cells, and how busy other processes kept the machine meanwhile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    cells: BTreeMap<(Workload, &'static str), Cell>,
    busy: BTreeMap<Workload, Vec<f64>>,
}

impl Samples {
    pub(crate) fn record(&mut self, workload: Workload, program: &'static str, run: Result<f64, String>) {
        let cell = self.cells.entry((workload, program)).or_default();
        match run {
            Ok(value) => cell.runs.push(value),
            // The first failure says most; a program with any failed run has no figure.
            Err(reason) => _ = cell.failure.get_or_insert(reason),
        }
    }

    pub(crate) fn record_busy(&mut self, workload: Workload, share: f64) {
        self.busy.entry(workload).or_default().push(share);
    }

    /// The figure of a program, unless it was not run or any of its runs failed: half a result is none.
    pub(crate) fn spread(&self, workload: Workload, program: &str) -> Option<Spread> {
        self.cell(workload, program)
            .filter(|cell| cell.failure.is_none())
            .and_then(|cell| Spread::of(&cell.runs))
    }

    /// The best of the programs by median, with its name.
    pub(crate) fn best<'a>(&self, workload: Workload, programs: &[&'a str]) -> Option<(&'a str, Spread)> {
        let measured = programs.iter().filter_map(|name| Some((*name, self.spread(workload, name)?)));
        let by_median = |one: &(&str, Spread), two: &(&str, Spread)| one.1.median.total_cmp(&two.1.median);
        match workload.better() {
            Better::Higher => measured.max_by(by_median),
            Better::Lower => measured.min_by(by_median),
        }
    }

    pub(crate) fn failed(&self, workload: Workload, program: &str) -> bool {
        self.failure(workload, program).is_some()
    }

    pub(crate) fn failure(&self, workload: Workload, program: &str) -> Option<&str> {
        self.cell(workload, program)?.failure.as_deref()
    }

    /// Each failed program with its workload and the reason.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (Workload, &'static str, &str)> {
        self.cells
            .iter()
            .filter_map(|((workload, program), cell)| Some((*workload, *program, cell.failure.as_deref()?)))
    }

    pub(crate) fn workloads(&self) -> Vec<Workload> {
        let mut workloads: Vec<_> = self.cells.keys().map(|(workload, _)| *workload).collect();
        workloads.dedup();
        workloads
    }

    /// The runs of a program, in the order they were made.
    pub(crate) fn runs(&self, workload: Workload, program: &str) -> &[f64] {
        self.cell(workload, program).map_or(&[], |cell| &cell.runs)
    }

    /// The share of the machine that other processes used during a workload's runs.
    pub(crate) fn busy(&self, workload: Workload) -> Option<Spread> {
        Spread::of(self.busy.get(&workload)?)
    }

    /// The same over all runs.
    pub(crate) fn busy_overall(&self) -> Option<Spread> {
        Spread::of(&self.busy.values().flatten().copied().collect::<Vec<_>>())
    }

    fn cell(&self, workload: Workload, program: &str) -> Option<&Cell> {
        // The map's keys hold `'static` names, which a borrowed name cannot look up.
        self.cells.iter().find(|((w, p), _)| *w == workload && *p == program).map(|(_, cell)| cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_range_of_odd_even_and_no_runs() {
        let of = |runs: &[f64]| Spread::of(runs);
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some(Spread { median: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some(Spread { median: 2.5, low: 1.0, high: 4.0 }));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn one_failed_run_takes_the_figure_away() {
        let mut samples = Samples::default();
        samples.record(Workload::Tell1, "xtra", Ok(5.0));
        assert!(samples.spread(Workload::Tell1, "xtra").is_some());
        samples.record(Workload::Tell1, "xtra", Err("sum 3 of 4".to_owned()));
        samples.record(Workload::Tell1, "xtra", Err("later".to_owned()));
        assert_eq!(samples.spread(Workload::Tell1, "xtra"), None);
        assert_eq!(samples.failure(Workload::Tell1, "xtra"), Some("sum 3 of 4"));
    }

    #[test]
    fn the_best_is_the_highest_rate_and_the_lowest_latency() {
        let mut samples = Samples::default();
        for workload in [Workload::Tell1, Workload::Ask1] {
            samples.record(workload, "a", Ok(1.0));
            samples.record(workload, "b", Ok(2.0));
        }
        assert_eq!(samples.best(Workload::Tell1, &["a", "b", "absent"]).unwrap().0, "b");
        assert_eq!(samples.best(Workload::Ask1, &["a", "b", "absent"]).unwrap().0, "a");
        assert_eq!(samples.best(Workload::Ask1, &["absent"]), None);
    }
}
