//! The load: senders that go round over all entities, three tells to one ask, and write down what came of each.
//!
//! A sender's messages to one entity are numbered, and accepted in that order: an ask is polled where it is made, and waits elsewhere.
//! An entity that failed to answer is probed by asks, one after the other, until it does: so the history knows when that was.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use borough::cluster::Region;
use borough::{AskError, EntityId};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::entity::Entry;
use super::scribe::Scribe;
use crate::history::{Line, Outcome, Sending, Signed, now};
use crate::words::LoadCounts;

const SENDERS: u32 = 4;
/// The sender of probes, after the first of a process.
const PROBER: u32 = 9;
/// One in so many messages is an ask.
const ASKS_ONE_IN: u64 = 4;
/// From one entity to the next; it has no divisor in common with their number.
const STRIDE: u64 = 7919;
/// How many asks may be open at once.
const OPEN_MAX: u32 = 20_000;
/// The same without pacing: enough to keep everybody busy.
const OPEN_MAX_UNPACED: u32 = 2_000;
/// Longer than any fail-over: who waits for so long was forgotten.
const ASK_TIME: Duration = Duration::from_secs(20);
const PACE: Duration = Duration::from_millis(2);
/// After a stall, so many messages are made up for at most.
const BURST: u64 = 500;
/// How many entities are read at once.
const READS: usize = 256;

pub(in crate::program) struct Load {
    region: Region<Entry>,
    ids: Arc<[EntityId]>,
    scribe: Arc<Scribe>,
    first_sender: u32,
    counts: Counts,
    running: Mutex<Option<Running>>,
    probed: Mutex<HashSet<u32>>,
    /// The last number of each sender to each entity; they go on where an earlier load ended.
    numbers: Mutex<Vec<Option<Vec<u32>>>>,
    probes: Mutex<Vec<u32>>,
}

struct Running {
    stop: watch::Sender<bool>,
    senders: Vec<JoinHandle<()>>,
    open: Arc<Semaphore>,
    open_max: u32,
}

#[derive(Default)]
struct Counts {
    tells: AtomicU64,
    asks: AtomicU64,
    answered: AtomicU64,
    refused: AtomicU64,
    slowest_us: AtomicU64,
}

/// One message.
#[derive(Clone, Copy)]
struct Numbered {
    sender: u32,
    id: u32,
    number: u32,
}

impl Load {
    pub(super) fn new(
        region: Region<Entry>,
        ids: Arc<[EntityId]>,
        scribe: Arc<Scribe>,
        first_sender: u32,
    ) -> Self {
        Self {
            numbers: Mutex::new((0..SENDERS).map(|_| Some(vec![0; ids.len()])).collect()),
            probes: Mutex::new(vec![0; ids.len()]),
            region,
            ids,
            scribe,
            first_sender,
            counts: Counts::default(),
            running: Mutex::default(),
            probed: Mutex::default(),
        }
    }

    /// Begins: so many messages a second from all senders together, or as many as there is room for if that is 0.
    pub(in crate::program) fn start(self: &Arc<Self>, rate: u64) -> Result<(), String> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return Err("there is a load already".to_owned());
        }
        let open_max = if rate == 0 { OPEN_MAX_UNPACED } else { OPEN_MAX };
        let open = Arc::new(Semaphore::new(open_max as usize));
        let (stop, stopped) = watch::channel(false);
        let sender = |sender| {
            let sending = self.clone().send_all(sender, rate, stopped.clone(), open.clone());
            tokio::spawn(sending)
        };
        let senders = (0..SENDERS).map(sender).collect();
        *running = Some(Running { stop, senders, open, open_max });
        Ok(())
    }

    /// Ends: ready once every ask has ended.
    pub(in crate::program) async fn stop(&self) -> Result<LoadCounts, String> {
        let running = lock(&self.running).take().ok_or("there is no load")?;
        running.stop.send_replace(true);
        for sender in running.senders {
            sender.await.map_err(|error| error.to_string())?;
        }
        let all_ended = running.open.acquire_many(running.open_max);
        let ended = tokio::time::timeout(2 * ASK_TIME, all_ended).await;
        ended.map_err(|_| "asks do not end")?.map_err(|error| error.to_string())?.forget();
        Ok(self.counts())
    }

    pub(in crate::program) fn counts(&self) -> LoadCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        LoadCounts {
            tells: of(&self.counts.tells),
            asks: of(&self.counts.asks),
            answered: of(&self.counts.answered),
            refused: of(&self.counts.refused),
            slowest_us: of(&self.counts.slowest_us),
        }
    }

    async fn send_all(
        self: Arc<Self>,
        sender: u32,
        rate: u64,
        stop: watch::Receiver<bool>,
        open: Arc<Semaphore>,
    ) {
        let place = sender as usize;
        let Some(mut numbers) = lock(&self.numbers)[place].take() else { return };
        let (began, mut sent) = (Instant::now(), 0_u64);
        let ids = self.ids.len() as u64;
        let mut next = u64::from(sender) * ids / u64::from(SENDERS);
        while !*stop.borrow() {
            let due = match rate {
                0 => sent + 1,
                rate => due(began.elapsed(), rate / u64::from(SENDERS)),
            };
            sent = sent.max(due.saturating_sub(BURST));
            while sent < due && !*stop.borrow() {
                let id = next * STRIDE % ids;
                // Every entity gets both, in turns.
                let is_ask = (next + next / ids).is_multiple_of(ASKS_ONE_IN);
                (sent, next) = (sent + 1, next + 1);
                let Ok(id) = u32::try_from(id) else { continue };
                numbers[id as usize] += 1;
                let message =
                    Numbered { sender: self.first_sender + sender, id, number: numbers[id as usize] };
                if is_ask {
                    self.ask(message, &open, &stop).await;
                } else {
                    self.tell(message).await;
                }
            }
            if rate > 0 {
                tokio::time::sleep(PACE).await;
            }
        }
        lock(&self.numbers)[place] = Some(numbers);
    }

    async fn tell(&self, message: Numbered) {
        let Numbered { sender, id, number } = message;
        self.counts.tells.fetch_add(1, Ordering::Relaxed);
        let sent = now();
        let outcome = match self.region.tell(&self.ids[id as usize], Entry::Note { sender, number }).await {
            Ok(()) => Outcome::Accepted,
            Err(error) => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                Outcome::Refused(error.to_string())
            }
        };
        self.write(message, false, sent, outcome);
    }

    /// The ask stands in line when this is ready, before whatever this sender sends next.
    async fn ask(self: &Arc<Self>, message: Numbered, open: &Arc<Semaphore>, stop: &watch::Receiver<bool>) {
        let Ok(permit) = open.clone().acquire_owned().await else { return };
        let (this, stop) = (self.clone(), stop.clone());
        let mut asking = Box::pin(async move {
            if !this.ask_to_the_end(message).await {
                this.probe(message.id, &stop).await;
            }
            drop(permit);
        });
        if !is_ready(asking.as_mut()).await {
            drop(tokio::spawn(asking));
        }
    }

    /// Whether it was answered.
    async fn ask_to_the_end(&self, message: Numbered) -> bool {
        let Numbered { sender, id, number } = message;
        self.counts.asks.fetch_add(1, Ordering::Relaxed);
        let sent = now();
        let sign = |reply| Entry::Sign { sender, number, reply };
        let answer = self.region.ask(&self.ids[id as usize], sign).timeout(ASK_TIME).await;
        let micros = (now() - sent) / 1000;
        self.counts.slowest_us.fetch_max(micros, Ordering::Relaxed);
        let of = if answer.is_ok() { &self.counts.answered } else { &self.counts.refused };
        of.fetch_add(1, Ordering::Relaxed);
        let is_answered = answer.is_ok();
        self.write(message, true, sent, outcome(answer));
        is_answered
    }

    /// Asks an entity until it answers, if nobody does so already.
    async fn probe(&self, id: u32, stop: &watch::Receiver<bool>) {
        if !lock(&self.probed).insert(id) {
            return;
        }
        while !*stop.borrow() {
            let number = {
                let mut probes = lock(&self.probes);
                probes[id as usize] += 1;
                probes[id as usize]
            };
            let message = Numbered { sender: self.first_sender + PROBER, id, number };
            if self.ask_to_the_end(message).await {
                break;
            }
            tokio::time::sleep(PACE).await;
        }
        lock(&self.probed).remove(&id);
    }

    fn write(&self, message: Numbered, is_ask: bool, sent: u64, outcome: Outcome) {
        let Numbered { sender, id, number } = message;
        let sending = Sending { is_ask, sent, done: now(), sender, id, number, outcome };
        self.scribe.write(&Line::Sending(sending));
    }

    /// Has every entity say what it remembers, and writes that down: how many did not.
    pub(in crate::program) async fn read_all(self: &Arc<Self>) -> usize {
        let (mut reading, mut unread) = (JoinSet::new(), 0);
        for (id, name) in (0..).zip(self.ids.iter().cloned()) {
            if reading.len() >= READS {
                unread += usize::from(!reading.join_next().await.is_some_and(|read| read.unwrap_or(false)));
            }
            let this = self.clone();
            reading.spawn(async move {
                let Ok(page) = this.region.ask(&name, Entry::Read).timeout(ASK_TIME).await else {
                    return false;
                };
                this.scribe.write(&Line::Page(id, page));
                true
            });
        }
        while let Some(read) = reading.join_next().await {
            unread += usize::from(!read.unwrap_or(false));
        }
        unread
    }
}

fn due(time: Duration, rate: u64) -> u64 {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    micros.saturating_mul(rate) / 1_000_000
}

fn outcome(answer: Result<Signed, AskError>) -> Outcome {
    match answer {
        Ok(signed) => Outcome::Answered(signed),
        Err(error) if error.may_have_been_handled() => Outcome::Open(error.to_string()),
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

/// Polls once.
async fn is_ready(mut future: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
