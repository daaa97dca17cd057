//! An actor that stands in for another, and says what it was told.
//!
//! Code under test is given the probe's ref. Whatever it sends there waits in the probe, in order, until the test asks for it; nothing is lost and
//! nothing is handled meanwhile. What a test expects and does not get ends it with a panic that says what came instead, and where it was expected.

mod actor;
mod expected;

use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use borough_actor::{ActorRef, MailboxKind, SpawnError, SystemHandle, Terminated};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{Instant, timeout, timeout_at};

use self::actor::{Answers, ProbeActor};
use self::expected::fail;

/// How long a probe waits for what is expected, unless the call says otherwise.
pub const PROBE_PATIENCE: Duration = Duration::from_secs(3);
/// How long a probe listens for what should not come, unless the call says otherwise.
pub const PROBE_SILENCE: Duration = Duration::from_millis(100);

/// An actor whose ref is given to code under test, and the messages it got.
///
/// With a stopped clock (`#[tokio::test(start_paused = true)]`) waiting costs no time: the clock jumps. Dropping the probe stops its actor.
///
/// ```
/// use borough::prelude::*;
/// use borough_testkit::Probe;
///
/// async fn greets(whom: ActorRef<String>) {
///     let _ = whom.tell("hello".to_owned()).await;
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = System::new("doc")?;
/// let mut probe = Probe::new(&system);
/// greets(probe.actor_ref()).await;
/// assert_eq!(probe.expect_msg().await, "hello");
/// # Ok(()) }
/// ```
pub struct Probe<M: Send + 'static> {
    actor: ActorRef<M>,
    arriving: UnboundedReceiver<M>,
    /// What was passed over, and is looked at first.
    kept: VecDeque<M>,
    patience: Duration,
}

impl<M: Send + 'static> Probe<M> {
    /// A probe among the actors of that system or node.
    ///
    /// # Panics
    /// If the system has ended.
    pub fn new(system: &SystemHandle) -> Self {
        Self::spawn(system, None, None).unwrap_or_else(|error| panic!("no probe can be made: {error}"))
    }

    /// A probe of that name, so that it can be looked up. Fails if the name is none or is taken.
    pub fn named(system: &SystemHandle, name: impl Into<String>) -> Result<Self, SpawnError> {
        Self::spawn(system, Some(name.into()), None)
    }

    /// A probe that answers by itself: `answer` sees each message first, and gives back what it leaves for the test.
    ///
    /// ```
    /// # use borough::prelude::*;
    /// # use borough_testkit::Probe;
    /// # #[derive(Debug)]
    /// enum Price { Of(String, Reply<u32>), Watch(String) }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = System::new("doc")?;
    /// let probe = Probe::answering(&system, |message| match message {
    ///     Price::Of(_, reply) => {
    ///         reply.send(7);
    ///         None
    ///     }
    ///     other => Some(other),
    /// });
    /// assert_eq!(probe.actor_ref().ask(|reply| Price::Of("tea".into(), reply)).await?, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If the system has ended.
    pub fn answering(system: &SystemHandle, answer: impl FnMut(M) -> Option<M> + Send + 'static) -> Self {
        let spawned = Self::spawn(system, None, Some(Box::new(answer)));
        spawned.unwrap_or_else(|error| panic!("no probe can be made: {error}"))
    }

    fn spawn(
        system: &SystemHandle,
        name: Option<String>,
        answers: Option<Answers<M>>,
    ) -> Result<Self, SpawnError> {
        let (into, arriving) = mpsc::unbounded_channel();
        let actor = system.actor(ProbeActor::maker(into, answers)).mailbox(MailboxKind::unbounded());
        let actor = match name {
            Some(name) => actor.name(name).spawn()?,
            None => actor.spawn()?,
        };
        Ok(Self { actor, arriving, kept: VecDeque::new(), patience: PROBE_PATIENCE })
    }

    /// How long the probe waits for what is expected when the call does not say. Default [`PROBE_PATIENCE`].
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The address to give away.
    pub fn actor_ref(&self) -> ActorRef<M> {
        self.actor.clone()
    }

    /// The next message.
    ///
    /// Cancel safe.
    ///
    /// # Panics
    /// If none comes within the probe's patience.
    #[track_caller]
    pub fn expect_msg(&mut self) -> impl Future<Output = M> {
        let patience = self.patience;
        self.expect_msg_within(patience)
    }

    /// The next message, if it comes within that time.
    ///
    /// Cancel safe.
    ///
    /// # Panics
    /// If none comes.
    #[track_caller]
    pub fn expect_msg_within(&mut self, time: Duration) -> impl Future<Output = M> {
        let at = Location::caller();
        async move {
            match self.next(Instant::now() + time).await {
                Some(message) => message,
                None => fail(at, format_args!("a message within {time:?}"), format_args!("none came")),
            }
        }
    }

    /// The next message, as `wanted` takes it; it gives back what it does not want.
    ///
    /// This is how a test answers an ask by hand:
    ///
    /// ```
    /// # use borough::prelude::*;
    /// # use borough_testkit::Probe;
    /// # #[derive(Debug)]
    /// enum Price { Of(String, Reply<u32>), Watch(String) }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = System::new("doc")?;
    /// let mut probe = Probe::new(&system);
    /// let shop = probe.actor_ref();
    /// let asked = tokio::spawn(async move { shop.ask(|reply| Price::Of("tea".into(), reply)).await });
    /// let reply = probe.expect_map(|message| match message {
    ///     Price::Of(what, reply) if what == "tea" => Ok(reply),
    ///     other => Err(other),
    /// });
    /// reply.await.send(7);
    /// assert_eq!(asked.await??, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If none comes within the probe's patience, or another one.
    #[track_caller]
    pub fn expect_map<T>(&mut self, wanted: impl FnOnce(M) -> Result<T, M>) -> impl Future<Output = T>
    where
        M: Debug,
    {
        let (at, time) = (Location::caller(), self.patience);
        async move {
            match self.next(Instant::now() + time).await.map(wanted) {
                Some(Ok(taken)) => taken,
                Some(Err(other)) => fail(at, format_args!("another message"), format_args!("{other:?} came")),
                None => fail(at, format_args!("a message within {time:?}"), format_args!("none came")),
            }
        }
    }

    /// The next message, which must be as `wanted` says.
    ///
    /// # Panics
    /// If none comes within the probe's patience, or another one.
    #[track_caller]
    pub fn expect_where(&mut self, wanted: impl FnOnce(&M) -> bool) -> impl Future<Output = M>
    where
        M: Debug,
    {
        self.expect_map(|message| if wanted(&message) { Ok(message) } else { Err(message) })
    }

    /// The next message, which must be equal to that.
    ///
    /// # Panics
    /// If none comes within the probe's patience, or another one.
    #[track_caller]
    pub fn expect_eq(&mut self, wanted: &M) -> impl Future<Output = M>
    where
        M: Debug + PartialEq,
    {
        let (at, time) = (Location::caller(), self.patience);
        async move {
            match self.next(Instant::now() + time).await {
                Some(message) if message == *wanted => message,
                Some(other) => fail(at, format_args!("{wanted:?}"), format_args!("{other:?} came")),
                None => fail(at, format_args!("{wanted:?} within {time:?}"), format_args!("none came")),
            }
        }
    }

    /// The first message that is as `wanted` says, whatever comes before it; what was passed over stays, in its order, for the next call.
    ///
    /// # Panics
    /// If none comes within the probe's patience; says what came instead.
    #[track_caller]
    pub fn fish(&mut self, mut wanted: impl FnMut(&M) -> bool) -> impl Future<Output = M>
    where
        M: Debug,
    {
        let (at, time) = (Location::caller(), self.patience);
        async move {
            if let Some(place) = self.kept.iter().position(&mut wanted) {
                return self.kept.remove(place).unwrap_or_else(|| unreachable!("it was just found"));
            }
            let until = Instant::now() + time;
            while let Some(message) = self.arrival(until).await {
                if wanted(&message) {
                    return message;
                }
                self.kept.push_back(message);
            }
            let came = &self.kept;
            fail(at, format_args!("a certain message within {time:?}"), format_args!("these came: {came:?}"))
        }
    }

    /// Listens for [`PROBE_SILENCE`], in which nothing may come.
    ///
    /// # Panics
    /// If a message came, or waits already; says which.
    #[track_caller]
    pub fn expect_no_msg(&mut self) -> impl Future<Output = ()>
    where
        M: Debug,
    {
        self.expect_no_msg_within(PROBE_SILENCE)
    }

    /// Listens for that time, in which nothing may come.
    ///
    /// # Panics
    /// If a message came, or waits already; says which.
    #[track_caller]
    pub fn expect_no_msg_within(&mut self, time: Duration) -> impl Future<Output = ()>
    where
        M: Debug,
    {
        let at = Location::caller();
        async move {
            if let Some(message) = self.next(Instant::now() + time).await {
                fail(at, format_args!("no message for {time:?}"), format_args!("{message:?} came"))
            }
        }
    }

    /// Waits until an actor is gone, and says why it is. It need not have been watched before.
    ///
    /// # Panics
    /// If it still lives after the probe's patience.
    #[track_caller]
    pub fn expect_terminated<T: Send + 'static>(
        &self,
        actor: &ActorRef<T>,
    ) -> impl Future<Output = Terminated> {
        let (at, time) = (Location::caller(), self.patience);
        let (stopped, path) = (actor.stopped(), actor.path());
        async move {
            match timeout(time, stopped).await {
                Ok(terminated) => terminated,
                Err(_) => fail(at, format_args!("{path} to end within {time:?}"), format_args!("it lives")),
            }
        }
    }

    /// What has come and was not asked for yet, without waiting.
    pub fn drain(&mut self) -> Vec<M> {
        let mut all: Vec<M> = self.kept.drain(..).collect();
        while let Ok(message) = self.arriving.try_recv() {
            all.push(message);
        }
        all
    }

    async fn next(&mut self, until: Instant) -> Option<M> {
        match self.kept.pop_front() {
            Some(message) => Some(message),
            None => self.arrival(until).await,
        }
    }

    async fn arrival(&mut self, until: Instant) -> Option<M> {
        timeout_at(until, self.arriving.recv()).await.ok().flatten()
    }
}

impl<M: Send + 'static> Drop for Probe<M> {
    fn drop(&mut self) {
        self.actor.stop();
    }
}

impl<M: Send + 'static> Debug for Probe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("path", &self.actor.path()).finish_non_exhaustive()
    }
}
