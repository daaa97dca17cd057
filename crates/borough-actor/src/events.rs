//! The event stream: publish a value of any type, subscribe by type.
//!
//! Promise: publishing never waits. A subscriber that lags loses its oldest events and learns how
//! many; an actor whose mailbox is full or that is gone gets a dead letter counted instead.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
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
pub struct EventStream {
    /// By the type of their events; none once the system is gone.
    topics: RwLock<Option<Topics>>,
}

type Topics = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

impl Default for EventStream {
    fn default() -> Self {
        Self { topics: RwLock::new(Some(Topics::new())) }
    }
}

struct Topic<E> {
    streams: Option<broadcast::Sender<E>>,
    actors: HashSet<ActorRef<E>>,
    /// How many actors there may be before those that are gone are looked for.
    look_at: usize,
}

impl<E> Default for Topic<E> {
    fn default() -> Self {
        Self { streams: None, actors: HashSet::new(), look_at: 64 }
    }
}

impl<E: Event> Topic<E> {
    /// Takes out, now and then, those that are gone; gives them, to be dropped elsewhere.
    fn prune(&mut self) -> Vec<ActorRef<E>> {
        if self.actors.len() < self.look_at {
            return Vec::new();
        }
        let gone: Vec<_> = self.actors.extract_if(ActorRef::is_stopped).collect();
        self.look_at = self.actors.len() * 2 + 64;
        gone
    }
}

impl EventStream {
    /// Gives the event to everybody subscribed to its type.
    pub fn publish<E: Event>(&self, event: E) {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        let Some(topic) = topic::<E>(topics.as_ref()) else { return };
        let streams = topic.streams.clone();
        let actors: Vec<_> = topic.actors.iter().cloned().collect();
        drop(topics);
        let (gone, alive): (Vec<_>, Vec<_>) = actors.into_iter().partition(ActorRef::is_stopped);
        for actor in alive {
            actor.post(event.clone());
        }
        if let Some(streams) = streams {
            // Refused only if nobody listens any more.
            let _ = streams.send(event);
        }
        if !gone.is_empty() {
            let ended: Vec<_> =
                self.edit::<E, _>(|topic| gone.iter().filter_map(|actor| topic.actors.take(actor)).collect());
            drop(ended);
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
    /// Subscribing twice is subscribing once: an actor may subscribe in `started`, which a restart calls again.
    /// An actor with messages of another type subscribes an adapter: see [`Context::adapter`](crate::Context::adapter).
    pub fn subscribe_actor<E: Event>(&self, actor: &ActorRef<E>) {
        let gone = self.edit::<E, _>(|topic| {
            topic.actors.insert(actor.clone());
            topic.prune()
        });
        drop(gone);
    }

    /// Ends what [`EventStream::subscribe_actor`] began.
    pub fn unsubscribe_actor<E: Event>(&self, actor: &ActorRef<E>) {
        let ended = self.edit::<E, _>(|topic| topic.actors.take(actor));
        drop(ended);
    }

    pub(crate) fn has_subscribers<E: Event>(&self) -> bool {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        topic::<E>(topics.as_ref()).is_some_and(|topic| {
            !topic.actors.is_empty()
                || topic.streams.as_ref().is_some_and(|streams| streams.receiver_count() > 0)
        })
    }

    /// The system is gone: ends every subscription, and those that are made from now on.
    ///
    /// Actors are subscribed by refs, which keep the system's parts; this lets go of them.
    pub(crate) fn close(&self) {
        let topics = self.topics.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(topics);
    }

    fn edit<E: Event, R>(&self, change: impl FnOnce(&mut Topic<E>) -> R) -> R {
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        let kept = topics.as_mut().and_then(|topics| {
            let topic = topics.entry(TypeId::of::<E>()).or_insert_with(|| Box::new(Topic::<E>::default()));
            topic.downcast_mut::<Topic<E>>()
        });
        match kept {
            Some(topic) => change(topic),
            None => change(&mut Topic::default()),
        }
    }
}

fn topic<E: Event>(topics: Option<&Topics>) -> Option<&Topic<E>> {
    topics?.get(&TypeId::of::<E>())?.downcast_ref()
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

/// Events of one type, in the order they were published.
#[derive(Debug)]
#[must_use = "events are heard only while the subscription is kept"]
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
