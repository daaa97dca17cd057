//! An address that takes foreign messages for an actor and has them turned into its own.

use std::any::Any;
use std::sync::Arc;

use crate::actor_ref::{ActorRef, Asked, Route, SystemRef};
use crate::ask::AskId;
use crate::cell::ActorCell;
use crate::id::ActorId;
use crate::item::{Adapted, Item, Rare};
use crate::tell::{Tell, TryTellError};

pub(crate) fn new<T, M>(
    cell: Arc<ActorCell<M>>,
    adapt: impl Fn(T) -> M + Send + Sync + 'static,
) -> ActorRef<T>
where
    T: Send + 'static,
    M: Send + 'static,
{
    ActorRef::through(Arc::new(Adapter { cell, adapt: Arc::new(adapt) }))
}

struct Adapter<M, F> {
    cell: Arc<ActorCell<M>>,
    adapt: Arc<F>,
}

/// A foreign message in the actor's mailbox, not adapted yet.
struct Foreign<T, F> {
    message: T,
    ask: Option<AskId>,
    adapt: Arc<F>,
}

impl<T, M, F> Adapted<M> for Foreign<T, F>
where
    T: Send + 'static,
    F: Fn(T) -> M + Send + Sync + 'static,
{
    fn adapt(self: Box<Self>) -> M {
        (self.adapt)(self.message)
    }

    fn ask(&self) -> Option<AskId> {
        self.ask
    }

    fn into_foreign(self: Box<Self>) -> Box<dyn Any + Send> {
        Box::new(self.message)
    }
}

impl<M, F> Adapter<M, F> {
    fn wrap<T>(&self, message: T, ask: Option<AskId>) -> Item<M>
    where
        T: Send + 'static,
        F: Fn(T) -> M + Send + Sync + 'static,
    {
        Item::rare(Rare::Adapted(Box::new(Foreign { message, ask, adapt: self.adapt.clone() })))
    }
}

/// The foreign message, as it was sent through an adapter.
fn unwrap<M, T: 'static>(item: Item<M>) -> Option<T> {
    let Item::Rare(rare) = item else { return None };
    match *rare {
        Rare::Adapted(adapted) => adapted.into_foreign().downcast().ok().map(|message| *message),
        Rare::StopHere | Rare::Terminated(..) | Rare::Packet(_) => None,
    }
}

impl<T, M, F> Route<T> for Adapter<M, F>
where
    T: Send + 'static,
    M: Send + 'static,
    F: Fn(T) -> M + Send + Sync + 'static,
{
    fn send(&self, message: T, ask: Option<Asked>) -> Tell<T> {
        self.cell.send(self.wrap(message, ask.map(|ask| ask.id)), unwrap)
    }

    fn try_tell(&self, message: T) -> Result<(), TryTellError<T>> {
        self.cell.try_send(self.wrap(message, None), unwrap)
    }

    fn post(&self, message: T) {
        self.cell.post(self.wrap(message, None));
    }

    fn stop_when_drained(&self) {
        self.cell.stop_when_drained();
    }

    fn system(&self) -> SystemRef<'_> {
        SystemRef(&self.cell.core)
    }

    fn id(&self) -> ActorId {
        self.cell.id
    }

    fn path(&self) -> String {
        self.cell.path()
    }
}
