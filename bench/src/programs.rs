//! The measured programs: which there are, how they are built, and how one is run as a process.

use crate::pair;
use crate::workloads::Workload;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The name of ours.
pub(crate) const BOROUGH: &str = "borough";
/// The peers, each in a folder of its own under `bench/peers/`.
pub(crate) const PEERS: [&str; 5] = ["xtra", "ractor", "coerce", "kameo", "actix"];
/// The peers whose actors reach other processes.
pub(crate) const REMOTE_PEERS: [&str; 1] = ["ractor_cluster"];
/// The raw limits, which are this binary.
pub(crate) const LIMITS: [&str; 4] = ["raw-batch", "raw-unbounded", "raw-bounded", "raw-task"];
/// The raw limits between two processes.
pub(crate) const REMOTE_LIMITS: [&str; 1] = ["raw-tcp"];

const RUN_LIMIT: Duration = Duration::from_secs(180);
const RUN_LOOK: Duration = Duration::from_millis(10);

/// What a program is to the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Borough,
    Peer,
    Limit,
}

/// Every name there is, in the order of the reports.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Kind)> {
    let peers = PEERS.into_iter().chain(REMOTE_PEERS).map(|name| (name, Kind::Peer));
    let limits = LIMITS.into_iter().chain(REMOTE_LIMITS).map(|name| (name, Kind::Limit));
    [(BOROUGH, Kind::Borough)].into_iter().chain(peers).chain(limits)
}

/// A program ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    file: PathBuf,
    /// Whether it is this binary, which has to be told which program to be.
    own: bool,
}

impl Program {
    /// Ours or a raw limit.
    pub(crate) fn own(name: &'static str, file: &Path) -> Self {
        Self { name, file: file.to_owned(), own: true }
    }

    /// Builds a peer with the lock file it comes with; the error is the compiler's first.
    pub(crate) fn build_peer(name: &'static str, target: &Path) -> Result<Self, String> {
        let target = target.join("bench-peers");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name).join("Cargo.toml");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(&target)
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !built.status.success() {
            return Err(first_error(&String::from_utf8_lossy(&built.stderr)));
        }
        let file = target.join("release").join(format!("peer-{name}"));
        Ok(Self { name, file, own: false })
    }

    /// Whether the program has such a workload, and a purpose under it.
    pub(crate) fn runs(&self, workload: Workload) -> bool {
        let population = matches!(workload, Workload::Spawn | Workload::Memory);
        match self.name {
            "raw-task" => population,
            "raw-batch" | "raw-bounded" | "raw-unbounded" => !population,
            _ => true,
        }
    }

    /// Runs it once, alone; the figure, or why there is none.
    pub(crate) fn run(&self, workload: Workload, count: u64, pinned: bool) -> Result<f64, String> {
        let count = count.to_string();
        let job = [workload.name(), &count];
        let line = if workload.is_remote() {
            pair::run(|| self.command("play", pinned), job)?
        } else {
            let mut command = self.command("run", pinned);
            finish(start(command.args(job))?)?
        };
        figure(&line, workload)
    }

    /// The program, to be given its arguments; our own binary does it by a command of this name.
    fn command(&self, own: &str, pinned: bool) -> Command {
        let mut command = if pinned {
            let mut taskset = Command::new("taskset");
            taskset.args(["-c", "0"]).arg(&self.file);
            taskset
        } else {
            Command::new(&self.file)
        };
        if self.own {
            command.args([own, self.name]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

pub(crate) fn start(command: &mut Command) -> Result<Child, String> {
    command.spawn().map_err(|error| format!("does not start: {error}"))
}

/// Waits for the one line; a program that hangs is ended.
pub(crate) fn finish(mut child: Child) -> Result<String, String> {
    let limit = Instant::now() + RUN_LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < limit => std::thread::sleep(RUN_LOOK),
            ended => {
                // Both fail only if the process is gone already.
                child.kill().and_then(|()| child.wait().map(drop)).ok();
                return Err(ended.map_or_else(
                    |error| error.to_string(),
                    |_| format!("no answer after {} s", RUN_LIMIT.as_secs()),
                ));
            }
        }
    };
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut out));
    child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut err));
    if status.success() { Ok(out) } else { Err(format!("{status}: {}", last_line(&err))) }
}

/// Reads a program's answer; refuses a wrong sum, however fast it was.
fn figure(line: &str, workload: Workload) -> Result<f64, String> {
    let answer: Value = serde_json::from_str(line).map_err(|_| format!("answers {:?}", last_line(line)))?;
    let number = |key: &str| answer[key].as_u64().ok_or_else(|| format!("answers no {key}"));
    let (sum, expected) = (number("sum")?, number("expected")?);
    if sum != expected {
        return Err(format!("wrong sum: {sum} instead of {expected}"));
    }
    if answer["unit"] != workload.unit() {
        return Err(format!("answers in {} instead of {}", answer["unit"], workload.unit()));
    }
    answer["value"].as_f64().filter(|value| *value > 0.0).ok_or_else(|| "answers no value".to_owned())
}

fn first_error(output: &str) -> String {
    let error = output.lines().find(|line| line.starts_with("error"));
    error.map_or_else(|| last_line(output), str::to_owned)
}

fn last_line(output: &str) -> String {
    output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_sum_gives_the_value() {
        let line = r#"{"value": 5.5, "unit": "per_second", "sum": 10, "expected": 10}"#;
        assert_eq!(figure(line, Workload::Tell1), Ok(5.5));
    }

    #[test]
    fn a_wrong_sum_is_refused() {
        let line = r#"{"value": 5.5, "unit": "per_second", "sum": 9, "expected": 10}"#;
        assert_eq!(figure(line, Workload::Tell1), Err("wrong sum: 9 instead of 10".to_owned()));
    }

    #[test]
    fn anything_else_than_a_figure_is_refused() {
        let of = |line| figure(line, Workload::Tell1).unwrap_err();
        assert_eq!(of("oh\nno\n"), r#"answers "no""#);
        assert_eq!(of(r#"{"value": 1, "unit": "per_second", "expected": 1}"#), "answers no sum");
        assert_eq!(of(r#"{"value": 0, "unit": "per_second", "sum": 1, "expected": 1}"#), "answers no value");
        assert!(of(r#"{"value": 1, "unit": "ns", "sum": 1, "expected": 1}"#).contains("per_second"));
    }

    #[test]
    fn a_failed_build_is_told_by_the_first_error() {
        assert_eq!(first_error("warning: w\nerror[E1]: first\nerror: second"), "error[E1]: first");
        assert_eq!(first_error("killed\n"), "killed");
    }
}
