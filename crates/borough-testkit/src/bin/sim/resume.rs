//! Many seeds in pieces: a file records what is finished, and the next call goes on after it.
//!
//! ```text
//! seeds FROM scenario SCENARIO             the first line: what the file is of
//! done FROM COUNT INPUTS MILLISECONDS      a piece that is finished
//! failed SEED CODE VIOLATION               a seed of the piece before
//! ```

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::time::Instant;

use borough_testkit::sim::batch::Batch;

use crate::UNPROVED;
use crate::arguments::Arguments;

/// A piece: what is lost at most when the program is stopped.
const PIECE: u64 = 500;

/// What is finished, by the file and by this call.
#[derive(Default)]
struct Progress {
    seeds: u64,
    inputs: u64,
    milliseconds: u64,
    failures: Vec<(u64, u8, String)>,
}

pub(crate) fn run(path: &str, seeds: u64, arguments: &Arguments) -> u8 {
    let header = header(arguments);
    match go_on(path, &header, seeds, arguments) {
        Ok(progress) => report(&header, &progress),
        Err(error) => {
            eprintln!("sim: state file {path}: {error}");
            UNPROVED
        }
    }
}

fn header(arguments: &Arguments) -> String {
    let scenario = if arguments.wish.sharding { "sharding" } else { "cluster" };
    format!("seeds {} scenario {scenario}", arguments.from)
}

fn go_on(path: &str, header: &str, seeds: u64, arguments: &Arguments) -> io::Result<Progress> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let mut progress = Progress::read(&text, header).map_err(io::Error::other)?;
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if text.is_empty() {
        writeln!(file, "{header}")?;
    }
    while progress.seeds < seeds {
        let from = arguments.from + progress.seeds;
        let count = PIECE.min(seeds - progress.seeds);
        let batch = Batch {
            from,
            seeds: count,
            threads: arguments.threads,
            wish: arguments.wish.clone(),
            failures_max: usize::MAX,
        };
        let began = Instant::now();
        let summary = batch.run();
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut lines = format!("done {from} {} {} {milliseconds}\n", summary.seeds, summary.handled);
        for (seed, violation) in &summary.failures {
            let _ = writeln!(lines, "failed {seed} {} {violation}", violation.exit_code());
        }
        // In one go: a piece is recorded whole or not at all.
        file.write_all(lines.as_bytes())?;
        progress.take(&lines).map_err(io::Error::other)?;
        eprintln!("{} of {seeds} seeds, {:.0} seeds/s", progress.seeds, rate(count, milliseconds));
    }
    Ok(progress)
}

impl Progress {
    /// What a file says; it must be of the same seeds.
    fn read(text: &str, header: &str) -> Result<Self, String> {
        let mut progress = Self::default();
        let Some((first, rest)) = text.split_once('\n') else { return Ok(progress) };
        if first != header {
            return Err(format!("it is of `{first}`, and not of `{header}`: name another file"));
        }
        progress.take(rest)?;
        Ok(progress)
    }

    fn take(&mut self, lines: &str) -> Result<(), String> {
        for line in lines.lines() {
            let wrong = || format!("`{line}` is no line of it");
            let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
            let words: Vec<&str> = line.splitn(5, ' ').collect();
            match words[..] {
                ["done", _, seeds, inputs, milliseconds] => {
                    self.seeds += number(seeds)?;
                    self.inputs += number(inputs)?;
                    self.milliseconds += number(milliseconds)?;
                }
                ["failed", seed, code, ..] => {
                    let text = line.splitn(4, ' ').nth(3).unwrap_or_default().to_owned();
                    let code = code.parse().map_err(|_| wrong())?;
                    self.failures.push((number(seed)?, code, text));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn rate(count: u64, milliseconds: u64) -> f64 {
    count as f64 * 1000.0 / milliseconds.max(1) as f64
}

fn report(header: &str, progress: &Progress) -> u8 {
    let Progress { seeds, inputs, milliseconds, failures } = progress;
    println!(
        "{header}: {seeds} seeds, {inputs} inputs, {} s, {:.0} seeds/s, {} failed",
        milliseconds / 1000,
        rate(*seeds, *milliseconds),
        failures.len()
    );
    for (seed, _, text) in failures {
        println!("seed {seed}: {text}");
    }
    failures.iter().map(|(_, code, _)| *code).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "seeds 7 scenario cluster\ndone 7 500 1000 2000\nfailed 9 2 safety, rule: a b c\ndone 507 500 10 20\n";

    #[test]
    fn what_is_finished_is_read_back() {
        let progress = Progress::read(FILE, "seeds 7 scenario cluster").expect("it is of these seeds");
        assert_eq!((progress.seeds, progress.inputs, progress.milliseconds), (1000, 1010, 2020));
        assert_eq!(progress.failures, [(9, 2, "safety, rule: a b c".to_owned())]);
    }

    #[test]
    fn a_file_of_other_seeds_or_of_something_else_is_refused() {
        assert!(Progress::read(FILE, "seeds 8 scenario cluster").is_err());
        assert!(Progress::read("seeds 7 scenario cluster\nnonsense\n", "seeds 7 scenario cluster").is_err());
    }
}
