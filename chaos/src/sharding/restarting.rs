//! Nodes are killed and started again at their addresses: one over and over, the seeds, all of them.

use std::time::{Duration, Instant};

use super::moving::let_go;
use super::stage::{CLIENT, Stage};
use super::verdict::millis;
use crate::fleet::{Disk, SETTLE_BOUND, name, shuffled};
use crate::history::Lives;
use crate::scenarios::Outcome;
use crate::scenarios::one_cluster::{DOWN, cluster_of, one_cluster, seeds};

const TIMES: usize = 20;
/// How soon it has to listen again, and when it is killed the next time.
const SOON: Duration = Duration::from_secs(1);

pub(super) fn twenty_times(stage: &mut Stage<'_>) -> Outcome {
    // Shards are on their way there when it is killed: what has moved, and had no turn there, is lost as well.
    stage.expected.lives = Lives::EndAnywhere;
    let (victim, mut slowest) = (3, Duration::ZERO);
    for _ in 0..TIMES {
        let began = Instant::now();
        stage.kill(victim)?;
        stage.fleet.start(victim)?;
        slowest = slowest.max(began.elapsed());
        // Some lives end before anybody has heard of them, others when shards are on their way.
        std::thread::sleep(SOON.saturating_sub(began.elapsed()));
    }
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    let measured = format!("{TIMES} restarts, slowest {}", millis(slowest));
    if slowest > SOON {
        return Err(format!("{measured}: it was not back within {}", millis(SOON)));
    }
    Ok(measured)
}

pub(super) fn the_only_seed(stage: &mut Stage<'_>) -> Outcome {
    let (cluster, began) = (cluster_of(stage.fleet)?, Instant::now());
    let_go(stage, 1)?;
    come_back(stage, &[1])?;
    for down in DOWN {
        stage.kill(1)?;
        // How long it is down is what is tested.
        std::thread::sleep(down);
        come_back(stage, &[1])?;
    }
    one_cluster(stage.fleet, began, &cluster)?;
    Ok(format!("it left once and was killed {} times", DOWN.len()))
}

pub(super) fn both_seeds(stage: &mut Stage<'_>) -> Outcome {
    let (cluster, began) = (cluster_of(stage.fleet)?, Instant::now());
    for (round, down) in DOWN.into_iter().enumerate() {
        stage.kill(1)?;
        stage.kill(2)?;
        std::thread::sleep(down);
        come_back(stage, if round % 2 == 0 { &[1, 2] } else { &[2, 1] })?;
    }
    one_cluster(stage.fleet, began, &cluster)?;
    Ok(format!("both were killed {} times", DOWN.len()))
}

/// Starts hosts at these places again, and waits until each has its share.
fn come_back(stage: &mut Stage<'_>, places: &[usize]) -> Result<(), String> {
    for place in places {
        stage.fleet.start(*place)?;
    }
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.tolerates()?;
    stage.every_entity_has_had_a_turn()
}

pub(super) fn all(stage: &mut Stage<'_>) -> Outcome {
    let disk = stage.fleet.starts_with.disk;
    let mut orders = Vec::new();
    for seed in seeds() {
        let (before, cluster, killed) = (stage.balanced()?, cluster_of(stage.fleet)?, Instant::now());
        stage.harm(&stage.hosts())?;
        stage.cut_short(CLIENT)?;
        let order = shuffled(stage.fleet.kill_all()?, seed);
        let names: Vec<_> = order.iter().map(|place| name(*place)).collect();
        orders.push(names.join(" "));
        stage.fleet.start_all(&order, seed)?;
        stage.fleet.settled(SETTLE_BOUND)?;
        let now = cluster_of(stage.fleet)?;
        one_cluster(stage.fleet, killed, &now)?;
        stage.harm_shows();
        stage.begin_load(CLIENT)?;
        let after = stage.balanced()?;
        stage.every_entity_has_had_a_turn()?;
        match disk {
            Disk::None if now == cluster => return Err(format!("nothing was kept, and it is {now} still")),
            Disk::Kept if now != cluster => {
                return Err(format!("all disks were kept, and it is {now} after {cluster}"));
            }
            Disk::Kept if after.elsewhere_than(&before) > 0 => {
                return Err(format!("{} shards are not where they were", after.elsewhere_than(&before)));
            }
            Disk::None | Disk::Kept => {}
        }
    }
    Ok(format!("all were killed, and started in the order {}", orders.join(", ")))
}
