//! What the program can be told, one line each: an optional number that the answer repeats, a word, its arguments.
//!
//! | order | what happens |
//! |---|---|
//! | `status` | how the process is, by its runtime: a runtime that stands still does not answer |
//! | `leave` | leaves the cluster; the process stays |
//! | `leave-apart` | the same, asked for on a thread without a runtime: obeyed whatever became of that of the node |
//! | `tell NODE COUNT [BYTES]` | as many messages to the counter of that node, in order |
//! | `asks NODE MILLIS` | asks it, one at a time, for so long |
//! | `lookup NODE` | finds its counter |
//! | `block-workers MILLIS` | every worker of the runtime stands still for so long |
//! | `load start RATE` | sends to all entities, so many messages a second; as many as there is room for if that is 0 |
//! | `load look`, `load stop` | what came of it so far; the end of it |
//! | `read` | has every entity say what it remembers, and writes that down |
//! | `shards TYPE` | what lives where |
//! | `poke TYPE COUNT MILLIS` | asks as many entities until each has answered, for so long at most |
//! | `flood COUNT` | as many tells to entities of the type `unknown` |
//! | `fill FIRST COUNT` | one tell to each of so many entities of the type `ledger` |
//! | `received TYPE [FIRST COUNT]` | what its entities have counted: all that there is load for, or so many from that one on |
//! | `recovery` | what a recovery of the cluster here would mean |
//! | `recover NODE..` | begins it anew; those are dead |
//! | `wedge` | the next entities that have a turn block the threads of the runtime, one each, in the middle of that turn |
//! | `release` | they go on; obeyed without the runtime |
//! | `drop-runtime` | the runtime ends, the process and its node stay; obeyed without the runtime |
//! | `quit` | the process ends at once, without leaving |

use std::ops::Range;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use borough::cluster::RecoveryMember;
use borough::{ActorRef, Node};
use tokio::sync::Notify;

use super::counter::{Note, PATH, Tally};
use super::ledger::{self, Ledgers};
use super::{say, self_view};
use crate::words::{Answer, Said};

/// How long an ask of `asks` waits.
const ASK_TIME: Duration = Duration::from_secs(2);
/// What lies between two asks of `asks`.
const ASK_PAUSE: Duration = Duration::from_millis(2);

#[derive(Clone)]
pub(super) struct Orders {
    node: Arc<Node>,
    tally: Arc<Tally>,
    workers: usize,
    ledgers: Option<Arc<Ledgers>>,
    /// Told when the runtime is to end.
    pub(super) runtime_goes: Arc<Notify>,
}

impl Orders {
    pub(super) fn new(
        node: Arc<Node>,
        tally: Arc<Tally>,
        workers: usize,
        ledgers: Option<Arc<Ledgers>>,
    ) -> Self {
        Self { node, tally, workers, ledgers, runtime_goes: Arc::default() }
    }

    /// Does what the line says, if that is for a runtime that stands still or is to end: whether it was.
    pub(super) fn obey_at_once(&self, line: &str) -> bool {
        let (id, words) = taken_apart(line);
        match words[..] {
            ["release"] => ledger::release(),
            ["drop-runtime"] => self.runtime_goes.notify_one(),
            ["leave-apart"] => {
                self.leave_apart(id);
                return true;
            }
            _ => return false,
        }
        say(&Said::Answer { id, answer: Answer::Done });
        true
    }

    /// Does what the line says, and says what came of it.
    pub(super) async fn obey(self, line: String) {
        let (id, words) = taken_apart(&line);
        let answer = self.act(id, &words).await.unwrap_or_else(|why| Answer::Failed { why });
        say(&Said::Answer { id, answer });
    }

    async fn act(&self, id: u64, words: &[&str]) -> Result<Answer, String> {
        match *words {
            ["status"] => Ok(Answer::Status(Box::new(self_view::status(&self.node, &self.tally)))),
            ["leave"] => self.node.leave().await.map(|()| Answer::Done).map_err(|error| error.to_string()),
            ["tell", node, count] => self.tell(id, node, number(count)?, 0).await,
            ["tell", node, count, bytes] => self.tell(id, node, number(count)?, number(bytes)?).await,
            ["asks", node, millis] => self.asks(node, Duration::from_millis(number(millis)?)).await,
            ["lookup", node] => self.counter(node).await.map(|_| Answer::Done),
            ["block-workers", millis] => {
                self.block_workers(Duration::from_millis(number(millis)?));
                Ok(Answer::Done)
            }
            ["wedge"] => {
                ledger::wedge(self.workers);
                Ok(Answer::Done)
            }
            ["recovery"] => self.recovery(),
            ["recover", ref dead @ ..] => {
                self.node.recover(dead).await.map(|_| Answer::Done).map_err(|error| error.to_string())
            }
            ["quit"] => std::process::exit(0),
            ["load", "start", rate] => self.ledgers()?.load.start(number(rate)?).map(|()| Answer::Done),
            ["load", "look"] => Ok(Answer::Load(self.ledgers()?.load.counts())),
            ["load", "stop"] => self.ledgers()?.load.stop().await.map(Answer::Load),
            ["read"] => Ok(Answer::Read { unread: self.ledgers()?.load.read_all().await }),
            ["shards", kind] => Ok(Answer::Shards { nodes: ledger::shards(&self.node, kind).await }),
            ["poke", kind, count, millis] => {
                let bound = Duration::from_millis(number(millis)?);
                let count = usize::try_from(number(count)?).map_err(|error| error.to_string())?;
                self.ledgers()?.poke(kind, count, bound).await
            }
            ["flood", count] => Ok(self.ledgers()?.flood(number(count)?).await),
            ["fill", first, count] => self.ledgers()?.fill(range(first, count)?).await,
            ["received", kind] => self.ledgers()?.received(kind, self.ledgers()?.loaded()).await,
            ["received", kind, first, count] => self.ledgers()?.received(kind, range(first, count)?).await,
            _ => Err(format!("no such order: {}", words.join(" "))),
        }
    }

    fn recovery(&self) -> Result<Answer, String> {
        let plan = self.node.recovery_plan().map_err(|error| error.to_string())?;
        let names = |members: &[RecoveryMember]| {
            members.iter().map(|member| member.node_id.as_str().to_owned()).collect()
        };
        Ok(Answer::Recovery {
            voters: (plan.voters, plan.voters_lost),
            kept: names(&plan.kept),
            given_up: names(&plan.given_up),
            shards: plan.shards,
        })
    }

    fn ledgers(&self) -> Result<&Arc<Ledgers>, String> {
        self.ledgers.as_ref().ok_or_else(|| "no entities were started here; see --entities".to_owned())
    }

    async fn counter(&self, node: &str) -> Result<ActorRef<Note>, String> {
        self.node.lookup(PATH).on(node).await.map_err(|error| error.to_string())
    }

    async fn tell(&self, stream: u64, node: &str, count: u64, bytes: u64) -> Result<Answer, String> {
        let counter = self.counter(node).await?;
        let weight = vec![7; usize::try_from(bytes).map_err(|error| error.to_string())?];
        let began = Instant::now();
        let (mut accepted, mut failed) = (0, None);
        while accepted < count && failed.is_none() {
            let message = Note::Add { stream, number: accepted, weight: weight.clone() };
            match counter.tell(message).await {
                Ok(()) => accepted += 1,
                Err(error) => failed = Some(error.to_string()),
            }
        }
        Ok(Answer::Told { accepted, failed, millis: millis(began.elapsed()) })
    }

    async fn asks(&self, node: &str, time: Duration) -> Result<Answer, String> {
        let counter = self.counter(node).await?;
        let (mut took, mut failed) = (Vec::new(), 0);
        let until = Instant::now() + time;
        while Instant::now() < until {
            let began = Instant::now();
            match counter.ask(|reply| Note::Echo(1, reply)).timeout(ASK_TIME).await {
                Ok(_) => took.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)),
                Err(_) => failed += 1,
            }
            tokio::time::sleep(ASK_PAUSE).await;
        }
        took.sort_unstable();
        Ok(Answer::Asked {
            answered: took.len() as u64,
            failed,
            median_us: took.get(took.len() / 2).copied().unwrap_or(0),
            max_us: took.last().copied().unwrap_or(0),
        })
    }

    /// Leaves, and says what came of it: on a thread of its own, which needs nothing of the node's runtime.
    fn leave_apart(&self, id: u64) {
        let node = self.node.clone();
        std::thread::spawn(move || {
            let left = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(node.leave()).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            let answer = left.map_or_else(|why| Answer::Failed { why }, |()| Answer::Done);
            say(&Said::Answer { id, answer });
        });
    }

    /// They meet first, so that none is left to do the work of the others.
    fn block_workers(&self, time: Duration) {
        let all_here = Arc::new(Barrier::new(self.workers));
        for _ in 0..self.workers {
            let all_here = all_here.clone();
            drop(tokio::spawn(async move {
                if all_here.wait().is_leader() {
                    say(&Said::Blocked);
                }
                std::thread::sleep(time);
            }));
        }
    }
}

/// The number that the answer repeats, and the words.
fn taken_apart(line: &str) -> (u64, Vec<&str>) {
    let mut words: Vec<_> = line.split_whitespace().collect();
    let id = words.first().and_then(|word| word.parse().ok());
    if id.is_some() {
        words.remove(0);
    }
    (id.unwrap_or(0), words)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn range(first: &str, count: &str) -> Result<Range<u32>, String> {
    let (first, count) = (number(first)?, number(count)?);
    let end = first.checked_add(count).and_then(|end| u32::try_from(end).ok());
    let first = u32::try_from(first).ok();
    first.zip(end).map(|(first, end)| first..end).ok_or_else(|| "there are no such entities".to_owned())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
