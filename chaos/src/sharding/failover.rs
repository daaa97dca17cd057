//! How long it takes after a kill until every entity answers again, over many kills: of owners, and of the coordinator.

use std::rc::Rc;
use std::time::Duration;

use super::stage::{CLIENT, IDS, Stage};
use super::suite::{Options, fleet};
use super::verdict::millis;
use crate::fleet::SETTLE_BOUND;
use crate::history::{self, History, Lives};
use crate::janitor::Janitor;
use crate::scenarios::Wants;

const HOSTS: usize = 5;
/// The promise: the middle and the worst of all.
const MEDIAN_GOAL: Duration = Duration::from_secs(3);
const WORST_GOAL: Duration = Duration::from_millis(3500);
/// After so many coordinators the client would be the oldest, and the next one.
const COORDINATORS_A_CLIENT: usize = 4;

/// One kill.
struct Kill {
    of_coordinator: bool,
    at: u64,
    /// When the load ended or the next harm was done.
    until: u64,
}

/// Kills as many nodes as that, one after the other, with default settings, and prints how long each fail-over took. `Ok` if the goals are met.
pub fn measure(options: &Options, kills: usize) -> Result<(), String> {
    let janitor = Rc::new(Janitor::hire(&options.chaos)?);
    let folder = options.logs.join("failover");
    let mut fleet = fleet(options, Wants::Loopback, None, &janitor, &folder)?;
    let mut stage = Stage::set(&mut fleet, HOSTS, 1, options.rate, true)?;
    stage.expected.lives = Lives::EndAnywhere;
    let mut done: Vec<Kill> = Vec::new();
    let mut coordinators = 0;
    for number in 0..kills {
        let of_coordinator = number % 2 == 1;
        if of_coordinator && coordinators == COORDINATORS_A_CLIENT {
            renew_client(&mut stage)?;
            coordinators = 0;
        }
        stage.every_entity_has_had_a_turn()?;
        stage.tolerates()?;
        let coordinator = stage.coordinator()?;
        let others = stage.hosts().into_iter().filter(|place| *place != coordinator);
        let youngest = youngest(&stage, others.collect())?;
        let victim = if of_coordinator { coordinator } else { youngest };
        coordinators += usize::from(of_coordinator);
        let at = stage.kill(victim)?;
        stage.balanced()?;
        stage.every_entity_has_had_a_turn()?;
        done.push(Kill { of_coordinator, at, until: history::now() });
        println!(
            "kill {} of {kills}: n{victim}{}",
            number + 1,
            if of_coordinator { ", the coordinator" } else { "" }
        );
        stage.fleet.start(victim)?;
        stage.fleet.settled(SETTLE_BOUND)?;
        stage.balanced()?;
    }
    let expected = stage.expected.clone();
    stage.finish()?;
    let history = History::read(&folder)?;
    report(&history, &expected, &done)
}

/// The client leaves and comes back, as the youngest.
fn renew_client(stage: &mut Stage<'_>) -> Result<(), String> {
    stage.end_load(CLIENT)?;
    stage.fleet.terminate(CLIENT, SETTLE_BOUND)?;
    stage.fleet.start(CLIENT)?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.begin_load(CLIENT)
}

/// The place whose process was started last.
fn youngest(stage: &Stage<'_>, places: Vec<usize>) -> Result<usize, String> {
    let mut youngest = None;
    for place in places {
        let start = stage.fleet.process(place)?.start;
        youngest = youngest.max(Some((start, place)));
    }
    youngest.map(|(_, place)| place).ok_or_else(|| "there is nobody".to_owned())
}

fn report(history: &History, expected: &history::Expected, kills: &[Kill]) -> Result<(), String> {
    let times: Vec<_> = kills
        .iter()
        .map(|kill| (kill.of_coordinator, history::again(history, expected, kill.at, kill.until)))
        .collect();
    for (number, (of_coordinator, time)) in times.iter().enumerate() {
        let whose = if *of_coordinator { "coordinator" } else { "owner" };
        println!("kill {:>2}, {whose:<12} all answer again after {}", number + 1, millis(*time));
    }
    println!("{:<14}{:>7}{:>11}{:>11}{:>11}", "killed", "times", "quickest", "median", "worst");
    let of = |wanted: Option<bool>| {
        let chosen = times.iter().filter(|(of_coordinator, _)| wanted.is_none_or(|it| it == *of_coordinator));
        let mut chosen: Vec<_> = chosen.map(|(_, time)| *time).collect();
        chosen.sort_unstable();
        chosen
    };
    for (name, wanted) in [("owner", Some(false)), ("coordinator", Some(true)), ("both", None)] {
        let times = of(wanted);
        let (Some(quickest), Some(worst)) = (times.first(), times.last()) else { continue };
        println!(
            "{name:<14}{:>7}{:>11}{:>11}{:>11}",
            times.len(),
            millis(*quickest),
            millis(middle(&times)),
            millis(*worst)
        );
    }
    let found = history::check(history, expected, IDS);
    println!(
        "{} messages sent, {} handled, {} came back, {} lost",
        found.sent, found.handled, found.refused, found.lost
    );
    for fault in found.faults.lines() {
        println!("{fault}");
    }
    let all = of(None);
    let worst = all.last().copied().unwrap_or_default();
    if !found.faults.is_empty() {
        return Err("the history has faults".to_owned());
    }
    if middle(&all) > MEDIAN_GOAL || worst > WORST_GOAL {
        return Err(format!("the goals are {} and {}", millis(MEDIAN_GOAL), millis(WORST_GOAL)));
    }
    Ok(())
}

fn middle(sorted: &[Duration]) -> Duration {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
