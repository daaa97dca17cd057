//! An entity that does what it is told and remembers it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use borough_actor::{Actor, Context, EntityId, Fault, Reply, StopReason, System, Terminated};
use serde::{Deserialize, Serialize};

use super::super::Settings;

#[derive(Serialize, Deserialize)]
pub(super) enum Word {
    Note(u64),
    Heard(Reply<Vec<u64>>),
    /// Which instance of all it is.
    Life(Reply<u64>),
    Fail,
    Panic,
    /// Takes so many milliseconds, then notes.
    Work(u64, u64),
    /// Never ends.
    Hang,
    Passivate,
    PassivateWith(u64),
    Stop,
    Stash(u64),
    Unstash,
    /// After so many milliseconds, this note.
    Timer(u64, u64),
    /// No longer that note.
    Cancel(u64),
    ReceiveTimeout(u64, u64),
    /// Notes how many children it has, after it made one.
    Child(Reply<usize>),
    /// Watches a child that ends at once.
    Watch,
    /// Tells itself by its own ref.
    TellSelf(u64),
    /// Tells itself through an adapter.
    Adapt(u64),
    /// The same, and then takes so many milliseconds.
    AdaptAndWork(u64, u64),
    /// Asks itself.
    AskSelf(Reply<bool>),
    Who(Reply<(String, u32, u64, String)>),
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Thing {
    pub(super) heard: Vec<u64>,
    pub(super) life: u64,
}

/// What it notes in some hooks.
pub(super) const STARTED: u64 = 1_000_001;
pub(super) const ARRIVED: u64 = 1_000_002;
pub(super) const RESTARTED: u64 = 1_000_003;
pub(super) const TERMINATED: u64 = 1_000_004;

/// How many were made, and how many heard that they end, and why.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) made: AtomicU64,
}

thread_local! {
    /// How many turns went on after they had awaited their work.
    pub(super) static WORKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// Why entities ended, in order. Tests that look at it run on one thread.
    pub(super) static ENDS: std::cell::RefCell<Vec<(String, StopReason)>> = const { std::cell::RefCell::new(Vec::new()) };
}

pub(super) fn things() -> Settings<Thing> {
    counted(&Arc::default())
}

pub(super) fn counted(counts: &Arc<Counts>) -> Settings<Thing> {
    let counts = counts.clone();
    Settings::new(Arc::new(move |_: &EntityId| {
        let life = counts.made.fetch_add(1, Ordering::Relaxed) + 1;
        Thing { heard: Vec::new(), life }
    }))
}

pub(super) fn system() -> System {
    System::new("host").unwrap()
}

struct Child;

impl Actor for Child {
    type Msg = ();

    async fn receive(&mut self, (): (), ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.stop();
        Ok(())
    }
}

impl Actor for Thing {
    type Msg = Word;

    async fn receive(&mut self, word: Word, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match word {
            Word::Note(note) => self.heard.push(note),
            Word::Heard(reply) => reply.send(self.heard.clone()),
            Word::Life(reply) => reply.send(self.life),
            Word::Fail => return Err(Fault::new("told to fail")),
            Word::Panic => panic!("told to panic"),
            Word::Work(millis, note) => {
                let _ =
                    tokio::time::timeout(Duration::from_millis(millis), std::future::pending::<()>()).await;
                WORKED.set(WORKED.get() + 1);
                self.heard.push(note);
            }
            Word::Hang => std::future::pending().await,
            Word::Passivate => ctx.passivate(),
            Word::PassivateWith(note) => ctx.passivate_with(Word::Note(note)),
            Word::Stop => ctx.stop(),
            Word::Stash(note) => drop(ctx.stash(Word::Note(note))),
            Word::Unstash => ctx.unstash_all(),
            Word::Timer(millis, note) => {
                ctx.timers().once(note, Duration::from_millis(millis), Word::Note(note));
            }
            Word::Cancel(note) => drop(ctx.timers().cancel(note)),
            Word::ReceiveTimeout(millis, note) => {
                ctx.set_receive_timeout(Duration::from_millis(millis), move || Word::Note(note));
            }
            Word::Child(reply) => {
                ctx.spawn(|| Child);
                reply.send(ctx.children());
            }
            Word::Watch => {
                let child = ctx.spawn(|| Child);
                ctx.watch(&child);
                child.tell(()).await?;
            }
            Word::TellSelf(note) => drop(ctx.self_ref().try_tell(Word::Note(note))),
            Word::Adapt(note) => drop(ctx.adapter(|note: u64| Word::Note(note + 1)).try_tell(note)),
            Word::AdaptAndWork(note, millis) => {
                let _ = ctx.adapter(|note: u64| Word::Note(note + 1)).try_tell(note);
                let _ =
                    tokio::time::timeout(Duration::from_millis(millis), std::future::pending::<()>()).await;
            }
            Word::AskSelf(reply) => reply.send(ctx.self_ref().ask(Word::Life).await.is_err()),
            Word::Who(reply) => {
                let id = ctx.entity_id().map(ToString::to_string).unwrap_or_default();
                let shard = ctx.shard().unwrap_or_default();
                reply.send((id, shard, ctx.epoch().unwrap_or_default(), ctx.path()));
            }
        }
        Ok(())
    }

    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.heard.push(STARTED);
        Ok(())
    }

    async fn restarted(&mut self, _fault: &Fault, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.heard.push(RESTARTED);
        Ok(())
    }

    async fn arrived(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.heard.push(ARRIVED);
        Ok(())
    }

    async fn terminated(&mut self, _who: Terminated, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.heard.push(TERMINATED);
        Ok(())
    }

    async fn stopping(&mut self, reason: StopReason, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let id = ctx.entity_id().map(ToString::to_string).unwrap_or_default();
        ENDS.with_borrow_mut(|ends| ends.push((id, reason)));
        Ok(())
    }
}
