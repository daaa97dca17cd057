//! What people and programs get to see of a run.

mod json;
mod svg;
mod table;

use crate::Options;
use crate::cluster;
use crate::harness::Skipped;
use crate::row::Row;
use crate::samples::{Samples, Spread};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Above this share of the machine used by others, figures are not to be believed.
const BUSY_WARNING: f64 = 0.1;

/// All that was measured.
pub(crate) struct Report<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) clusters: &'a [cluster::Row],
    pub(crate) samples: &'a Samples,
    pub(crate) skipped: &'a [Skipped],
}

impl Report<'_> {
    /// Prints the tables.
    #[expect(clippy::print_stdout, reason = "the tables are what the command is for")]
    pub(crate) fn print(&self, options: &Options) {
        let Self { rows, clusters, samples, skipped } = self;
        if !rows.is_empty() {
            println!("{}", table::goals(rows, !options.pinned));
            println!("{}", table::programs(samples));
        }
        if !clusters.is_empty() {
            println!("{}", table::clusters(clusters, !options.pinned));
        }
        for (name, reason) in *skipped {
            println!("skipped: {name} does not build: {reason}");
        }
        for (workload, program, reason) in samples.failures() {
            println!("failed: {program} under {}: {reason}", workload.name());
        }
        let of_clusters: Vec<_> = clusters.iter().filter_map(|row| row.others).collect();
        if let Some(busy) = samples.busy_overall().or_else(|| Spread::of(&of_clusters)) {
            let warning = if busy.median > BUSY_WARNING { " - too busy to believe the figures" } else { "" };
            println!(
                "other processes used {:.0} % of the machine (median over runs, up to {:.0} %){warning}",
                busy.median * 100.0,
                busy.high * 100.0
            );
        }
        if options.pinned {
            println!("pinned to one core: the goals are for two, so none is judged");
        }
        if options.quick {
            println!("quick: one short run each, says nothing about speed");
        }
    }

    /// Writes `<name>.json` and `<name>.svg`.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join(format!("{name}.json")), json::render(self))?;
        std::fs::write(folder.join(format!("{name}.svg")), svg::render(self.samples, self.clusters))
    }
}

/// Shows what goes on, on a terminal; empty clears the line.
pub(crate) fn progress(what: &str) {
    let mut terminal = std::io::stderr().lock();
    if terminal.is_terminal() {
        // A terminal that cannot be written to is no reason to stop measuring.
        write!(terminal, "\r\x1b[2K{what}").and_then(|()| terminal.flush()).ok();
    }
}

/// Says why there is no report.
#[expect(clippy::print_stderr, reason = "the last word of a command that failed")]
pub(crate) fn fail(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::from(2)
}
