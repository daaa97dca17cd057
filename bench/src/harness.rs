//! The run: build the peers, measure everything in turn, report.
//!
//! Programs alternate inside each repeat, so that a slow minute of the machine falls on all of them.

use crate::Options;
use crate::busy::Clocks;
use crate::cluster;
use crate::programs::{BOROUGH, PEERS, Program, SHARDED_PEERS};
use crate::report::{self, Report};
use crate::row::{Verdict, rows};
use crate::samples::Samples;
use crate::suite::Suite;
use crate::workloads::Workload;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Length of a measured run, in seconds, that the counts aim at.
const SECONDS: f64 = 0.5;
const SECONDS_QUICK: f64 = 0.05;

/// Actors alive in `memory`: a million where a goal depends on it, fewer for peers of several kilobytes each.
const MEMORY_OWN: u64 = 1_000_000;
const MEMORY_PEER: u64 = 200_000;
const MEMORY_QUICK: u64 = 50_000;
/// Entities alive in `sharded_memory_10m`.
const MEMORY_10M: u64 = 10_000_000;
/// Shards in all where there are many types, of 256 each, and where there is one.
const MANY_TYPES: u64 = 200 * 256;
const MANY_SHARDS: u64 = 16_384;
/// Tells of the flood that nobody paces.
const FLOOD: u64 = 1_000_000;

/// A peer that is left out, and why.
pub(crate) type Skipped = (&'static str, String);

/// Measures a suite and writes `target/bench/<suite>.json` and `.svg`. What is done to clusters is left out without a word how often.
pub(crate) fn run(suite: &Suite, options: &Options, times: Option<cluster::Times>) -> ExitCode {
    let (workloads, measurements) = match suite.chosen(&options.only) {
        Ok(chosen) => chosen,
        Err(reason) => return report::fail(&reason),
    };
    let exe = match std::env::current_exe() {
        Ok(exe) => exe,
        Err(error) => return report::fail(&format!("this binary cannot find itself: {error}")),
    };
    // target/release/borough-bench
    let target = exe.ancestors().nth(2).map_or_else(|| PathBuf::from("target"), Path::to_path_buf);
    // Peers are of no use to clusters.
    let (programs, skipped) =
        if workloads.is_empty() { Default::default() } else { prepare(suite, &exe, &target) };
    let samples = measure(options, &workloads, &programs);
    let measured = times.map(|times| cluster::measure(&measurements, options, times, &target));
    let rows = rows(suite.goals, &samples, !options.pinned);
    let clusters = cluster::rows(&cluster::CLUSTER, &measured.unwrap_or_default(), !options.pinned);
    let report = Report { rows: &rows, clusters: &clusters, samples: &samples, skipped: &skipped };
    report.print(options);
    let name = format!("{}{}", suite.name, if options.pinned { "-pinned" } else { "" });
    if let Err(error) = report.write(&target.join("bench"), &name) {
        return report::fail(&format!("the report cannot be written: {error}"));
    }
    let mut verdicts = rows.iter().map(|row| &row.verdict).chain(clusters.iter().map(|row| &row.verdict));
    let missed = verdicts.any(|verdict| matches!(verdict, Verdict::Missed | Verdict::Unmeasured(_)));
    if options.check && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn prepare(suite: &Suite, exe: &Path, target: &Path) -> (Vec<Program>, Vec<Skipped>) {
    let mut programs = vec![Program::own(BOROUGH, exe)];
    let mut skipped = Vec::new();
    for &name in suite.peers {
        report::progress(&format!("building {name}"));
        match Program::build_peer(name, target) {
            Ok(program) => programs.push(program),
            Err(reason) => skipped.push((name, reason)),
        }
    }
    programs.extend(suite.limits.iter().map(|name| Program::own(name, exe)));
    (programs, skipped)
}

fn measure(options: &Options, workloads: &[Workload], programs: &[Program]) -> Samples {
    let mut samples = Samples::default();
    let mut counts = BTreeMap::new();
    for (workload, program) in cases(workloads, programs) {
        report::progress(&format!("trial of {} under {}", program.name, workload.name()));
        match count(options, workload, program) {
            Ok(count) => _ = counts.insert((workload, program.name), count),
            Err(reason) => samples.record(workload, program.name, Err(reason)),
        }
    }
    let repeats = if options.quick { 1 } else { options.repeats };
    for repeat in 1..=repeats {
        for (workload, program) in cases(workloads, programs) {
            let Some(count) = counts.get(&(workload, program.name)) else { continue };
            // A program that has failed once has no figure any more, and may cost minutes each time.
            if samples.failed(workload, program.name) {
                continue;
            }
            report::progress(&format!("{repeat} of {repeats}: {} under {}", program.name, workload.name()));
            let before = Clocks::read();
            samples.record(workload, program.name, program.run(workload, *count, options));
            let share = before.zip(Clocks::read()).and_then(|(before, after)| after.others_since(before));
            if let Some(share) = share {
                samples.record_busy(workload, share);
            }
        }
    }
    report::progress("");
    samples
}

/// Workload by workload, each program that has it.
fn cases<'a>(
    workloads: &'a [Workload],
    programs: &'a [Program],
) -> impl Iterator<Item = (Workload, &'a Program)> {
    workloads.iter().flat_map(move |workload| {
        programs
            .iter()
            .filter(|program| program.runs(*workload).is_some())
            .map(|program| (*workload, program))
    })
}

/// How much a program shall do under a workload, found by a trial run, which warms the caches of the system too.
fn count(options: &Options, workload: Workload, program: &Program) -> Result<u64, String> {
    let Some(trial) = workload.trial() else {
        return Ok(match program.name {
            _ if workload == Workload::ManyTypes => MANY_TYPES,
            _ if workload == Workload::ManyShards => MANY_SHARDS,
            _ if options.quick => MEMORY_QUICK,
            _ if workload == Workload::RemoteShardedFlood => FLOOD,
            _ if workload == Workload::ShardedMemory10m => MEMORY_10M,
            name if PEERS.contains(&name) || SHARDED_PEERS.contains(&name) => MEMORY_PEER,
            _ => MEMORY_OWN,
        });
    };
    let seconds = if options.quick { SECONDS_QUICK } else { SECONDS };
    Ok(workload.count(program.run(workload, trial, options)?, seconds))
}
