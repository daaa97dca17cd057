//! The demo's own place in the cluster: a node that hosts nothing, sends readings to all sensors, and knows what became of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use borough::prelude::*;
use borough_management::{DEFAULT_LISTEN, Management, ManagementError};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::ledger::Ledger;
use super::losses::Losses;
use super::node;
use super::probe::{Probe, ask_around};
use super::sensor::{Memory, Reading, SENSORS, SHARDS, name};
use super::summary::Summary;

/// Where what nobody must know in advance listens.
pub(super) const ANY_PORT: &str = "127.0.0.1:0";
/// How many tasks send. Each has sensors of its own, so that each sensor's readings have one sender, and an order.
const SENDERS: usize = 4;
/// How often each of them sends what is due.
const BEAT: Duration = Duration::from_millis(10);
/// How many sensors are asked at once in the end.
const ASKED_AT_ONCE: usize = 256;
/// How long a sensor may take to answer in the end, fail-overs included.
const LAST_ANSWER: Duration = Duration::from_secs(30);

/// The demo's node, and what it sends.
pub(super) struct City {
    pub(super) node: Node,
    pub(super) management: Management,
    pub(super) ledger: Arc<Ledger>,
    pub(super) probe: Arc<Probe>,
    sensors: Region<Reading>,
    ends: Arc<AtomicBool>,
    senders: Vec<JoinHandle<()>>,
    pub(super) losses: Losses,
}

impl City {
    /// Founds a cluster of its own, which the others join. The dashboard listens there; without a word on it, at its usual place if that is free.
    pub(super) async fn found(sensors: usize, max_pause: Duration, dashboard: Option<&str>) -> Result<Self> {
        let node = node::builder("city-hall", max_pause).start().await?;
        let wanted = Management::builder(&node).listen(dashboard.unwrap_or(DEFAULT_LISTEN)).start().await;
        let management = match wanted {
            Err(ManagementError::Listen { .. }) if dashboard.is_none() => {
                Management::builder(&node).listen(ANY_PORT).start().await?
            }
            wanted => wanted?,
        };
        let region = node.shard_proxy::<Reading>(SENSORS).shards(SHARDS).start().await?;
        let losses = Losses::default();
        tokio::spawn(losses.clone().watch(node.node_handle()));
        Ok(Self {
            node,
            management,
            sensors: region,
            ledger: Arc::new(Ledger::new(sensors)),
            probe: Arc::default(),
            ends: Arc::new(AtomicBool::new(false)),
            senders: Vec::new(),
            losses,
        })
    }

    /// Waits until the shards of all sensors have owners: what is sent before waits for them, and is refused if that takes too long.
    pub(super) async fn open(&self) -> Result<()> {
        let sensors = (0..self.ledger.sensors()).map(|sensor| (self.sensors.shard_of(name(sensor)), sensor));
        let first: BTreeMap<u32, usize> =
            sensors.rev().filter_map(|(shard, sensor)| Some((shard.ok()?, sensor))).collect();
        let mut starting = JoinSet::new();
        for sensor in first.into_values() {
            let region = self.sensors.clone();
            starting.spawn(async move { region.start(name(sensor)).await });
        }
        while let Some(started) = starting.join_next().await {
            started.context("a start failed")??;
        }
        Ok(())
    }

    /// Makes every sensor send its first reading, and goes on at that rate.
    pub(super) fn begin(&mut self, rate: u64) {
        for place in 0..SENDERS {
            let (sensors, ledger) = (self.sensors.clone(), Arc::clone(&self.ledger));
            self.senders.push(tokio::spawn(report(place, sensors, ledger, rate, Arc::clone(&self.ends))));
        }
        let (count, probe) = (self.ledger.sensors(), Arc::clone(&self.probe));
        self.senders.push(tokio::spawn(ask_around(
            self.sensors.clone(),
            count,
            probe,
            Arc::clone(&self.ends),
        )));
    }

    /// Ends the sending; gives what became of all messages.
    pub(super) async fn settle(&mut self) -> Result<Summary> {
        let asks = self.probe.latency(usize::MAX);
        self.ends.store(true, Ordering::Relaxed);
        for sender in self.senders.drain(..) {
            sender.await.context("a sender failed")?;
        }
        let memories = self.look_at_all().await?;
        let shard_of = |sensor| self.sensors.shard_of(name(sensor)).unwrap_or(u32::MAX);
        let account = self.ledger.settle(&memories, &self.losses.harmed(), shard_of);
        Ok(Summary { account, asks, lost: self.losses.lost() })
    }

    /// Asks every sensor what it remembers. Whoever is asked while its shard begins anew is asked again: looking does no harm.
    async fn look_at_all(&self) -> Result<Vec<Memory>> {
        let count = self.ledger.sensors();
        let mut memories = vec![Memory::default(); count];
        let mut asked = JoinSet::new();
        for sensor in 0..count {
            if asked.len() >= ASKED_AT_ONCE {
                keep(&mut memories, asked.join_next().await)?;
            }
            let region = self.sensors.clone();
            asked.spawn(async move {
                let until = Instant::now() + LAST_ANSWER;
                loop {
                    match region.ask(name(sensor), Reading::Look).await {
                        Ok(memory) => return Ok((sensor, memory)),
                        Err(error) if Instant::now() > until => {
                            return Err(anyhow::anyhow!("{} does not answer: {error}", name(sensor)));
                        }
                        Err(_) => sleep(BEAT).await,
                    }
                }
            });
        }
        while let Some(answer) = asked.join_next().await {
            keep(&mut memories, Some(answer))?;
        }
        Ok(memories)
    }
}

type Answered = Result<Result<(usize, Memory)>, tokio::task::JoinError>;

fn keep(memories: &mut [Memory], answered: Option<Answered>) -> Result<()> {
    if let Some(answered) = answered {
        let (sensor, memory) = answered.context("a question failed")??;
        memories[sensor] = memory;
    }
    Ok(())
}

/// Sends readings to each sensor of its own in turn, first once to all as fast as they are taken, then at the rate.
async fn report(
    place: usize,
    sensors: Region<Reading>,
    ledger: Arc<Ledger>,
    rate: u64,
    ends: Arc<AtomicBool>,
) {
    let own: Vec<usize> = (0..ledger.sensors()).skip(place).step_by(SENDERS).collect();
    let mut next = own.iter().copied().cycle();
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut due = own.len() as u64 * BEATS_A_SECOND * SENDERS as u64;
    while !ends.load(Ordering::Relaxed) && !own.is_empty() {
        // What is due is counted in parts of a message, so that small rates come out right.
        while due >= BEATS_A_SECOND * SENDERS as u64 && !ends.load(Ordering::Relaxed) {
            due -= BEATS_A_SECOND * SENDERS as u64;
            let Some(sensor) = next.next() else { return };
            let number = ledger.send(sensor);
            let celsius = temperature(sensor, number);
            if sensors.tell(name(sensor), Reading::Taken { number, celsius }).await.is_err() {
                ledger.refuse(sensor);
            }
        }
        beat.tick().await;
        due += rate;
    }
}

const BEATS_A_SECOND: u64 = 100;

/// Any will do.
fn temperature(sensor: usize, number: u64) -> f32 {
    let step = u16::try_from((sensor as u64 * 31 + number * 7) % 300).unwrap_or_default();
    f32::from(step) / 10.0
}
