//! Clusters of real processes under load: formation, kills, joins, leaves, restarts. `chaos measure` does them, and checks the history of
//! every message; here its figures are held against the goals, and shown in the same report.
//!
//! ```text
//! measurement  what can be done to a cluster
//! goals        what its figures are held to
//! measured     what the program says of one
//! row          a goal held against that
//! ```

mod goals;
mod measured;
mod measurement;
mod row;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use goals::{CLUSTER, Goal, Of};
pub(crate) use measured::{Measured, Unit};
pub(crate) use measurement::Measurement;
pub(crate) use row::{Row, rows};

use crate::Options;
use crate::busy::Clocks;
use crate::report;

/// How often everything is done to a cluster; what is not here is done as often as everything else is repeated.
#[derive(clap::Args, Debug, Clone, Copy)]
pub(crate) struct Times {
    /// How many nodes are killed; every other one is the coordinator's.
    #[arg(long, default_value_t = 20)]
    pub(crate) kills: u32,
    /// How many times three processes are started until entities answer.
    #[arg(long, default_value_t = 20)]
    pub(crate) starts: u32,
}

/// Makes the measurements, one after the other.
pub(crate) fn measure(
    measurements: &[Measurement],
    options: &Options,
    times: Times,
    target: &Path,
) -> Vec<Measured> {
    if measurements.is_empty() {
        return Vec::new();
    }
    report::progress("building the nodes");
    let program = build(target);
    let of = |measurement: &Measurement| {
        report::progress(&format!("cluster: {}", measurement.name()));
        let before = Clocks::read();
        let said = program
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|program| run(program, *measurement, options, times));
        let others = before.zip(Clocks::read()).and_then(|(before, after)| after.others_since(before));
        let measured = said.and_then(|line| Measured::read(&line));
        let measured = measured.unwrap_or_else(Measured::failed);
        Measured { measurement: *measurement, others, ..measured }
    };
    let all = measurements.iter().map(of).collect();
    report::progress("");
    all
}

/// The nodes and who harms them, with the settings that this binary was built with.
fn build(target: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", "borough-chaos", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .output()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !built.status.success() {
        let why = String::from_utf8_lossy(&built.stderr).into_owned();
        return Err(format!("borough-chaos does not build: {why}"));
    }
    Ok(target.join("release").join("chaos"))
}

/// The one line of a measurement. The program ends by itself: whatever it waits for is bounded there.
fn run(program: &Path, measurement: Measurement, options: &Options, times: Times) -> Result<String, String> {
    let mut command = command(program, measurement, options, times);
    let done = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&done.stdout);
    match said.lines().next() {
        // It has failed too if something was wrong, which is then in the line.
        Some(line) => Ok(line.to_owned()),
        None => Err(format!("chaos measure has ended without a word: {}", done.status)),
    }
}

fn command(program: &Path, measurement: Measurement, options: &Options, times: Times) -> Command {
    let mut command = if options.pinned {
        let mut pinned = Command::new("taskset");
        pinned.args(["-c", "0"]).arg(program);
        pinned
    } else {
        Command::new(program)
    };
    command.args(["measure", "--only", measurement.name()]);
    command.args(["--kills", &times.kills.to_string(), "--starts", &times.starts.to_string()]);
    command.args(["--repeats", &options.repeats.to_string()]);
    if options.quick {
        command.arg("--quick");
    }
    // What goes on, and what was wrong, is for people.
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) use super::row::tests::starts_and_leaves;

    #[test]
    fn a_measurement_is_made_as_often_as_was_asked_for() {
        let options = Options { repeats: 2, only: Vec::new(), quick: true, pinned: true, check: false };
        let times = Times { kills: 4, starts: 6 };
        let command = command(Path::new("chaos"), Measurement::ColdStart, &options, times);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "taskset");
        let wanted = "-c 0 chaos measure --only cold-start --kills 4 --starts 6 --repeats 2 --quick";
        assert_eq!(words, wanted.split(' ').collect::<Vec<_>>());
    }
}
