//! The thread "borough-control", on which a node keeps its cluster together. Besides it the library starts "borough-disk" for a node with a data directory.
//!
//! Promise: user code that blocks its own workers costs a node neither its heartbeats nor its lease. The listener, the handshakes, the control
//! connections and the machine run here, on a runtime of one thread; data lanes and actors run on the user's.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use borough_actor::SystemHandle;
use borough_protocol::formation::FoundingRule;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId};
use borough_protocol::node::Input;
use borough_protocol::settings::Checked;
use borough_sqlite::OpenOptions;
use borough_sqlite::failpoints::Hook;
use borough_wire::codec::CodecId;
use borough_wire::handshake::Secret;
use borough_wire::limits::Limits;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::addresses::Addresses;
use super::counts::Counters;
use super::disk::{Disk, DiskOptions};
use super::driver_waker::DriverWaker;
use super::gate::{Gate, Guests};
use super::inbound::Ear;
use super::lives::{Lives, Plan};
use super::outbound::Means;
use super::outlook::Outlook;
use super::watchdog::Watchdog;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::discovery::Discovery;
use crate::door::Door;
use crate::link::{Hub, Members};
use crate::myself::Myself;
use crate::node::StartError;
use crate::security::check_advertised;
use crate::sharding::{Lease, Sharding};
use crate::topology::{Failure, Publisher, Topology};
use crate::transport::{Listener, Transport};

/// How many words of others wait for the machine. Who speaks while it is full waits in line, one word a connection.
const HEARD: usize = 256;

/// How many commands of this process wait for the machine.
const COMMANDS: usize = 64;

/// Where the control lane runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// On a thread of its own.
    Thread,
    /// On the runtime that starts it: for simulations, which are one thread.
    Here,
}

/// All that a node is started with.
pub(crate) struct Setup {
    pub(crate) home: Home,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) secret: Option<Secret>,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    pub(crate) listen: Address,
    /// What others dial; what is listened at, if nothing is said.
    pub(crate) advertise: Option<Address>,
    /// `None`: as the address is.
    pub(crate) node_id: Option<NodeId>,
    pub(crate) roles: Arc<[String]>,
    pub(crate) app_version: Arc<str>,
    pub(crate) zone: Arc<str>,
    /// Where it keeps its vote and its log; `None`: nowhere.
    pub(crate) data_dir: Option<PathBuf>,
    /// For tests: sees every write and sync there.
    pub(crate) data_hook: Option<Hook>,
    /// For tests: how long that disk may be silent.
    pub(crate) data_stuck_after: Option<Duration>,
    pub(crate) settings: Checked,
    pub(crate) discovery: Option<Arc<dyn Discovery>>,
    pub(crate) founding: FoundingRule,
    pub(crate) rejoin: bool,
    /// How long a worker may be wedged before the node gives up its lease; `None`: for as long as it is.
    pub(crate) wedged_after: Option<Duration>,
    /// For tests: how long nobody must have been removed before that.
    pub(crate) wedged_apart: Option<Duration>,
    /// How long what is to move off the node may take before it is dropped; `None`: it is not.
    pub(crate) drop_after: Option<Duration>,
    /// The actors.
    pub(crate) system: SystemHandle,
    /// Where they run, and the data lanes with them.
    pub(crate) runtime: Handle,
    /// How messages to others are encoded.
    pub(crate) codec: CodecId,
}

/// What the rest of a node holds of its control side.
pub(crate) struct Control {
    pub(crate) commands: mpsc::Sender<Input>,
    pub(crate) is_leaving: Arc<AtomicBool>,
    /// The data directory does not say how the node ended.
    pub(crate) is_unwritten: Arc<AtomicBool>,
    pub(crate) topology: Topology,
    pub(crate) myself: Myself,
    pub(crate) node_id: NodeId,
    pub(crate) door: Arc<Door>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) sharding: Arc<Sharding>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) outlook: Arc<Outlook>,
    stop: watch::Sender<bool>,
    /// Closed once everything has ended.
    ended: watch::Receiver<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Control {
    /// Starts it, and waits until it listens.
    pub(crate) async fn start(setup: Setup) -> Result<Self, StartError> {
        let (stop, stopped) = watch::channel(false);
        let (alive, ended) = watch::channel(());
        let (ready, started) = oneshot::channel();
        let home = setup.home;
        let main = run(setup, ready, stopped);
        let thread = match home {
            Home::Here => {
                tokio::spawn(async move {
                    main.await;
                    drop(alive);
                });
                None
            }
            Home::Thread => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(StartError::Thread)?;
                let thread = std::thread::Builder::new().name("borough-control".to_owned());
                let thread = thread.spawn(move || {
                    // Dropped last, also when the machine finds itself broken and panics.
                    let _alive = alive;
                    let runtime = runtime;
                    runtime.block_on(main);
                    // A lookup of a name may hang for long; nobody waits for it.
                    runtime.shutdown_background();
                });
                Some(thread.map_err(StartError::Thread)?)
            }
        };
        let gone = || StartError::Thread(io::Error::other("it ended while it was started"));
        let parts = started.await.map_err(|_| gone())??;
        let Parts {
            commands,
            is_leaving,
            is_unwritten,
            topology,
            myself,
            node_id,
            door,
            hub,
            sharding,
            counters,
            outlook,
        } = parts;
        let thread = Mutex::new(thread);
        Ok(Self {
            commands,
            is_leaving,
            is_unwritten,
            topology,
            myself,
            node_id,
            door,
            hub,
            sharding,
            counters,
            outlook,
            stop,
            ended,
            thread,
        })
    }

    /// Has it end at once, without leaving.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Whether it was told to end.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Ready once it has ended, by itself or not; it does not hold it.
    pub(crate) fn ending(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut ended = self.ended.clone();
        async move { while ended.changed().await.is_ok() {} }
    }

    /// Waits until it has ended, and its thread with it. Cancel safe.
    pub(crate) async fn ended(&self) {
        self.ending().await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the control thread panicked: the node found itself broken and does not go on");
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What is handed out once the node listens.
struct Parts {
    commands: mpsc::Sender<Input>,
    is_leaving: Arc<AtomicBool>,
    is_unwritten: Arc<AtomicBool>,
    topology: Topology,
    myself: Myself,
    node_id: NodeId,
    door: Arc<Door>,
    hub: Arc<Hub>,
    sharding: Arc<Sharding>,
    counters: Arc<Counters>,
    outlook: Arc<Outlook>,
}

/// The control side of a node, from listening to the end.
async fn run(setup: Setup, ready: oneshot::Sender<Result<Parts, StartError>>, stop: watch::Receiver<bool>) {
    let (disk_says, disk_inputs) = mpsc::unbounded_channel();
    let (address, listener, disk) = match open(&setup, disk_says).await {
        Ok(opened) => opened,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let node_id = setup.node_id.clone().unwrap_or_else(|| NodeId::new(address.as_str()));
    let myself = Myself::new(Incarnation { address, uid: setup.chance.uid() });
    let (cluster, limits) = (setup.settings.cluster.clone(), setup.limits);
    let (chance, limits_too) = (setup.chance.clone(), limits.clone());
    let door = Door::new(setup.transport, setup.secret, cluster, myself.clone(), limits_too, chance);
    let door = Arc::new(door);
    let publisher = Publisher::new(node_id.clone(), myself.incarnation());
    let topology = publisher.topology(setup.runtime.clone());
    let (members, runtime) = (members_by(topology.clone()), setup.runtime.clone());
    let hub =
        Hub::new(setup.system, myself.clone(), setup.runtime, door.clone(), limits, setup.codec, members);
    let guests = Arc::new(Guests::default());
    let (counters, addresses) = (Arc::new(Counters::default()), Arc::new(Mutex::new(Addresses::default())));
    let (heard, words) = mpsc::channel(HEARD);
    let (send_command, commands) = mpsc::channel(COMMANDS);
    let lease = Lease::new(setup.clock.clone(), setup.settings.max_pause);
    let data = disk.as_ref().map(Disk::condition);
    let sharding = Sharding::start(&hub, lease, &runtime, myself.uid(), send_command.clone(), data);
    sharding.hindrances.drop_after(setup.drop_after);
    let (clock, after, apart) = (setup.clock.clone(), setup.wedged_after, setup.wedged_apart);
    let watchdog = Watchdog::new(sharding.clone(), clock, after, apart);
    let failure = publisher.failure();
    let (is_leaving, is_unwritten) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let outlook = Arc::new(Outlook::new(setup.clock.clone(), setup.settings.clone()));
    // Not the sender itself: it is those who hold the node that keep it.
    let to_itself = send_command.downgrade();
    let parts = Parts {
        commands: send_command,
        is_leaving: is_leaving.clone(),
        is_unwritten: is_unwritten.clone(),
        topology,
        myself: myself.clone(),
        node_id: node_id.clone(),
        door: door.clone(),
        hub: hub.clone(),
        sharding: sharding.clone(),
        counters: counters.clone(),
        outlook: outlook.clone(),
    };
    let ear = Ear::new(heard.clone(), counters.clone(), setup.clock.clone());
    let gate = Gate { hub: hub.clone(), ear, addresses: addresses.clone(), guests: guests.clone() };
    let facts = Facts {
        id: node_id,
        roles: setup.roles,
        app_version: setup.app_version,
        zone: setup.zone,
        disk: None,
    };
    let (settings, discovery, rejoin) = (setup.settings, setup.discovery, setup.rejoin);
    let (dialer, chance, clock) = (door.clone(), setup.chance, setup.clock);
    let means = Means { dialer, chance, clock, counters, addresses, heard };
    let lives = Lives {
        plan: Plan { facts, settings, discovery, founding: setup.founding, rejoin },
        to_itself,
        myself,
        means,
        hub: hub.clone(),
        sharding: sharding.clone(),
        guests: guests.clone(),
        publisher,
        outlook,
        commands,
        words,
        disk,
        disk_inputs,
        is_leaving,
        is_unwritten,
    };
    let open = open_house(door, listener, gate, hub.clone(), driver_waker_of(setup.home, &runtime));
    let listening = tokio::spawn(open).abort_handle();
    let closing = Closing { listening, hub, sharding, guests };
    let _ = ready.send(Ok(parts));
    let fails = give_up_if_failed(watchdog, closing.sharding.clone(), failure);
    live(lives, fails, closing, stop).await;
}

/// All lives of the node, until it is told to stop or fails.
async fn live(
    mut lives: Lives,
    fails: impl Future<Output = ()>,
    closing: Closing,
    mut stop: watch::Receiver<bool>,
) {
    let is_stopped = tokio::select! {
        biased;
        _ = stop.wait_for(|stop| *stop) => true,
        // The machine ends without a goodbye: the other nodes wait until the lease of this one is over.
        () = fails => false,
        () = lives.run() => false,
    };
    // First: the disk may not answer, and others must not talk to a node that is gone.
    drop(closing);
    lives.close().await;
    if is_stopped {
        return;
    }
    drop(lives);
    // What was said last may still go out.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Ready once the node cannot work any more; by then nothing may run here, and the published standing says why.
async fn give_up_if_failed(watchdog: Watchdog, sharding: Arc<Sharding>, failure: Arc<OnceLock<Failure>>) {
    let why = watchdog.run().await;
    tracing::error!(
        %why,
        "the node cannot run its entities: it gives up its lease, and the others go on without it; start its process again"
    );
    let _ = failure.set(why);
    sharding.fail(why);
}

/// Lets others in, sees to it that what is kept of them does not pile up, and that what they send is read.
async fn open_house(
    door: Arc<Door>,
    listener: Box<dyn Listener>,
    gate: Gate,
    hub: Arc<Hub>,
    driver_waker: Option<DriverWaker>,
) {
    let driver_waker = async {
        if let Some(driver_waker) = driver_waker {
            driver_waker.run().await;
        }
    };
    tokio::join!(door.listen(listener, Arc::new(gate)), hub.keep_house(), driver_waker);
}

/// A simulation is one thread, and has no time of its own to look from.
fn driver_waker_of(home: Home, runtime: &Handle) -> Option<DriverWaker> {
    if home == Home::Thread { DriverWaker::of(runtime) } else { None }
}

/// Who is a member, as that topology shows it.
fn members_by(topology: Topology) -> Members {
    Box::new(move |uid| topology.current().member(uid).is_some())
}

/// Listens, and opens the data directory.
async fn open(
    setup: &Setup,
    disk_says: mpsc::UnboundedSender<Input>,
) -> Result<(Address, Box<dyn Listener>, Option<Disk>), StartError> {
    let (address, listener) = bind(setup).await?;
    let Some(path) = &setup.data_dir else { return Ok((address, listener, None)) };
    let mut open = OpenOptions::new(&setup.settings.cluster);
    if let Some(hook) = setup.data_hook.clone() {
        open = open.hook(hook);
    }
    let options = DiskOptions { open, home: setup.home, stuck_after: setup.data_stuck_after };
    let disk = Disk::open(path, &options, disk_says)?;
    Ok((address, listener, Some(disk)))
}

/// Listens; gives also what others are to dial.
async fn bind(setup: &Setup) -> Result<(Address, Box<dyn Listener>), StartError> {
    let bound = setup.transport.bind(&setup.listen).await;
    let bound = bound.and_then(|listener| Ok((listener.local_address()?, listener)));
    let failed = |source| StartError::Listen { address: setup.listen.clone(), source };
    let (local, listener) = bound.map_err(failed)?;
    let address = setup.advertise.clone().unwrap_or(local);
    check_advertised(&address)?;
    Ok((address, listener))
}

/// Closes the door and what others hold of this node, however it ends.
struct Closing {
    listening: AbortHandle,
    hub: Arc<Hub>,
    sharding: Arc<Sharding>,
    guests: Arc<Guests>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.listening.abort();
        self.sharding.end();
        self.hub.end();
        self.guests.send_away();
    }
}
