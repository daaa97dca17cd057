//! How long entities are silent while shards move under load, and that nothing is lost meanwhile.

use std::time::{Duration, Instant};

use super::{Ground, Measurement, Times};
use crate::fleet::name;
use crate::history::{self, now};
use crate::sharding::layout::SHARDS;
use crate::sharding::moving::{let_go, restart_all};
use crate::sharding::stage::{CLIENT, IDS, Stage};
use crate::words::{Answer, LEDGER};

const HOSTS: usize = 3;
/// How long a million entities may take to be made, and to be read.
const FILL_BOUND: Duration = Duration::from_secs(300);

pub(super) fn join(ground: &Ground<'_>, times: Times, measured: &mut Measurement) -> Result<(), String> {
    let idle = times.entities.saturating_sub(IDS);
    for _ in 0..times.repeats {
        let mut fleet = ground.fleet("join")?;
        let mut stage = Stage::without_load(&mut fleet, HOSTS, 1, ground.options.rate, true)?;
        fill(&mut stage, idle)?;
        stage.raise_load()?;
        all_live(&mut stage, times.entities.max(IDS))?;
        let before = stage.balanced()?;
        let newcomer = HOSTS + 1;
        let (since, began) = (now(), Instant::now());
        stage.fleet.start(newcomer)?;
        let after = stage.balanced()?;
        let took = began.elapsed();
        let moved = after.moved_only_to(&name(newcomer), &before)?;
        stage.every_entity_has_had_a_turn()?;
        measured.faults.extend(stage.end_all_load());
        all_remember(&mut stage, idle)?;
        eprintln!("a node joined: balanced within {took:?}, {moved} shards moved");
        measured.add_time("join_balanced", took);
        measured.add_percent("join_moved", u32::try_from(moved).unwrap_or(u32::MAX), SHARDS);
        close(stage, "join", since, measured)?;
    }
    Ok(())
}

/// In turns each of the three: one of them is the coordinator.
pub(super) fn leave(ground: &Ground<'_>, repeats: usize, measured: &mut Measurement) -> Result<(), String> {
    for place in (1..=HOSTS).cycle().take(repeats) {
        let mut fleet = ground.fleet("leave")?;
        let mut stage = Stage::set(&mut fleet, HOSTS, 1, ground.options.rate, true)?;
        let since = now();
        let took = let_go(&mut stage, place)?;
        stage.every_entity_has_had_a_turn()?;
        eprintln!("n{place} left within {took:?}");
        measured.add_time("leave_took", took);
        close(stage, "leave", since, measured)?;
    }
    Ok(())
}

pub(super) fn rolling_restart(
    ground: &Ground<'_>,
    repeats: usize,
    measured: &mut Measurement,
) -> Result<(), String> {
    for _ in 0..repeats {
        let mut fleet = ground.fleet("rolling-restart")?;
        let mut stage = Stage::set(&mut fleet, HOSTS, 1, ground.options.rate, true)?;
        let since = now();
        let slowest = restart_all(&mut stage)?;
        eprintln!("all were restarted, the slowest left within {slowest:?}");
        measured.add_time("restart_took", slowest);
        let reordered = close(stage, "restart", since, measured)?;
        measured.add_count("restart_reordered", reordered);
    }
    Ok(())
}

/// What the history says of the time since: how many messages were reordered.
fn close(stage: Stage<'_>, figures: &str, since: u64, measured: &mut Measurement) -> Result<usize, String> {
    let expected = stage.expected.clone();
    let (played, history) = stage.close()?;
    let silence = history::longest_between(&history, &expected, since, u64::MAX);
    measured.add_time(&format!("{figures}_silence"), silence.time);
    measured.add_count(&format!("{figures}_lost"), played.findings.lost);
    measured.faults.extend_from_slice(played.faults());
    Ok(played.findings.reordered)
}

/// Makes so many entities besides those that there is load for; each has had one message.
fn fill(stage: &mut Stage<'_>, idle: u32) -> Result<(), String> {
    // Every shard has an owner first: what may wait for one is bounded.
    stage.received(LEDGER)?;
    stage.balanced()?;
    match stage.fleet.ask(CLIENT, &format!("fill {IDS} {idle}"), FILL_BOUND)? {
        Answer::Told { millis, .. } => {
            eprintln!("{idle} entities made within {millis} ms");
            Ok(())
        }
        other => Err(format!("{other:?} to fill")),
    }
}

/// Waits until so many entities live.
fn all_live(stage: &mut Stage<'_>, entities: u32) -> Result<(), String> {
    let until = Instant::now() + FILL_BOUND;
    loop {
        let live: usize = stage.shards(LEDGER)?.iter().map(|node| node.entities).sum();
        if live == entities as usize {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("{live} entities live, and {entities} should"));
        }
        // Nobody says when: it has to be asked for.
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Every one of those without load still has its one message: nothing was lost, doubled or begun anew.
fn all_remember(stage: &mut Stage<'_>, idle: u32) -> Result<(), String> {
    match stage.fleet.ask(CLIENT, &format!("received {LEDGER} {IDS} {idle}"), FILL_BOUND)? {
        Answer::Received { received, misplaced: 0, .. } if received == u64::from(idle) => Ok(()),
        Answer::Received { received, misplaced, .. } => {
            Err(format!("{idle} idle entities remember {received} messages, {misplaced} of them misplaced"))
        }
        other => Err(format!("{other:?} to received")),
    }
}
