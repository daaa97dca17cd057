//! An actor whose turns a test opens and closes at will, and messages that tell when they are dropped.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, Reply};
use tokio::sync::oneshot;
use tokio::time::{Instant, advance, timeout};

/// What may be said to a [`Worker`].
pub(crate) enum Work {
    /// Stay in this turn until told otherwise; see [`hold`].
    Hold(oneshot::Sender<()>, oneshot::Receiver<()>),
    Note(u64),
    /// A note that says when it is dropped.
    Carry(u64, Parcel),
    Echo(u64, Reply<u64>),
    /// Drop the reply without an answer.
    Forget(Reply<u64>),
    /// Keep the reply for a later turn.
    Keep(Reply<u64>),
    /// Answer the oldest reply kept.
    AnswerKept(u64),
    /// Hand the reply on to another worker.
    PassOn(Box<ActorRef<Work>>, Reply<u64>),
    Fail(Reply<u64>),
    Log(Reply<Vec<u64>>),
}

/// The numbers a worker has seen, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u64>>>);

impl Log {
    pub(crate) fn push(&self, n: u64) {
        self.0.lock().unwrap().push(n);
    }

    pub(crate) fn taken(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Writes every number into its log.
#[derive(Default)]
pub(crate) struct Worker {
    log: Log,
    kept: Vec<Reply<u64>>,
}

impl Worker {
    /// What makes workers that write into `log`.
    pub(crate) fn with(log: &Log) -> impl FnMut() -> Self + Send + 'static + use<> {
        let log = log.clone();
        move || Self { log: log.clone(), kept: Vec::new() }
    }
}

impl Actor for Worker {
    type Msg = Work;

    async fn receive(&mut self, msg: Work, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Work::Hold(begun, release) => {
                let _ = begun.send(());
                let _ = release.await;
            }
            Work::Note(n) => self.log.push(n),
            Work::Carry(n, parcel) => {
                self.log.push(n);
                drop(parcel);
            }
            Work::Echo(n, reply) => {
                self.log.push(n);
                reply.send(n);
            }
            Work::Forget(reply) => drop(reply),
            Work::Keep(reply) => self.kept.push(reply),
            Work::AnswerKept(n) => self.kept.remove(0).send(n),
            Work::PassOn(other, reply) => other.tell(Work::Echo(7, reply)).await?,
            Work::Fail(_reply) => return Err(Fault::new("told to fail")),
            Work::Log(reply) => reply.send(self.log.taken()),
        }
        Ok(())
    }
}

/// A worker's turn that lasts until this is released or dropped.
pub(crate) struct Held(oneshot::Sender<()>);

impl Held {
    pub(crate) fn release(self) {
        self.0.send(()).unwrap();
    }
}

/// Has the worker begin a turn that does not end by itself; ready once it is in it.
pub(crate) async fn hold(worker: &ActorRef<Work>) -> Held {
    let (begun, has_begun) = oneshot::channel();
    let (release, released) = oneshot::channel();
    soon(worker.tell(Work::Hold(begun, released))).await.unwrap();
    soon(has_begun).await.unwrap();
    Held(release)
}

/// How often each parcel of a load was dropped.
#[derive(Clone)]
pub(crate) struct Load(Arc<Vec<AtomicUsize>>);

/// One numbered piece of a [`Load`].
pub(crate) struct Parcel {
    number: usize,
    load: Load,
}

impl Load {
    pub(crate) fn new(parcels: usize) -> Self {
        Self(Arc::new((0..parcels).map(|_| AtomicUsize::new(0)).collect()))
    }

    pub(crate) fn parcel(&self, number: usize) -> Parcel {
        Parcel { number, load: self.clone() }
    }

    /// How often each parcel was dropped.
    pub(crate) fn drops(&self) -> Vec<usize> {
        self.0.iter().map(|drops| drops.load(Ordering::SeqCst)).collect()
    }

    pub(crate) fn dropped(&self) -> usize {
        self.drops().iter().sum()
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        self.load.0[self.number].fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once, with a waker nobody listens to: whoever awaits later polls anew.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut TaskContext::from_waker(Waker::noop()))
}

/// Awaits what must come soon; panics after ten seconds.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(10), future).await.expect("within ten seconds")
}

/// Lets simulated time pass in steps as small as a sweep of the asks.
pub(crate) async fn pass(time: Duration) {
    let step = Duration::from_millis(10);
    let end = Instant::now() + time;
    while Instant::now() < end {
        advance(step).await;
    }
}
