//! Which scenarios are played, what is printed of them, and which logs are kept.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::fleet::{Fleet, Plan};
use crate::ground::{Ground, Loopback, Namespaces, Proxies, are_permitted, sweep};
use crate::janitor::Janitor;
use crate::scenarios::{ALL, Scenario, Wants};

/// Set to 1 where it is a failure if no namespaces can be made.
pub const REQUIRE: &str = "BOROUGH_REQUIRE_NETNS";

/// What to play, and with what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program `chaos-node`.
    pub node: PathBuf,
    /// The program `chaos`, which can be a janitor.
    pub chaos: PathBuf,
    /// Where logs are kept.
    pub logs: PathBuf,
    /// Only scenarios whose names contain one of these; all, if there is none.
    pub only: Vec<String>,
    /// Only the quick ones.
    pub quick: bool,
    /// Logs are kept even of those that held.
    pub keep: bool,
    /// Other than the default of the library.
    pub max_pause: Option<Duration>,
    /// Ways are cut by proxies, even if namespaces could be made.
    pub proxies: bool,
}

/// Lists all scenarios.
pub fn list() {
    for scenario in ALL {
        let quick = if scenario.is_quick { "quick" } else { "" };
        println!("{:<18}{quick:<7}{}", scenario.name, scenario.about);
    }
}

/// Plays them, and prints a table. `Ok` if all held.
pub fn run(options: &Options) -> Result<(), String> {
    let chosen: Vec<_> = ALL.iter().filter(|scenario| is_chosen(scenario, options)).collect();
    if chosen.is_empty() {
        return Err(format!("no scenario is called {:?}; --list names them", options.only));
    }
    raise_open_files();
    sweep();
    let cuts = chosen.iter().any(|scenario| scenario.wants == Wants::Cuts);
    let namespaces = cuts && namespaces_can_be_used(options.proxies)?;
    let janitor = Rc::new(Janitor::hire(&options.chaos)?);
    println!("{:<18}{:>8}  {:<8}measured", "scenario", "time", "result");
    let mut failed = Vec::new();
    let began = Instant::now();
    for (number, scenario) in chosen.iter().enumerate() {
        let took = Instant::now();
        let outcome = play(scenario, number + 1, options, namespaces, &janitor);
        let took = format!("{:.1} s", took.elapsed().as_secs_f64());
        match outcome {
            Ok(measured) => println!("{:<18}{took:>8}  {:<8}{measured}", scenario.name, "ok"),
            Err(why) => {
                println!("{:<18}{took:>8}  {:<8}{why}", scenario.name, "FAILED");
                failed.push(scenario.name);
            }
        }
    }
    println!(
        "{} of {} held, {:.0} s",
        chosen.len() - failed.len(),
        chosen.len(),
        began.elapsed().as_secs_f64()
    );
    if failed.is_empty() {
        return Ok(());
    }
    for name in &failed {
        println!("logs: {}", options.logs.join(name).display());
        println!("alone: cargo xtask chaos network --only {name}");
    }
    Err(format!("{} scenarios failed: {}", failed.len(), failed.join(", ")))
}

fn is_chosen(scenario: &Scenario, options: &Options) -> bool {
    let is_named =
        options.only.is_empty() || options.only.iter().any(|part| scenario.name.contains(part.as_str()));
    is_named && (scenario.is_quick || !options.quick)
}

/// Whether ways are cut in namespaces; says so if not, and why.
pub(crate) fn namespaces_can_be_used(proxies: bool) -> Result<bool, String> {
    if proxies {
        return Ok(false);
    }
    let Err(why) = are_permitted() else { return Ok(true) };
    if std::env::var_os(REQUIRE).is_some_and(|value| value == "1") {
        return Err(format!("{REQUIRE} is 1, and no network namespaces can be made: {why}"));
    }
    println!("no network namespaces can be made ({why}): ways are cut by proxies instead");
    Ok(false)
}

fn play(
    scenario: &Scenario,
    number: usize,
    options: &Options,
    namespaces: bool,
    janitor: &Rc<Janitor>,
) -> Result<String, String> {
    let folder = options.logs.join(scenario.name);
    // Of an earlier run.
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let loopback = Loopback::new(std::process::id());
    let ground = match scenario.wants {
        Wants::Loopback => Ground::Loopback(loopback),
        Wants::Cuts if namespaces => {
            let namespaces = Namespaces::new(number)?;
            janitor.note_namespaces(namespaces.prefix());
            Ground::Namespaces(namespaces)
        }
        Wants::Cuts | Wants::Proxies => Ground::Proxies(loopback, Proxies::default()),
    };
    let plan = Plan {
        program: options.node.clone(),
        folder: folder.clone(),
        max_pause: options.max_pause,
        lose_one_in: None,
    };
    let where_it_ran = ground.name();
    let mut fleet = Fleet::new(ground, plan, Some(janitor.clone()));
    let measured = (scenario.play)(&mut fleet)?;
    let (formed, growth) = (fleet.formed, fleet.aftermath()?);
    drop(fleet);
    if !options.keep {
        // They are of no use any more.
        fs::remove_dir_all(&folder).ok();
    }
    let on = if scenario.wants == Wants::Cuts { format!(", {where_it_ran}") } else { String::new() };
    Ok(format!(
        "{measured}; formed within {:.1} s, grown by {:.1} MiB{on}",
        formed.as_secs_f64(),
        mib(growth)
    ))
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// As many open files as this process may have; its children inherit it.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, a scenario that needs more says so.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).ok();
}

/// How many files may be open, and how many of them a scenario may use for itself.
pub(crate) fn open_files() -> (usize, usize) {
    let most = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(usize::MAX);
    (most, most.saturating_sub(500))
}
