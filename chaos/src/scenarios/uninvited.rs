//! Strangers at the door: each is refused, counted, logged seldom, and costs the cluster nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, churn, seconds};
use crate::fleet::{CLUSTER, Fleet, SECRET, SETTLE_BOUND, name};
use crate::strangers::{connect, greet, noise, read_to_end, say};
use crate::words::Status;

/// How long counts may take to be complete: longer than a handshake may.
const COUNT_BOUND: Duration = Duration::from_secs(12);

/// A fleet of three; which one the strangers come to, and where.
fn besieged(fleet: &mut Fleet) -> Result<Siege, String> {
    fleet.form(3)?;
    let place = 2;
    Ok(Siege {
        place,
        door: fleet.ground.listens(place),
        before: fleet.status(place)?,
        began: Instant::now(),
    })
}

struct Siege {
    place: usize,
    door: String,
    before: Status,
    began: Instant,
}

impl Siege {
    /// That as many more as given were refused for one of these reasons, that nothing else happened, and that the sockets
    /// are closed again.
    fn over(&self, fleet: &mut Fleet, reasons: &[&str], count: u64) -> Result<(), String> {
        let of = |status: &Status| -> u64 {
            reasons.iter().filter_map(|reason| status.counts.refusals.get(*reason)).sum()
        };
        fleet.status_until(self.place, COUNT_BOUND, |status| {
            let counted = of(status) - of(&self.before);
            if counted != count {
                return Err(format!(
                    "{counted} of {count} refusals for {reasons:?}: {:?}",
                    status.counts.refusals
                ));
            }
            if status.sockets > self.before.sockets + 8 {
                return Err(format!("{} sockets are open, {} were", status.sockets, self.before.sockets));
            }
            Ok(())
        })?;
        fleet.undisturbed(&fleet.places(), self.began)?;
        fleet.settled(SETTLE_BOUND)?;
        // It still has an ear for others.
        fleet.ask(1, &format!("lookup {}", name(self.place)), Duration::from_secs(6))?;
        Ok(())
    }
}

pub(super) fn scanner(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    for _ in 0..1000 {
        drop(connect(&siege.door)?);
    }
    let took = siege.began.elapsed();
    siege.over(fleet, &["ClosedEarly", "CrowdedOut"], 1000)?;
    Ok(format!("1000 connections within {}, each counted", seconds(took)))
}

pub(super) fn silent(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(connect(&siege.door)?);
    }
    let connected = Instant::now();
    for stream in &mut silent {
        let said = read_to_end(stream)?;
        if !said.is_empty() {
            return Err("the node spoke first".to_owned());
        }
    }
    let took = connected.elapsed();
    siege.over(fleet, &["Silent"], 20)?;
    Ok(format!("20 closed by the node after {}", seconds(took)))
}

pub(super) fn garbage(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let mut slowest = Duration::ZERO;
    for seed in 0..100 {
        let (_, took) = say(&siege.door, &noise(64 * 1024, seed + 1))?;
        slowest = slowest.max(took);
    }
    siege.over(fleet, &["NotBorough", "Malformed"], 100)?;
    Ok(format!("100 times 64 KiB, closed within {}", seconds(slowest)))
}

pub(super) fn http(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", siege.door);
    let mut slowest = Duration::ZERO;
    for _ in 0..100 {
        let (_, took) = say(&siege.door, request.as_bytes())?;
        slowest = slowest.max(took);
    }
    siege.over(fleet, &["NotBorough"], 100)?;
    Ok(format!("100 requests, closed within {}", seconds(slowest)))
}

pub(super) fn other_cluster(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let mut words = String::new();
    for number in 1..=50 {
        words = greet(&siege.door, "another", Some(SECRET), number)?;
    }
    siege.over(fleet, &["OtherCluster"], 50)?;
    Ok(format!("they were told: {words}"))
}

pub(super) fn wrong_secret(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let mut words = String::new();
    for number in 1_u64..=50 {
        let secret = number.is_multiple_of(2).then_some("another secret of good length");
        words = greet(&siege.door, CLUSTER, secret, number)?;
    }
    siege.over(fleet, &["NotAuthenticated"], 50)?;
    Ok(format!("they were told: {words}"))
}

pub(super) fn replay(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    // A message, so that there is more to play again than heartbeats.
    fleet.ask(1, &format!("tell {} 100", name(siege.place)), Duration::from_secs(6))?;
    let received = fleet.status_until(siege.place, Duration::from_secs(6), |status| {
        if status.received == 100 { Ok(()) } else { Err(format!("{} messages arrived", status.received)) }
    })?;
    let recorded = fleet.ground.recorded(siege.place);
    if recorded.is_empty() {
        return Err("nothing was recorded".to_owned());
    }
    for bytes in &recorded {
        say(&siege.door, bytes)?;
    }
    let count = recorded.len() as u64;
    siege.over(fleet, &["NotAuthenticated"], count)?;
    let after = fleet.status(siege.place)?;
    if after.received != received.received {
        return Err(format!("{} messages arrived twice", after.received - received.received));
    }
    let bytes: usize = recorded.iter().map(Vec::len).sum();
    Ok(format!("{count} connections, {bytes} bytes played again"))
}

pub(super) fn crowd(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let wanted = 10_000;
    let (soft, left) = crate::suite::open_files();
    let held = wanted.min(left);
    let mut crowd = Vec::new();
    for _ in 0..held {
        crowd.push(connect(&siege.door)?);
    }
    let took = siege.began.elapsed();
    let during = fleet.status(siege.place)?;
    fleet.ask(1, &format!("asks {} 1000", name(siege.place)), Duration::from_secs(8))?;
    drop(crowd);
    siege.over(fleet, &["ClosedEarly", "CrowdedOut", "Silent"], held as u64)?;
    let limit =
        if held < wanted { format!(" (no more than {soft} files may be open)") } else { String::new() };
    Ok(format!(
        "{held} connections within {}{limit}, at most {} sockets there",
        seconds(took),
        during.sockets
    ))
}

/// So many that a queue at the door that is too short is always full.
const SCANNERS: usize = 4;

/// Scanners at the doors of all nodes, several each, until it is dropped.
struct Scanners {
    enough: Arc<AtomicBool>,
    came: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Scanners {
    fn begin(doors: &[String]) -> Self {
        let (enough, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let scan = |door: String| {
            let (enough, came) = (enough.clone(), came.clone());
            std::thread::spawn(move || {
                // A door that is closed meanwhile is not what is tested.
                while !enough.load(Ordering::Relaxed) && connect(&door).is_ok() {
                    came.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let threads = doors.iter().flat_map(|door| vec![door.clone(); SCANNERS]).map(scan).collect();
        Self { enough, came, threads }
    }
}

impl Drop for Scanners {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().ok();
        }
    }
}

pub(super) fn siege(fleet: &mut Fleet) -> Outcome {
    let siege = besieged(fleet)?;
    let doors: Vec<_> = fleet.places().into_iter().map(|place| fleet.ground.listens(place)).collect();
    let scanners = Scanners::begin(&doors);
    let began = Instant::now();
    fleet.start(4)?;
    churn::is_up(fleet, 4)?;
    let joined = began.elapsed();
    // Those who were there saw it come, and nothing else.
    fleet.settled(SETTLE_BOUND)?;
    let uid = fleet.uid(4)?;
    let killed = fleet.kill(4)?;
    let removed = fleet.removed(uid, &fleet.places(), killed, REMOVAL_BOUND)?;
    let came = scanners.came.load(Ordering::Relaxed);
    drop(scanners);
    fleet.settled(SETTLE_BOUND)?;
    fleet.undisturbed_lives(&fleet.places(), siege.began)?;
    Ok(format!(
        "{came} connections; one joined within {}, and was removed {} after kill -9",
        seconds(joined),
        seconds(removed)
    ))
}
