//! The event stream: publish a value of any type, subscribe by type.
//!
//! Promise: publishing never waits. A subscriber that lags loses its oldest events and learns how
//! many; an actor whose mailbox is full or that is gone gets a dead letter counted instead.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use tokio::sync::broadcast;

use crate::actor_ref::ActorRef;

/// How many events a [`Subscription`] holds before it loses its oldest.
const SUBSCRIPTION_CAPACITY: usize = 1024;

/// What can be published: anything that can be copied to each subscriber.
pub trait Event: Clone + Send + Sync + 'static {}
impl<E: Clone + Send + Sync + 'static> Event for E {}

/// Typed publish and subscribe within one system.
///
/// ```
/// # use borough_actor::System;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #[derive(Clone, Debug, PartialEq)]
/// struct Rained(u32);
///
/// let system = System::new("weather")?;
/// let mut rain = system.events().subscribe::<Rained>();
/// system.events().publish(Rained(3));
/// assert_eq!(rain.next().await, Some(Rained(3)));
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct EventStream {
    topics: RwLock<HashMap<TypeId, Box<dyn Any + Send + Sync>>>,
}

struct Topic<E> {
    streams: Option<broadcast::Sender<E>>,
    actors: Vec<ActorRef<E>>,
}

impl EventStream {
    /// Gives the event to everybody subscribed to its type.
    pub fn publish<E: Event>(&self, event: E) {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        let Some(topic) = topics.get(&TypeId::of::<E>()).and_then(|topic| topic.downcast_ref::<Topic<E>>())
        else {
            return;
        };
        let streams = topic.streams.clone();
        let actors = topic.actors.clone();
        drop(topics);
        let gone: Vec<_> = actors.iter().filter(|actor| actor.is_stopped()).map(ActorRef::id).collect();
        for actor in actors.iter().filter(|actor| !gone.contains(&actor.id())) {
            actor.post(event.clone());
        }
        if let Some(streams) = streams {
            // Refused only if nobody listens any more.
            let _ = streams.send(event);
        }
        if !gone.is_empty() {
            self.edit::<E, _>(|topic| topic.actors.retain(|actor| !gone.contains(&actor.id())));
        }
    }

    /// Subscribes to events of type `E` published from now on.
    pub fn subscribe<E: Event>(&self) -> Subscription<E> {
        self.edit::<E, _>(|topic| {
            let streams = topic.streams.get_or_insert_with(|| broadcast::Sender::new(SUBSCRIPTION_CAPACITY));
            Subscription { events: streams.subscribe(), lost: 0 }
        })
    }

    /// Has events of type `E` sent to an actor as messages, until it stops or is unsubscribed.
    ///
    /// An actor with messages of another type subscribes an adapter: see [`Context::adapter`](crate::Context::adapter).
    pub fn subscribe_actor<E: Event>(&self, actor: &ActorRef<E>) {
        self.edit::<E, _>(|topic| topic.actors.push(actor.clone()));
    }

    /// Ends what [`EventStream::subscribe_actor`] began.
    pub fn unsubscribe_actor<E: Event>(&self, actor: &ActorRef<E>) {
        self.edit::<E, _>(|topic| topic.actors.retain(|subscribed| subscribed.id() != actor.id()));
    }

    pub(crate) fn has_subscribers<E: Event>(&self) -> bool {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.get(&TypeId::of::<E>()).and_then(|topic| topic.downcast_ref::<Topic<E>>()).is_some_and(
            |topic| {
                !topic.actors.is_empty()
                    || topic.streams.as_ref().is_some_and(|streams| streams.receiver_count() > 0)
            },
        )
    }

    /// Ends every subscription. Actors are subscribed by refs, which keep the system's parts; this lets go of them.
    pub(crate) fn clear(&self) {
        let topics = std::mem::take(&mut *self.topics.write().unwrap_or_else(PoisonError::into_inner));
        drop(topics);
    }

    fn edit<E: Event, R>(&self, change: impl FnOnce(&mut Topic<E>) -> R) -> R {
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        let topic = topics
            .entry(TypeId::of::<E>())
            .or_insert_with(|| Box::new(Topic::<E> { streams: None, actors: Vec::new() }))
            .downcast_mut::<Topic<E>>();
        match topic {
            Some(topic) => change(topic),
            None => unreachable!("a topic is kept under the id of its own type"),
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

/// Events of one type, in the order they were published.
#[derive(Debug)]
pub struct Subscription<E> {
    events: broadcast::Receiver<E>,
    lost: u64,
}

impl<E: Event> Subscription<E> {
    /// The next event; `None` once the system is gone and all its events are taken.
    ///
    /// Cancel safe: an event is taken only when it is returned.
    pub async fn next(&mut self) -> Option<E> {
        loop {
            match self.events.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(lost)) => self.lost += lost,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// How many events were lost because they were not taken in time; 1024 are held.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
