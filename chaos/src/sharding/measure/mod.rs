//! Figures of a cluster under load, for the benchmark: `chaos measure`.
//!
//! One line of JSON for each measurement, on standard output; what goes on meanwhile is told on standard error. Each runs with default
//! settings, and every history is checked: a measurement that found anything wrong says so in `faults`, and its figures count for nothing.
//!
//! | measurement | what is done | figures |
//! |---|---|---|
//! | `formation` | 3, 7 and 15 nodes are started at once | until each sees all of them up |
//! | `cold-start` | three nodes are started at once, and asked as soon as they listen | until each has had an answer of an entity |
//! | `kill` | kill -9 of one of five under load, over and over; every other time the coordinator | until all answer again, silence, what was lost |
//! | `join` | a fourth node joins under load; 1 M entities live, with state | until balanced, silence, share of shards moved, lost |
//! | `leave` | one of three leaves under load | silence, lost |
//! | `rolling-restart` | each of three leaves and is started again, under load | silence, lost, reordered |

mod figure;
mod moves;
mod starts;

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

pub use self::figure::{Figure, Measurement, Unit};
use super::failover::kill_many;
use super::suite::{Options, fleet};
use crate::fleet::Fleet;
use crate::janitor::Janitor;
use crate::scenarios::Wants;

/// How often everything is done.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Kills.
    pub kills: usize,
    /// Cold starts.
    pub starts: usize,
    /// Everything else.
    pub repeats: usize,
    /// How many entities live when a node joins; at least 10 000, which there is load for.
    pub entities: u32,
}

/// What can be measured, in this order.
pub const ALL: [&str; 6] = ["formation", "cold-start", "kill", "join", "leave", "rolling-restart"];

/// Measures what `options.only` names, or everything, and prints a line for each. `Ok` if nothing was wrong.
pub fn run(options: &Options, times: Times) -> Result<(), String> {
    if let Some(unknown) = options.only.iter().find(|name| !ALL.contains(&name.as_str())) {
        return Err(unknown_name(unknown));
    }
    let mut wrong = Vec::new();
    for name in ALL {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let measured = measure(options, times, name)?;
        println!("{}", serde_json::to_string(&measured).map_err(|error| error.to_string())?);
        if !measured.faults.is_empty() {
            wrong.push(name);
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let logs = options.logs.display();
    Err(format!("something was wrong in {}; logs and histories are in {logs}", wrong.join(", ")))
}

/// Makes one measurement. Its logs and histories are kept if something was wrong, or if `options.keep` says so.
pub fn measure(options: &Options, times: Times, name: &str) -> Result<Measurement, String> {
    let ground = Ground { options, janitor: Rc::new(Janitor::hire(&options.chaos)?) };
    let mut measured = Measurement::new(name);
    let done = match name {
        "formation" => starts::formation(&ground, times.repeats, &mut measured),
        "cold-start" => starts::cold(&ground, times.starts, &mut measured),
        "kill" => ground.kill(times.kills, &mut measured),
        "join" => moves::join(&ground, times, &mut measured),
        "leave" => moves::leave(&ground, times.repeats, &mut measured),
        "rolling-restart" => moves::rolling_restart(&ground, times.repeats, &mut measured),
        unknown => return Err(unknown_name(unknown)),
    };
    measured.faults.extend(done.err());
    if measured.faults.is_empty() && !options.keep {
        // They are of no use any more.
        fs::remove_dir_all(ground.folder(name)).ok();
    }
    Ok(measured)
}

fn unknown_name(name: &str) -> String {
    format!("{name} cannot be measured, only {}", ALL.join(", "))
}

/// Where fleets come from.
struct Ground<'a> {
    options: &'a Options,
    janitor: Rc<Janitor>,
}

impl Ground<'_> {
    fn kill(&self, kills: usize, measured: &mut Measurement) -> Result<(), String> {
        let (failovers, played) = kill_many(self.options, kills, &self.janitor, &self.folder("kill"))?;
        for failover in &failovers {
            let whose = if failover.of_coordinator { "failover_coordinator" } else { "failover_owner" };
            measured.add_time("failover", failover.again);
            measured.add_time(whose, failover.again);
            measured.add_time("kill_silence", failover.silence);
        }
        measured.add_count("kill_lost", played.findings.lost);
        measured.add_count("kill_unanswered", played.findings.unanswered);
        measured.faults.extend_from_slice(played.faults());
        Ok(())
    }

    /// Where logs and histories of a measurement are.
    fn folder(&self, name: &str) -> PathBuf {
        self.options.logs.join(format!("measure-{name}"))
    }

    /// Processes that know nothing of earlier ones, in an empty folder.
    fn fleet(&self, name: &str) -> Result<Fleet, String> {
        fleet(self.options, Wants::Loopback, None, &self.janitor, &self.folder(name))
    }
}
