//! An actor that does what a test tells it to, and a log of what it went through.

use std::sync::{Arc, Mutex};

use borough_actor::{Actor, ActorRef, Context, Fault, Reply, StopReason, Terminated};
use tokio::sync::oneshot;

/// What happened, in order, as several actors of one test saw it.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().expect("nobody panics with the log in hand").push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics with the log in hand").clone()
    }

    pub(crate) fn has(&self, line: &str) -> bool {
        self.lines().iter().any(|other| other == line)
    }

    /// How many lines contain `part`.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.lines().iter().filter(|line| line.contains(part)).count()
    }
}

type Hook = Arc<dyn Fn(&mut Context<Puppet>) -> Result<(), Fault> + Send + Sync>;
pub(crate) type Deed = Box<dyn FnOnce(&mut Puppet, &mut Context<Puppet>) -> Result<(), Fault> + Send>;

/// What may be said to a [`Puppet`].
pub(crate) enum Order {
    /// Logged as `name n`, and kept in the state.
    Note(u64),
    /// Gives the notes in the state.
    Notes(Reply<Vec<u64>>),
    /// Runs in the puppet's turn.
    Do(Deed),
    /// Logged as `name waits`; the turn ends when the sender of the gate speaks or goes.
    Wait(oneshot::Receiver<()>),
    /// The same, and then the turn fails with these words.
    WaitAndFail(oneshot::Receiver<()>, &'static str),
}

/// An order to do `deed` in the puppet's turn.
pub(crate) fn act(
    deed: impl FnOnce(&mut Puppet, &mut Context<Puppet>) -> Result<(), Fault> + Send + 'static,
) -> Order {
    Order::Do(Box::new(deed))
}

/// An order to fail with an error of these words.
pub(crate) fn fail(words: &'static str) -> Order {
    act(move |_, _| Err(Fault::new(words)))
}

/// An order to panic with these words.
pub(crate) fn panic_with(words: &'static str) -> Order {
    act(move |_, _| panic!("{words}"))
}

/// Logs `name started`, `name restarted after ...`, `name stopping ...`, `name terminated ...`, and
/// then does what its hooks say. A clone of it is a new instance.
#[derive(Clone)]
pub(crate) struct Puppet {
    pub(crate) name: &'static str,
    pub(crate) log: Log,
    pub(crate) notes: Vec<u64>,
    started: Option<Hook>,
    restarted: Option<Hook>,
    stopping: Option<Hook>,
    terminated: Option<Hook>,
}

impl Puppet {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        let (log, notes) = (log.clone(), Vec::new());
        Self { name, log, notes, started: None, restarted: None, stopping: None, terminated: None }
    }

    pub(crate) fn on_started(
        mut self,
        hook: impl Fn(&mut Context<Self>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.started = Some(Arc::new(hook));
        self
    }

    /// Without one, `restarted` calls `started`, as for any actor.
    pub(crate) fn on_restarted(
        mut self,
        hook: impl Fn(&mut Context<Self>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.restarted = Some(Arc::new(hook));
        self
    }

    pub(crate) fn on_stopping(
        mut self,
        hook: impl Fn(&mut Context<Self>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.stopping = Some(Arc::new(hook));
        self
    }

    pub(crate) fn on_terminated(
        mut self,
        hook: impl Fn(&mut Context<Self>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.terminated = Some(Arc::new(hook));
        self
    }

    async fn pass(&self, gate: oneshot::Receiver<()>) {
        self.log.add(format!("{} waits", self.name));
        // Opened or thrown away, the gate is no longer shut.
        let _ = gate.await;
    }

    /// What `spawn` takes.
    pub(crate) fn maker(self) -> impl FnMut() -> Self + Send + 'static {
        move || self.clone()
    }
}

fn run(hook: Option<Hook>, ctx: &mut Context<Puppet>) -> Result<(), Fault> {
    hook.map_or(Ok(()), |hook| hook(ctx))
}

impl Actor for Puppet {
    type Msg = Order;

    async fn receive(&mut self, order: Order, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match order {
            Order::Note(n) => {
                self.log.add(format!("{} {n}", self.name));
                self.notes.push(n);
            }
            Order::Notes(reply) => reply.send(self.notes.clone()),
            Order::Do(deed) => return deed(self, ctx),
            Order::Wait(gate) => self.pass(gate).await,
            Order::WaitAndFail(gate, words) => {
                self.pass(gate).await;
                return Err(Fault::new(words));
            }
        }
        Ok(())
    }

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.add(format!("{} started", self.name));
        run(self.started.clone(), ctx)
    }

    async fn restarted(&mut self, fault: &Fault, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.add(format!("{} restarted after {fault}", self.name));
        match &self.restarted {
            Some(hook) => run(Some(hook.clone()), ctx),
            None => self.started(ctx).await,
        }
    }

    async fn stopping(&mut self, reason: StopReason, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.add(format!("{} stopping {reason:?}", self.name));
        run(self.stopping.clone(), ctx)
    }

    async fn terminated(&mut self, who: Terminated, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.add(format!("{} terminated {} {:?}", self.name, who.path, who.reason));
        run(self.terminated.clone(), ctx)
    }
}

/// Has the puppet run `deed` in its turn, and gives what it gives.
pub(crate) async fn call<T: Send + 'static>(
    puppet: &ActorRef<Order>,
    deed: impl FnOnce(&mut Puppet, &mut Context<Puppet>) -> T + Send + 'static,
) -> T {
    let answer = puppet.ask(|reply| {
        act(move |puppet, ctx| {
            reply.send(deed(puppet, ctx));
            Ok(())
        })
    });
    answer.await.expect("the puppet lives and answers")
}

/// Puts the puppet into a turn that lasts until the gate given is opened or dropped.
pub(crate) fn hold(puppet: &ActorRef<Order>) -> oneshot::Sender<()> {
    let (gate, shut) = oneshot::channel();
    puppet.try_tell(Order::Wait(shut)).expect("there is room");
    gate
}
