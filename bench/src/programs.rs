//! The measured programs: which there are, how they are built, and how one is run as a process.

use crate::Options;
use crate::pair;
use crate::workloads::Workload;
use serde_json::Value;
use std::ffi::OsStr;
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
/// The peers that host entities, in folders of their own too.
const ENTITY_PEERS: [&str; 2] = ["coerce_sharded", PEKKO];
/// Those, and one without entities that ours are held against between processes.
pub(crate) const SHARDED_PEERS: [&str; 3] = ["coerce_sharded", PEKKO, "ractor_cluster"];
/// The raw limits, which are this binary.
pub(crate) const LIMITS: [&str; 4] = ["raw-batch", "raw-unbounded", "raw-bounded", "raw-task"];
/// The raw limits between two processes.
pub(crate) const REMOTE_LIMITS: [&str; 1] = ["raw-tcp"];

/// The raw limit of entities, and that of what goes between processes.
pub(crate) const SHARDED_LIMITS: [&str; 2] = ["raw-table", "raw-tcp"];

/// The one that runs in a Java machine.
const PEKKO: &str = "pekko";
/// Tells it how long to run before it measures; 20 seconds otherwise.
const WARM_UP: &str = "BENCH_WARM_UP_SECONDS";

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
    let peers = PEERS.into_iter().chain(REMOTE_PEERS).chain(ENTITY_PEERS).map(|name| (name, Kind::Peer));
    let limits = LIMITS.into_iter().chain(["raw-table"]).chain(REMOTE_LIMITS).map(|name| (name, Kind::Limit));
    [(BOROUGH, Kind::Borough)].into_iter().chain(peers).chain(limits)
}

/// A program ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    file: PathBuf,
    start: Start,
}

/// How a program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// It is this binary, which has to be told which program to be.
    Own,
    Binary,
    Jar,
}

impl Program {
    /// Ours or a raw limit.
    pub(crate) fn own(name: &'static str, file: &Path) -> Self {
        Self { name, file: file.to_owned(), start: Start::Own }
    }

    /// Builds a peer; the error is the compiler's first.
    pub(crate) fn build_peer(name: &'static str, target: &Path) -> Result<Self, String> {
        let target = target.join("bench-peers");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name);
        if name == PEKKO {
            Self::build_jar(name, &folder, &target)
        } else {
            Self::build_binary(name, &folder, &target)
        }
    }

    /// With the lock file it comes with.
    fn build_binary(name: &'static str, folder: &Path, target: &Path) -> Result<Self, String> {
        let manifest = folder.join("Cargo.toml");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(target)
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !built.status.success() {
            return Err(first_error(&String::from_utf8_lossy(&built.stderr)));
        }
        let file = target.join("release").join(format!("peer-{name}"));
        Ok(Self { name, file, start: Start::Binary })
    }

    /// Needs Java and Maven on this machine, and the first time what Maven fetches.
    fn build_jar(name: &'static str, folder: &Path, target: &Path) -> Result<Self, String> {
        for tool in ["java", "mvn"] {
            let there = Command::new(tool).arg("-version").stdin(Stdio::null()).output();
            there.map_err(|error| format!("needs {tool}, which does not start: {error}"))?;
        }
        let target = target.join(name);
        let built = Command::new("mvn")
            .args(["--quiet", "--batch-mode", "--file"])
            .arg(folder.join("pom.xml"))
            .arg(format!("-Dbench.target={}", target.display()))
            .arg("package")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("mvn does not start: {error}"))?;
        if !built.status.success() {
            return Err(first_error(&String::from_utf8_lossy(&built.stdout)));
        }
        Ok(Self { name, file: target.join(format!("peer-{name}.jar")), start: Start::Jar })
    }

    /// What the program does under a workload: that one, or the one it is the measure of; `None` if it has no such workload, or no
    /// purpose under it.
    pub(crate) fn runs(&self, workload: Workload) -> Option<Workload> {
        let population = matches!(workload, Workload::Spawn | Workload::Memory);
        let has = match self.name {
            "raw-task" => population,
            "raw-batch" | "raw-bounded" | "raw-unbounded" => !population,
            // Two senders, and a million ids asked, are held against what one sender, and a thousand ids, give at best.
            "raw-table" => match workload {
                Workload::ShardedTell1mTwo => return Some(Workload::ShardedTell1m),
                Workload::ShardedAsk1Of1m => return Some(Workload::ShardedAsk1),
                Workload::ManyTypes | Workload::ManyShards => false,
                _ => !workload.is_remote(),
            },
            "raw-tcp" | "ractor_cluster" if workload.is_sharded() => return workload.unsharded(),
            "coerce_sharded" => matches!(
                workload,
                Workload::ShardedAsk1
                    | Workload::ShardedAsk1Of1m
                    | Workload::ShardedAsk1000
                    | Workload::Activation
                    | Workload::ShardedMemory
            ),
            // Ten million of its entities would take 13 GB.
            PEKKO => !matches!(
                workload,
                Workload::ShardedTell10m
                    | Workload::ShardedMemory10m
                    | Workload::ManyTypes
                    | Workload::ManyShards
            ),
            _ => true,
        };
        has.then_some(workload)
    }

    /// Runs it once, alone; the figure, or why there is none.
    pub(crate) fn run(&self, workload: Workload, count: u64, options: &Options) -> Result<f64, String> {
        let Some(workload) = self.runs(workload) else { return Err("has no such workload".to_owned()) };
        let count = count.to_string();
        let job = [workload.name(), &count];
        let line = if workload.is_remote() {
            let own = if workload.is_sharded() { "play-sharded" } else { "play" };
            pair::run(|| self.command(own, options), job)?
        } else {
            let mut command = self.command("run", options);
            finish(start(command.args(job))?)?
        };
        figure(&line, workload)
    }

    /// The program, to be given its arguments; our own binary does it by a command of this name.
    fn command(&self, own: &str, options: &Options) -> Command {
        let mut words: Vec<&OsStr> = Vec::new();
        if options.pinned {
            words.extend(["taskset", "-c", "0"].map(OsStr::new));
        }
        if self.start == Start::Jar {
            // The collector that Java takes on two cores, also on one.
            words.extend(["java", "-XX:+UseG1GC", "-jar"].map(OsStr::new));
        }
        words.push(self.file.as_os_str());
        if self.start == Start::Own {
            words.extend([own, self.name].map(OsStr::new));
        }
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        if options.quick {
            command.env(WARM_UP, "1");
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
    let error = output.lines().find(|line| line.starts_with("error") || line.starts_with("[ERROR]"));
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

    #[test]
    fn a_failed_maven_build_is_told_by_its_first_error() {
        assert_eq!(first_error("[WARNING] w\n[ERROR] first\n[ERROR] second"), "[ERROR] first");
    }

    fn named(name: &'static str) -> Program {
        Program::own(name, Path::new("bench"))
    }

    #[test]
    fn who_has_no_entities_is_measured_without_them() {
        assert_eq!(named("raw-tcp").runs(Workload::RemoteShardedTell), Some(Workload::RemoteTell));
        assert_eq!(named("ractor_cluster").runs(Workload::RemoteShardedFlood), None);
        assert_eq!(named("ractor_cluster").runs(Workload::ShardedTell), None);
        assert_eq!(named("raw-tcp").runs(Workload::RemoteTell), Some(Workload::RemoteTell));
    }

    #[test]
    fn two_senders_are_held_against_the_table_of_one() {
        assert_eq!(named("raw-table").runs(Workload::ShardedTell1mTwo), Some(Workload::ShardedTell1m));
        assert_eq!(named(BOROUGH).runs(Workload::ShardedTell1mTwo), Some(Workload::ShardedTell1mTwo));
        assert_eq!(named("raw-table").runs(Workload::RemoteShardedTell), None);
    }

    #[test]
    fn a_jar_is_started_by_java_and_a_quick_run_warms_up_quickly() {
        let program = Program { name: PEKKO, file: "peer.jar".into(), start: Start::Jar };
        let options = Options { repeats: 1, only: Vec::new(), quick: true, pinned: true, check: false };
        let command = program.command("run", &options);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "taskset");
        assert_eq!(words, ["-c", "0", "java", "-XX:+UseG1GC", "-jar", "peer.jar"]);
        assert!(command.get_envs().any(|(name, value)| name == WARM_UP && value == Some(OsStr::new("1"))));
    }
}
