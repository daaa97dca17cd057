//! The futures that turns are, and how the lane hears that one can go on.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use borough_actor::resident::{self, AskId, Turned};
use borough_actor::{Actor, Context, Fault, StopReason};

use super::lane::{READY, Shared};
use super::pace::Since;

/// Makes the turns of one type of entities. It exists to give their futures names.
pub(super) trait Turns<A: Actor>: Send + Sync + 'static {
    /// The turn of a message.
    type Message: Future<Output = Turned<A>> + Send + 'static;
    /// The first turn of an instance.
    type Begin: Future<Output = Turned<A>> + Send + 'static;

    fn message(&self, actor: A, ctx: Box<Context<A>>, message: A::Msg, ask: Option<AskId>) -> Self::Message;
    fn begin(&self, actor: A, ctx: Box<Context<A>>, followed: Option<Fault>) -> Self::Begin;
}

/// Turns made by these two functions.
struct MadeBy<F, G>(F, G);

impl<A, F, G, M, B> Turns<A> for MadeBy<F, G>
where
    A: Actor,
    F: Fn(A, Box<Context<A>>, A::Msg, Option<AskId>) -> M + Send + Sync + 'static,
    G: Fn(A, Box<Context<A>>, Option<Fault>) -> B + Send + Sync + 'static,
    M: Future<Output = Turned<A>> + Send + 'static,
    B: Future<Output = Turned<A>> + Send + 'static,
{
    type Message = M;
    type Begin = B;

    #[inline]
    fn message(&self, actor: A, ctx: Box<Context<A>>, message: A::Msg, ask: Option<AskId>) -> M {
        (self.0)(actor, ctx, message, ask)
    }

    #[inline]
    fn begin(&self, actor: A, ctx: Box<Context<A>>, followed: Option<Fault>) -> B {
        (self.1)(actor, ctx, followed)
    }
}

/// The turns of that type.
pub(super) fn turns<A: Actor>() -> impl Turns<A> {
    MadeBy(resident::message::<A>, resident::begin::<A>)
}

/// A turn that awaits something.
pub(super) struct Turning<A: Actor, T: Turns<A>> {
    pub(super) future: Pending<A, T>,
    pub(super) call: Call<A::Msg>,
    pub(super) purpose: Purpose,
    pub(super) since: Since,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A message, or news of somebody who was watched.
    Handle,
    /// The first of an instance.
    Begin,
    /// The last.
    End(StopReason),
}

/// A place for a turn, used again and again while turns do not await anything.
pub(super) type Place<F> = Pin<Box<Option<F>>>;

pub(super) enum Pending<A: Actor, T: Turns<A>> {
    Message(Place<T::Message>),
    Begin(Place<T::Begin>),
    Other(Pin<Box<dyn Future<Output = Turned<A>> + Send>>),
}

impl<A: Actor, T: Turns<A>> Pending<A, T> {
    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<Turned<A>> {
        match self {
            Self::Message(place) => poll_place(place, cx),
            Self::Begin(place) => poll_place(place, cx),
            Self::Other(future) => future.as_mut().poll(cx),
        }
    }
}

#[inline]
pub(super) fn poll_place<F: Future>(place: &mut Place<F>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
    match place.as_mut().as_pin_mut() {
        Some(future) => future.poll(cx),
        // A place is given away only with something in it.
        None => Poll::Pending,
    }
}

/// How something that the lane waits for says that it can go on.
pub(super) struct Call<M> {
    pub(super) bell: Arc<Bell<M>>,
    pub(super) waker: Waker,
}

/// Rings in a lane.
pub(super) struct Bell<M> {
    pub(super) token: u64,
    rung: AtomicBool,
    lane: Arc<Shared<M>>,
}

impl<M: Send + 'static> Call<M> {
    pub(super) fn new(token: u64, lane: Arc<Shared<M>>) -> Self {
        let bell = Arc::new(Bell { token, rung: AtomicBool::new(false), lane });
        Self { waker: Waker::from(bell.clone()), bell }
    }

    /// It was heard: it may ring again.
    pub(super) fn hush(&self) {
        self.bell.rung.store(false, Ordering::Release);
    }
}

impl<M: Send + 'static> Wake for Bell<M> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.lane.ready.lock().unwrap_or_else(PoisonError::into_inner).push(self.token);
            self.lane.signal(READY);
        }
    }
}
