//! What a measured program is asked to do, and the one line it answers with.

use std::process::ExitCode;
use std::time::Duration;

/// One workload and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) workload: String,
    pub(crate) count: u64,
}

impl Job {
    /// Reads `<workload> <count>`.
    pub(crate) fn from_args(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let workload = args.next()?;
        let count = args.next()?.parse().ok().filter(|count| *count > 0)?;
        Some(Self { workload, count })
    }
}

/// What one run found, and the sum that shows whether a message was lost or handled twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) sum: u64,
    pub(crate) expected: u64,
}

impl Figure {
    /// A throughput.
    pub(crate) fn rate(count: u64, elapsed: Duration, sum: u64, expected: u64) -> Self {
        Self { value: count as f64 / elapsed.as_secs_f64(), unit: "per_second", sum, expected }
    }

    /// Memory, divided among those that use it.
    pub(crate) fn bytes_each(bytes: u64, count: u64, sum: u64, expected: u64) -> Self {
        Self { value: bytes as f64 / count as f64, unit: "bytes", sum, expected }
    }
}

/// The sum of the numbers from 0, `count` of them.
pub(crate) fn sum_below(count: u64) -> u64 {
    count * (count - 1) / 2
}

/// Prints the figure and ends the process.
pub(crate) fn report(figure: Option<Figure>) -> ExitCode {
    let Some(Figure { value, unit, sum, expected }) = figure else { return refuse("no such workload here") };
    println!(r#"{{"value": {value}, "unit": "{unit}", "sum": {sum}, "expected": {expected}}}"#);
    std::process::exit(0)
}

/// Says why there is no figure.
pub(crate) fn refuse(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::from(2)
}
