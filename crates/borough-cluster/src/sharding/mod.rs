//! Cluster sharding: entities spread over the nodes, each in one place, found by id from anywhere.
//!
//! ```text
//! Region::tell(id, msg)            region.rs
//!   KindCore::send                 kind.rs      id -> shard (frozen hash) -> way (routes.rs, a lock-free snapshot)
//!    |- hosted here    -> Lane::send            host/     the lane's mailbox -> the entity's turn
//!    |- elsewhere      -> Outgoing::send        one frame in the link to that node ... KindInlet (inlet.rs) -> the lane's mailbox
//!    |- entity crowded -> Line                  line.rs   until it has room; its host says so (abroad.rs), if it lives elsewhere
//!    |- no way now     -> Hold::push            hold.rs   bounded; goes first when a way opens
//! ```
//! Who owns what is decided by the table; [`desk`] drives the machine that follows it, and publishes ways. Nothing is decided here.

mod abroad;
mod builder;
mod counts;
mod crowd;
mod desk;
mod drain;
mod entity_ref;
mod error;
mod events;
mod extract;
mod forward;
mod hindrance;
mod hold;
mod hold_line;
pub(crate) mod host;
mod inlet;
mod kind;
mod lack;
mod lease;
mod line;
mod listing;
mod loss;
mod maps;
mod metrics;
mod node;
mod peers;
mod post_office;
mod queries;
mod region;
mod retry;
mod rounds;
mod routes;
mod settings;
mod shell;
mod start;
mod steering;
mod surroundings;
mod tally;
mod view;
mod watchdog;
mod weigh;
mod wire;
mod workers;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use borough_actor::remote::{Carrier, Head, Inlet};
use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Command, Input as NodeInput};
use borough_protocol::sharding::ShardReport;
use borough_protocol::sharding::allocation::Custom;
use borough_protocol::sharding::region::{Event, Word};
use borough_protocol::time::Timestamp;
use borough_wire::codec::CodecId;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout_at};

pub use self::builder::{
    DEFAULT_HANDOFF_TIMEOUT, DEFAULT_HOLD_BYTES, DEFAULT_HOLD_LIMIT, DEFAULT_SHARDS,
    DEFAULT_TRANSFER_TIMEOUT, ProxyBuilder, ShardBuilder,
};
pub use self::counts::{ShardDeadLetters, ShardRefusals};
pub(crate) use self::desk::Sight;
use self::desk::{Desk, Errand};
pub use self::entity_ref::EntityRef;
pub use self::error::{EntitiesError, EntityStartError, ExplainError, MoveError, RegionError, ShardError};
use self::events::Chronicle;
pub use self::events::{ShardEvent, ShardMoves, ShardNews};
pub use self::extract::{EntityMessage, Envelope, Extractor, Mail};
use self::hindrance::Hindrances;
pub use self::hindrance::{DroppedState, Hindrance, Stuck};
use self::host::Depth;
pub use self::host::{Passivation, Policy, TurnTimes};
use self::inlet::WordInlet;
pub(crate) use self::lease::Lease;
pub use self::listing::EntityPage;
pub use self::loss::{StateLoss, StateLossCount, StateLosses};
pub use self::maps::{ShardMap, ShardPlace};
pub use self::queries::{Explanation, KindStats, NodeStats, ShardStats};
pub(crate) use self::queries::{REGISTRAR, Registrar};
pub use self::region::{Asking, Region};
use self::rounds::Rounds;
pub use self::settings::{EpochRefused, Fence, Fenced};
use self::shell::Shell;
pub use self::start::ENTITY_START_TIMEOUT;
pub use self::watchdog::WedgedWorker;
pub(crate) use self::watchdog::{PING_EVERY, PINGS, TaskGuard, Watchdog};
pub(crate) use self::wire::is_kind;
use crate::control::Condition;
use crate::link::Hub;
use crate::topology::Failure;

/// How long a node that leaves waits for what it holds to find its way, and how often it looks.
const SETTLE_TIME: Duration = Duration::from_secs(10);
const SETTLE_LOOK: Duration = Duration::from_millis(5);

/// How many shard events a slow listener may be behind before it misses some.
const EVENTS_KEPT: usize = 1024;

/// What the types of entities of one node share.
pub(crate) struct Sharding {
    hub: Arc<Hub>,
    pub(crate) lease: Lease,
    pub(crate) watchdog: Watchdog,
    /// How the data directory of the node does, if it has one.
    pub(crate) data: Option<Arc<Condition>>,
    runtime: Handle,
    errands: mpsc::UnboundedSender<Errand>,
    sight: watch::Sender<Sight>,
    commands: mpsc::Sender<NodeInput>,
    report: watch::Sender<Arc<ShardReport>>,
    /// By the target of their messages.
    shells: RwLock<HashMap<u64, Arc<dyn Shell>>>,
    /// Set once the node is gone: no type is started here any more.
    has_ended: AtomicBool,
    events: broadcast::Sender<ShardEvent>,
    chronicle: Mutex<Chronicle>,
    /// What keeps shards from moving off this node.
    pub(crate) hindrances: Hindrances,
    /// The user's own rules of allocation, by type.
    strategies: Mutex<Vec<Custom>>,
}

impl Sharding {
    /// Begins the sharding of a node; its desk runs on `runtime`.
    pub(crate) fn start(
        hub: &Arc<Hub>,
        lease: Lease,
        runtime: &Handle,
        life: Uid,
        commands: mpsc::Sender<NodeInput>,
        data: Option<Arc<Condition>>,
    ) -> Arc<Self> {
        let (errands, to_run) = mpsc::unbounded_channel();
        let sight = watch::Sender::new(Sight { life, table: None, drains: false });
        let seen = sight.subscribe();
        let (report, mut reports) = watch::channel(Arc::<ShardReport>::default());
        let sharding = Arc::new(Self {
            lease,
            watchdog: Watchdog::default(),
            data,
            errands,
            sight,
            commands: commands.clone(),
            report,
            shells: RwLock::default(),
            has_ended: AtomicBool::new(false),
            events: broadcast::Sender::new(EVENTS_KEPT),
            chronicle: Mutex::default(),
            hindrances: Hindrances::default(),
            strategies: Mutex::default(),
            runtime: runtime.clone(),
            hub: hub.clone(),
        });
        hub.take_sharding(Arc::downgrade(&sharding));
        runtime.spawn(async move {
            while reports.changed().await.is_ok() {
                let report = reports.borrow_and_update().clone();
                if commands.send(NodeInput::Command(Command::Shards(report))).await.is_err() {
                    return;
                }
            }
        });
        let (desk, guard) = (Desk::new(&sharding, to_run, seen), sharding.watchdog.guard());
        runtime.spawn(async move {
            let mut run = pin!(desk.run());
            // Dropped before the desk, so that nobody sees what follows from its end before that.
            let guard = guard;
            run.as_mut().await;
            guard.done();
        });
        runtime.spawn(Rounds::default().run(sharding.clone()));
        sharding
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// From now on, and in every life, shards of that type go where the user's own rule says, if this node is the coordinator.
    fn allocate_by(&self, custom: Custom) {
        let mut strategies = self.strategies.lock().unwrap_or_else(PoisonError::into_inner);
        strategies.push(custom.clone());
        drop(strategies);
        self.command(Command::Allocate(custom));
    }

    /// What every life of the node is told as it begins.
    fn repeat_strategies(&self) {
        let strategies = self.strategies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for custom in strategies {
            self.command(Command::Allocate(custom));
        }
    }

    fn command(&self, command: Command) {
        let commands = self.commands.clone();
        // Refused only if the node is gone.
        drop(self.runtime.spawn(async move { commands.send(NodeInput::Command(command)).await }));
    }

    /// Nothing may run here any more, and nobody has a part in a cluster: the node cannot work.
    pub(crate) fn fail(&self, why: Failure) {
        self.watchdog.fail(why);
        self.lease.renew(Timestamp::ZERO);
        self.show(|sight| sight.table.take().is_some());
    }

    /// Shows the desk what the control thread knows.
    pub(crate) fn show(&self, change: impl FnOnce(&mut Sight) -> bool) {
        self.sight.send_if_modified(change);
    }

    pub(crate) fn sight(&self) -> Sight {
        self.sight.borrow().clone()
    }

    fn errand(&self, errand: Errand) {
        // Refused only if the node is gone.
        let _ = self.errands.send(errand);
    }

    /// The node is gone: its entities end, and nothing is taken any more.
    pub(crate) fn end(&self) {
        self.errand(Errand::Stop);
        // Before the types are listed: one that is started meanwhile is among them, or refused.
        self.has_ended.store(true, Ordering::SeqCst);
        for shell in self.shells() {
            shell.end();
        }
    }

    /// Ready once that type is hosted here no more.
    async fn end_hosting(&self, name: &Arc<str>) {
        let (done, ended) = oneshot::channel();
        self.errand(Errand::End(name.clone(), done));
        // Not said if the node is gone: nothing is hosted there.
        let _ = ended.await;
    }

    fn report(&self, report: ShardReport) {
        self.report.send_replace(Arc::new(report));
    }

    fn publish(&self, event: Event) {
        let Sight { life, table, .. } = self.sight();
        let Some(table) = table else { return };
        let told = self.chronicle().tell(event, &table, life);
        self.announce(told);
    }

    /// Says that nothing may run here any more, or that it may again.
    pub(crate) fn lease_changed(&self, may_run: bool) {
        let told = self.chronicle().lease(may_run);
        self.announce(told);
    }

    fn announce(&self, event: Option<ShardEvent>) {
        if let Some(event) = event {
            event.log_refusal();
            tracing::debug!(kind = &*event.kind, shard = event.shard, what = ?event.what, "shard event");
            // Nobody need listen.
            let _ = self.events.send(event);
        }
    }

    fn chronicle(&self) -> MutexGuard<'_, Chronicle> {
        self.chronicle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing lives here any more; what was accepted for others is to reach them first.
    fn drained(&self) {
        let (hub, commands) = (self.hub.clone(), self.commands.clone());
        let shells = self.shells();
        self.runtime.spawn(async move {
            tracing::info!(
                "node leaves: no shard lives here any more; it sends on what it has accepted and waits until the other members let it go"
            );
            // Lanes answer behind the orders they were given: what is to end has begun to. One that a handler blocks still runs what others would begin
            // at once after a goodbye, so there is none before it answers.
            for shell in &shells {
                drop(shell.stats(Depth::Counts).await);
            }
            let until = Instant::now() + SETTLE_TIME;
            // What this node accepted and could not send yet goes first; then nothing is accepted any more, so that nothing comes after it.
            until_all(&shells, until, |shell| shell.is_settled()).await;
            for shell in &shells {
                shell.shut_holds();
            }
            until_all(&shells, until, |shell| shell.is_settled()).await;
            let closing: Vec<_> = shells.iter().map(|shell| (shell.clone(), shell.close_all())).collect();
            until_all(&closing, until, |(shell, closing)| shell.is_quiet(closing)).await;
            // What its own senders gave its lanes just before their shards went is sent on, too.
            for shell in &shells {
                let _ = timeout_at(until, shell.flushed()).await;
            }
            until_all(&shells, until, |shell| shell.is_settled()).await;
            hub.settle().await;
            // Refused only if the node is gone.
            let _ = commands.send(NodeInput::Command(Command::Drained)).await;
        });
    }

    /// The way to that member.
    fn carrier_to(&self, uid: Uid) -> Option<Arc<dyn Carrier>> {
        let sight = self.sight.borrow();
        let member = sight.table.as_ref()?.member(uid)?;
        Some(self.hub.link(&member.incarnation))
    }

    /// Says a word to another node; it may get lost, and is said again. It goes with the answers: words open ways, so they must not wait behind messages for actors
    /// that are full, and none of them has to keep its place among messages.
    fn say(&self, to: Uid, word: &Word) {
        if to == self.sight.borrow().life {
            return self.errand(Errand::Tell(word_from(to, *word)));
        }
        if let Some(carrier) = self.carrier_to(to) {
            let head = Head { target: wire::target(""), codec: CodecId::Postcard, ask: None };
            carrier.say(head, &wire::put_word(word));
        }
    }

    fn heard(&self, from: u64, word: Word) {
        if let Word::Taken { .. } = word {
            self.hindrances.note_progress();
        }
        if let Some(from) = Uid::new(from) {
            self.errand(Errand::Tell(word_from(from, word)));
        }
    }

    /// The way in for what a node sends to that target.
    pub(crate) fn inlet(self: Arc<Self>, target: u64, carrier: Arc<dyn Carrier>) -> Option<Box<dyn Inlet>> {
        if target == wire::target("") {
            return Some(Box::new(WordInlet::new(self, carrier)));
        }
        // One that was removed before this node joined was never closed here.
        let from = Uid::new(carrier.uid())?;
        if self.sight.borrow().table.as_ref().is_some_and(|table| table.is_removed(from)) {
            return None;
        }
        let shells = self.shells.read().unwrap_or_else(PoisonError::into_inner);
        shells.get(&target).map(|shell| shell.inlet(carrier))
    }

    fn shell(&self, name: &str) -> Option<Arc<dyn Shell>> {
        let shells = self.shells.read().unwrap_or_else(PoisonError::into_inner);
        shells.get(&wire::target(name)).filter(|shell| &*shell.kind().name == name).cloned()
    }

    fn shells(&self) -> Vec<Arc<dyn Shell>> {
        self.shells.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

fn word_from(from: Uid, word: Word) -> borough_protocol::sharding::region::Input {
    borough_protocol::sharding::region::Input::Word { from, word }
}

/// Waits until all are so, but not for ever.
async fn until_all<T>(all: &[T], until: Instant, is_so: impl Fn(&T) -> bool) {
    while !all.iter().all(&is_so) && Instant::now() < until {
        sleep(SETTLE_LOOK).await;
    }
}
