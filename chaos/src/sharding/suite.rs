//! Which scenarios are played, what is printed of them, and which histories are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::scenario::{ALL, SHORT, Scenario};
use super::stage::Stage;
use super::verdict::{Bounds, Played, millis};
use crate::fleet::{Fleet, Plan};
use crate::ground::{Ground, Loopback, Namespaces, Proxies, sweep};
use crate::janitor::Janitor;
use crate::scenarios::Wants;
use crate::suite::namespaces_can_be_used;

/// What to play, and with what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program `chaos-node`.
    pub node: PathBuf,
    /// The program `chaos`, which can be a janitor.
    pub chaos: PathBuf,
    /// Where logs and histories are kept.
    pub logs: PathBuf,
    /// Only scenarios of these numbers, or whose names contain one of these; all, if there is none.
    pub only: Vec<String>,
    /// Only the first five.
    pub short: bool,
    /// Logs and histories are kept even of those that held.
    pub keep: bool,
    /// What silences are held against.
    pub bounds: Bounds,
    /// How many messages a client sends in a second.
    pub rate: u64,
    /// Other than the default of the library.
    pub max_pause: Option<Duration>,
    /// Ways are cut by proxies, even if namespaces could be made.
    pub proxies: bool,
    /// Hosts lose one tell in so many on purpose: everything then has to fail.
    pub lose_one_in: Option<u64>,
}

/// Lists all scenarios.
pub fn list() {
    for scenario in ALL {
        println!("{:>2} {:<18}{}", scenario.number, scenario.name, scenario.about);
    }
}

/// Plays them, and prints a table. `Ok` if all held.
pub fn run(options: &Options) -> Result<(), String> {
    let chosen: Vec<_> = ALL.iter().filter(|scenario| is_chosen(scenario, options)).collect();
    if chosen.is_empty() {
        return Err(format!("no scenario is called {:?}; --list names them", options.only));
    }
    sweep();
    let cuts = chosen.iter().any(|scenario| scenario.wants == Wants::Cuts);
    let namespaces = cuts && namespaces_can_be_used(options.proxies)?;
    let janitor = Rc::new(Janitor::hire(&options.chaos)?);
    print_heads();
    let (began, mut failed) = (Instant::now(), Vec::new());
    for scenario in &chosen {
        let took = Instant::now();
        let folder = options.logs.join(format!("sharding-{}-{}", scenario.number, scenario.name));
        let played = play(scenario, options, namespaces, &janitor, &folder);
        let is_well = print_row(scenario, took.elapsed(), &played);
        if !is_well {
            println!("   logs and history: {}", folder.display());
            println!("   alone: cargo xtask chaos sharding --only {}", scenario.number);
            failed.push(scenario.name);
        } else if !options.keep {
            // They are of no use any more.
            fs::remove_dir_all(&folder).ok();
        }
    }
    let held = chosen.len() - failed.len();
    println!("{held} of {} held, {:.0} s", chosen.len(), began.elapsed().as_secs_f64());
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("{} scenarios failed: {}", failed.len(), failed.join(", ")))
}

fn is_chosen(scenario: &Scenario, options: &Options) -> bool {
    let is_named = |wanted: &String| match wanted.parse::<usize>() {
        Ok(number) => scenario.number == number,
        Err(_) => scenario.name.contains(wanted.as_str()),
    };
    (options.only.is_empty() || options.only.iter().any(is_named))
        && (scenario.number <= SHORT || !options.short)
}

fn play(
    scenario: &Scenario,
    options: &Options,
    namespaces: bool,
    janitor: &Rc<Janitor>,
    folder: &Path,
) -> Result<Played, String> {
    // Those of the network suite have other numbers.
    let number = 100 + scenario.number;
    let mut fleet = fleet(options, scenario.wants, namespaces.then_some(number), janitor, folder)?;
    fleet.starts_with = scenario.starts();
    let mut stage = Stage::set(&mut fleet, scenario.hosts, scenario.clients, options.rate, true)?;
    let outcome = (scenario.play)(&mut stage);
    // Whatever happened, the history says more of it.
    let finished = stage.finish().map(|mut played| {
        played.judge(options.bounds);
        played
    });
    match (outcome, finished) {
        (Ok(measured), Ok(mut played)) => {
            played.note(measured);
            Ok(played)
        }
        (Err(why), Ok(mut played)) => {
            played.fault(why);
            Ok(played)
        }
        (Ok(_), Err(why)) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; and then {also}")),
    }
}

/// A fleet with an empty folder of its own.
pub(super) fn fleet(
    options: &Options,
    wants: Wants,
    namespaces: Option<usize>,
    janitor: &Rc<Janitor>,
    folder: &Path,
) -> Result<Fleet, String> {
    // Of an earlier run.
    fs::remove_dir_all(folder).ok();
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let loopback = Loopback::new(std::process::id());
    let ground = match (wants, namespaces) {
        (Wants::Loopback, _) => Ground::Loopback(loopback),
        (Wants::Cuts, Some(number)) => {
            let namespaces = Namespaces::new(number)?;
            janitor.note_namespaces(namespaces.prefix());
            Ground::Namespaces(namespaces)
        }
        (Wants::Cuts | Wants::Proxies, _) => Ground::Proxies(loopback, Proxies::default()),
    };
    let plan = Plan {
        program: options.node.clone(),
        folder: folder.to_owned(),
        max_pause: options.max_pause,
        lose_one_in: options.lose_one_in,
    };
    Ok(Fleet::new(ground, plan, Some(janitor.clone())))
}

fn print_heads() {
    println!(
        "{:<21}{:>7}{:>9}{:>9}{:>8}{:>7}{:>11}{:>11}  {:<8}measured",
        "scenario", "time", "sent", "handled", "refused", "lost", "silence", "again", "verdict"
    );
}

/// Whether it held.
fn print_row(scenario: &Scenario, took: Duration, played: &Result<Played, String>) -> bool {
    let (name, took) =
        (format!("{:>2} {}", scenario.number, scenario.name), format!("{:.1} s", took.as_secs_f64()));
    let played = match played {
        Ok(played) => played,
        Err(why) => {
            println!(
                "{name:<21}{took:>7}{:>9}{:>9}{:>8}{:>7}{:>11}{:>11}  {:<8}{why}",
                "-", "-", "-", "-", "-", "-", "FAILED"
            );
            return false;
        }
    };
    let found = &played.findings;
    let is_well = played.faults().is_empty();
    let verdict = if is_well { "ok" } else { "FAILED" };
    let again = played.again.map_or_else(|| "-".to_owned(), millis);
    println!(
        "{name:<21}{took:>7}{:>9}{:>9}{:>8}{:>7}{:>11}{again:>11}  {verdict:<8}{}",
        found.sent,
        found.handled,
        found.refused,
        found.lost,
        millis(found.silence.time),
        played.notes()
    );
    for fault in played.faults() {
        println!("   {fault}");
    }
    is_well
}
