//! Events after which two clusters of one name could run: there is one, and it is the old one while any of it works.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{Disk, Fleet, SETTLE_BOUND, name, shuffled};

/// How long a process is down that was killed, each time: before anybody misses it, while others are about to, after its removal.
pub(crate) const DOWN: [Duration; 3] = [Duration::ZERO, Duration::from_millis(1500), Duration::from_secs(6)];
/// How often all are killed.
const POWER_CUTS: u64 = 2;
/// How long a node may take to leave.
const LEAVE_BOUND: Duration = Duration::from_secs(20);
/// How long the cut lasts.
const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn the_only_seed_restarts(fleet: &mut Fleet) -> Outcome {
    fleet.starts_with.seeds = vec![1];
    let (cluster, began) = form(fleet, 5)?;
    let mut slowest = Duration::ZERO;
    for down in DOWN {
        let status = fleet.terminate(1, LEAVE_BOUND)?;
        if !status.success() {
            return Err(format!("n1 ended by {status} after SIGTERM"));
        }
        // How long it is down is what is tested.
        std::thread::sleep(down);
        slowest = slowest.max(come_back(fleet, &[1])?);
        fleet.kill(1)?;
        std::thread::sleep(down);
        slowest = slowest.max(come_back(fleet, &[1])?);
    }
    fleet.undisturbed_lives(&[2, 3, 4, 5], began)?;
    one_cluster(fleet, began, &cluster)?;
    Ok(format!(
        "{0} leaves, {0} kills: each time back in the same cluster, within {1}",
        DOWN.len(),
        seconds(slowest)
    ))
}

pub(super) fn both_seeds_restart(fleet: &mut Fleet) -> Outcome {
    fleet.starts_with.seeds = vec![1, 2];
    let (cluster, began) = form(fleet, 5)?;
    let mut slowest = Duration::ZERO;
    for (round, down) in DOWN.into_iter().enumerate() {
        fleet.kill(1)?;
        fleet.kill(2)?;
        std::thread::sleep(down);
        let order = if round % 2 == 0 { [1, 2] } else { [2, 1] };
        slowest = slowest.max(come_back(fleet, &order)?);
    }
    fleet.undisturbed_lives(&[3, 4, 5], began)?;
    one_cluster(fleet, began, &cluster)?;
    let (times, slowest) = (DOWN.len(), seconds(slowest));
    Ok(format!("{times} times both were killed: back in the same cluster, within {slowest}"))
}

/// Starts nodes at these places again, and waits until all agree: how long that took.
fn come_back(fleet: &mut Fleet, places: &[usize]) -> Result<Duration, String> {
    let began = Instant::now();
    for place in places {
        fleet.start(*place)?;
    }
    fleet.settled(SETTLE_BOUND)?;
    Ok(began.elapsed())
}

pub(super) fn all_are_killed(fleet: &mut Fleet) -> Outcome {
    kill_all(fleet, Disk::None)
}

pub(super) fn all_are_killed_with_disks(fleet: &mut Fleet) -> Outcome {
    kill_all(fleet, Disk::Kept)
}

fn kill_all(fleet: &mut Fleet, disk: Disk) -> Outcome {
    fleet.starts_with.disk = disk;
    fleet.starts_with.seeds = vec![1, 2, 3];
    let (mut cluster, _) = form(fleet, 5)?;
    let (mut slowest, mut orders) = (Duration::ZERO, Vec::new());
    for seed in seeds() {
        let killed = Instant::now();
        let places = fleet.kill_all()?;
        let order = shuffled(places, seed);
        let names: Vec<_> = order.iter().map(|place| name(*place)).collect();
        orders.push(names.join(" "));
        let found = again(fleet, &order, seed, disk, &cluster);
        let found = found.map_err(|why| format!("started in the order {}: {why}", names.join(" ")))?;
        one_cluster(fleet, killed, &found)?;
        slowest = slowest.max(killed.elapsed());
        cluster = found;
    }
    let what = match disk {
        Disk::None => "a new founding",
        Disk::Kept => "the same cluster",
    };
    Ok(format!(
        "{what} each time, all agreed within {}; in the order {}",
        seconds(slowest),
        orders.join(", ")
    ))
}

/// Starts all again, and waits until they agree: in which cluster.
fn again(fleet: &mut Fleet, order: &[usize], seed: u64, disk: Disk, before: &str) -> Result<String, String> {
    fleet.start_all(order, seed)?;
    fleet.settled(SETTLE_BOUND)?;
    let now = cluster_of(fleet)?;
    match disk {
        Disk::None if now == before => Err(format!("nothing was kept, and it is {before} still")),
        Disk::Kept if now != before => Err(format!("all disks were kept, and it is {now} after {before}")),
        _ => Ok(now),
    }
}

/// Other orders in every run; the outcome names them.
pub(crate) fn seeds() -> impl Iterator<Item = u64> {
    let run = u64::from(std::process::id());
    (0..POWER_CUTS).map(move |round| run.wrapping_mul(31).wrapping_add(round))
}

pub(super) fn voters_on_the_smaller_side(fleet: &mut Fleet) -> Outcome {
    let (cluster, began) = form(fleet, 7)?;
    let voters = fleet.status(1)?.view.voters;
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for place in fleet.places() {
        let is_chosen = voters.contains(&fleet.uid(place)?) && few.len() < 3;
        if is_chosen { few.push(place) } else { many.push(place) }
    }
    if (few.len(), many.len()) != (3, 4) {
        return Err(format!("no three voters to cut off from four others: {voters:?}"));
    }
    fleet.ground.part(&few, &many)?;
    let cut = Instant::now();
    for &place in &many {
        fleet.hear(place, REMOVAL_BOUND, |heard| match heard.view() {
            Some(view) if view.standing != "member" => Ok(()),
            _ => Err("it works without a quorum".to_owned()),
        })?;
    }
    fleet.settled_at(&few, SETTLE_BOUND)?;
    let went_on = cut.elapsed();
    while cut.elapsed() < MINUTE {
        for &place in &many {
            let view = fleet.status(place)?.view;
            if view.standing == "member" || view.cluster.as_ref().is_some_and(|other| *other != cluster) {
                return Err(format!("the side without a quorum is {} of {:?}", view.standing, view.cluster));
            }
        }
        // How long it lasts is what is tested.
        std::thread::sleep(Duration::from_millis(200));
    }
    fleet.settled_at(&few, SETTLE_BOUND)?;
    fleet.ground.heal()?;
    let healed = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    let took = healed.elapsed();
    fleet.undisturbed_lives(&few, began)?;
    one_cluster(fleet, began, &cluster)?;
    Ok(format!(
        "{} of 7 agreed after {}, the others founded nothing in {MINUTE:?}, all agreed {} after healing",
        few.len(),
        seconds(went_on),
        seconds(took)
    ))
}

/// Forms a cluster: what it is called, and when it was formed.
fn form(fleet: &mut Fleet, nodes: usize) -> Result<(String, Instant), String> {
    fleet.form(nodes)?;
    Ok((cluster_of(fleet)?, Instant::now()))
}

/// Which founding the first process is a member of.
pub(crate) fn cluster_of(fleet: &mut Fleet) -> Result<String, String> {
    let first = *fleet.places().first().ok_or("there is nobody")?;
    fleet.status(first)?.view.cluster.ok_or_else(|| format!("{} is in no cluster", name(first)))
}

/// That nobody has been a member of any other cluster since.
pub(crate) fn one_cluster(fleet: &Fleet, since: Instant, cluster: &str) -> Result<(), String> {
    let worked_in = fleet.worked_in(since)?;
    let only: BTreeSet<_> = [cluster.to_owned()].into();
    if worked_in.is_subset(&only) {
        return Ok(());
    }
    Err(format!("there were clusters side by side: {worked_in:?}, and all are in {cluster} now"))
}
