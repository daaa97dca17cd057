//! How long it takes after a kill until every entity answers again, over many kills: of owners, and of the coordinator.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::stage::{CLIENT, Stage};
use super::suite::{Options, fleet};
use super::verdict::{Played, millis};
use crate::fleet::SETTLE_BOUND;
use crate::history;
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

/// What came of one kill.
pub(super) struct Failover {
    pub(super) of_coordinator: bool,
    /// How long it took until every entity answered again.
    pub(super) again: Duration,
    /// The longest that anybody waited for one entity.
    pub(super) silence: Duration,
}

/// Kills nodes, and prints how long each fail-over took. `Ok` if the goals are met.
pub fn failover(options: &Options, kills: usize) -> Result<(), String> {
    let janitor = Rc::new(Janitor::hire(&options.chaos)?);
    let (failovers, played) = kill_many(options, kills, &janitor, &options.logs.join("failover"))?;
    report(&failovers, &played)
}

/// Kills as many nodes as that, one after the other, with default settings; every other is the coordinator's.
pub(super) fn kill_many(
    options: &Options,
    kills: usize,
    janitor: &Rc<Janitor>,
    folder: &Path,
) -> Result<(Vec<Failover>, Played), String> {
    let mut fleet = fleet(options, Wants::Loopback, None, janitor, folder)?;
    let mut stage = Stage::set(&mut fleet, HOSTS, 1, options.rate, true)?;
    let mut done: Vec<Kill> = Vec::new();
    let mut coordinators = 0;
    for number in 0..kills {
        let of_coordinator = number % 2 == 1;
        if of_coordinator && coordinators == COORDINATORS_A_CLIENT {
            renew_client(&mut stage)?;
            coordinators = 0;
        }
        coordinators += usize::from(of_coordinator);
        done.push(kill_one(&mut stage, of_coordinator)?);
        eprintln!("{} of {kills} kills", number + 1);
    }
    let expected = stage.expected.clone();
    let (played, history) = stage.close()?;
    let of = |kill: &Kill| Failover {
        of_coordinator: kill.of_coordinator,
        again: history::again(&history, &expected, kill.at, kill.until),
        silence: history::longest_between(&history, &expected, kill.at, kill.until).time,
    };
    Ok((done.iter().map(of).collect(), played))
}

/// Kills a node, waits until everything is well, and starts it again.
fn kill_one(stage: &mut Stage<'_>, of_coordinator: bool) -> Result<Kill, String> {
    stage.every_entity_has_had_a_turn()?;
    stage.tolerates()?;
    let coordinator = stage.coordinator()?;
    let others = stage.hosts().into_iter().filter(|place| *place != coordinator);
    let youngest = youngest(stage, others.collect())?;
    let victim = if of_coordinator { coordinator } else { youngest };
    let at = stage.kill(victim)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    let until = history::now();
    stage.fleet.start(victim)?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    Ok(Kill { of_coordinator, at, until })
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

fn report(failovers: &[Failover], played: &Played) -> Result<(), String> {
    for (number, failover) in failovers.iter().enumerate() {
        let whose = if failover.of_coordinator { "coordinator" } else { "owner" };
        println!("kill {:>2}, {whose:<12} all answer again after {}", number + 1, millis(failover.again));
    }
    println!("{:<14}{:>7}{:>11}{:>11}{:>11}", "killed", "times", "quickest", "median", "worst");
    let of = |wanted: Option<bool>| {
        let chosen = failovers.iter().filter(|it| wanted.is_none_or(|wanted| wanted == it.of_coordinator));
        let mut chosen: Vec<_> = chosen.map(|failover| failover.again).collect();
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
    let found = &played.findings;
    println!(
        "{} messages sent, {} handled, {} came back, {} lost",
        found.sent, found.handled, found.refused, found.lost
    );
    for fault in played.faults() {
        println!("{fault}");
    }
    let all = of(None);
    let worst = all.last().copied().unwrap_or_default();
    if !played.faults().is_empty() {
        return Err("something is wrong besides".to_owned());
    }
    if middle(&all) > MEDIAN_GOAL || worst > WORST_GOAL {
        return Err(format!("the goals are {} and {}", millis(MEDIAN_GOAL), millis(WORST_GOAL)));
    }
    Ok(())
}

fn middle(sorted: &[Duration]) -> Duration {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
