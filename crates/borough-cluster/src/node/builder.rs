//! What a user sets before a node starts.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use borough_actor::{System, SystemHandle};
use borough_protocol::formation::{FoundWith, FoundingRule};
use borough_protocol::incarnation::{Address, NodeId};
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_sqlite::failpoints::Hook;
use borough_wire::codec::CodecId;
use borough_wire::handshake::Secret;
use borough_wire::limits::{Limits, TEXT_MAX};
use tokio::runtime::Handle;

use super::{Node, StartError};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::{Code, Config, ConfigError, Ledger, NodeOptions, Setting, check};
use crate::control::{Control, Home, Setup};
use crate::discovery::{Discovery, StaticSeeds, is_address};
use crate::durability::{self, DurabilityError};
use crate::security::{Security, is_loopback};
use crate::sharding::{REGISTRAR, Registrar};
use crate::transport::Transport;
use crate::transport::host::HostPort;
use crate::transport::memory::MemoryNetwork;
use crate::transport::tcp::TcpTransport;
use crate::transport::tls::Tls;

/// Where a node listens unless it is said otherwise: this machine alone reaches it.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:25520";

/// How long a shutdown gives the node to leave; see [`NodeBuilder::leave_timeout`].
pub const DEFAULT_LEAVE_TIMEOUT: Duration = Duration::from_secs(75);

/// The phase of a shutdown in which the node leaves its cluster.
pub(super) const LEAVE: &str = "leave";
/// The last phase of a shutdown: the control thread ends.
pub(super) const CLUSTER: &str = "cluster";

/// Settings of a [`Node`] to be. `cluster name`, [`strategy`](Self::strategy), [`max_pause`](Self::max_pause) and
/// [`round_trip`](Self::round_trip) must be the same on all nodes: one that differs is refused when it joins, with the setting and both values.
///
/// What is data can come from a file and from the environment as well ([`config`](Self::config)); what is called here wins over both, in whatever
/// order.
#[must_use = "a node is started by `start`"]
pub struct NodeBuilder {
    options: NodeOptions,
    /// The keys of what was called here.
    said: BTreeSet<&'static str>,
    config: Result<Config, ConfigError>,
    discovery: Option<Arc<dyn Discovery>>,
    tls: Option<Tls>,
    secret: Option<Secret>,
    simulated: Option<Simulated>,
    data_hook: Option<Hook>,
    data_stuck_after: Option<Duration>,
    wedged_apart: Option<Duration>,
}

/// What a node lives by that is not in the world.
struct Simulated {
    network: MemoryNetwork,
    seed: u64,
    era: u32,
}

impl NodeBuilder {
    pub(super) fn new(cluster: String) -> Self {
        let mut options = NodeOptions::default();
        options.cluster.cluster = cluster;
        Self {
            options,
            said: BTreeSet::new(),
            config: Ok(Config::default()),
            discovery: None,
            tls: None,
            secret: None,
            simulated: None,
            data_hook: None,
            data_stuck_after: None,
            wedged_apart: None,
        }
    }

    /// Settings from a file or the environment, over those of an earlier call. What is set by the other methods wins over them.
    pub fn config(mut self, config: Config) -> Self {
        self.config = self.config.map(|below| below.over(config));
        self
    }

    /// Settings from a file in TOML form; see [`Config::from_file`]. What is wrong with it is the error of [`start`](Self::start).
    pub fn config_file(self, path: impl AsRef<Path>) -> Self {
        self.config_or(Config::from_file(path))
    }

    /// Settings from the variables of the environment that begin with `BOROUGH_`; see [`Config::from_env`]. What is wrong with them is the error of
    /// [`start`](Self::start).
    pub fn config_env(self) -> Self {
        self.config_or(Config::from_env())
    }

    fn config_or(mut self, config: Result<Config, ConfigError>) -> Self {
        match config {
            Ok(config) => self.config(config),
            // Of two the first is told.
            Err(error) => {
                self.config = self.config.and(Err(error));
                self
            }
        }
    }

    /// What a node would be set to.
    #[cfg(test)]
    pub(crate) fn rows(self) -> Vec<crate::config::SettingRow> {
        let config = self.config.unwrap_or_default();
        config.rows(&config.resolve(self.options, &self.said))
    }

    /// Notes that code said this.
    fn say(&mut self, key: &'static str) -> &mut NodeOptions {
        self.said.insert(key);
        &mut self.options
    }

    /// Where the node listens, as `host:port`; port 0 takes a free one. Default [`DEFAULT_LISTEN`].
    ///
    /// Elsewhere than on loopback it needs [`tls`](Self::tls), a [`secret`](Self::secret), or the word [`insecure`](Self::insecure).
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.say("node.listen").listen = address.into();
        self
    }

    /// Where others reach the node, as `host:port`. Default: where it listens. Needed when it listens at all addresses (`0.0.0.0`), or behind
    /// a translation of addresses.
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.say("node.advertise").advertise = Some(address.into());
        self
    }

    /// One more address at which the node looks for others, as `host:port`. Default none.
    ///
    /// Give all nodes the same seeds, themselves included. A node founds a cluster only when all of them answer that they are in none
    /// ([`found_with`](Self::found_with)); until then it waits, and logs which of them are missing.
    ///
    /// Without seeds it founds a cluster by itself: at once on a loopback address with port 0, which nobody else can know; on a loopback address with
    /// another port after 1.7 s, in which members that list it as a seed can find it; elsewhere only with [`found_alone`](Self::found_alone).
    pub fn seed(mut self, address: impl Into<String>) -> Self {
        self.say("node.seeds").seeds.push(address.into());
        self
    }

    /// More seeds; see [`seed`](Self::seed).
    pub fn seeds<A: Into<String>>(mut self, addresses: impl IntoIterator<Item = A>) -> Self {
        self.say("node.seeds").seeds.extend(addresses.into_iter().map(Into::into));
        self
    }

    /// Where seeds come from instead: a name, a file, or something of your own. Default: those of [`seed`](Self::seed), which are not used
    /// with a discovery.
    pub fn discovery(mut self, discovery: impl Discovery) -> Self {
        self.discovery = Some(Arc::new(discovery));
        self.say("node.seeds");
        self
    }

    /// How many of the seeds must answer that they are in no cluster before the node founds one. Default [`FoundWith::All`].
    ///
    /// With [`FoundWith::Majority`] nodes form a cluster while some of the seeds are down. The risk: after a restart of most seeds while they cannot reach
    /// the rest of their cluster, two clusters run until they meet; then the older one goes on, and the other drops its state.
    pub fn found_with(mut self, with: FoundWith) -> Self {
        self.say("node.found_with").found_with = with;
        self
    }

    /// How many nodes, this one included, must be there and in no cluster before one of them founds one. Needed with a
    /// [`discovery`](Self::discovery) that may show only a part of the nodes, as [`DnsSeeds`](crate::DnsSeeds): give the number of nodes that start together.
    pub fn expect(mut self, nodes: usize) -> Self {
        self.say("node.expect").expect = Some(nodes);
        self
    }

    /// The directory in which the node keeps its identity, its vote and the log of decisions. It is made if it is missing. Default none.
    ///
    /// With it a cluster survives any restart of any set of its nodes: it goes on as soon as a majority of its voters is there, and is never founded twice. All
    /// nodes of a cluster must have one, or none. Each node needs a directory of its own, on a disk that it keeps: one that is lost, copied or restored from a
    /// backup is noticed as far as it can be, and loses its vote. Entities do not keep their state in it.
    ///
    /// A node that listens beyond loopback needs this or [`volatile`](Self::volatile).
    pub fn data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.say("node.data_dir").data_dir = Some(path.into());
        self
    }

    /// Says that the cluster may end with its processes: nothing is kept on disk. Needed on a node that listens beyond loopback without a
    /// [`data_dir`](Self::data_dir).
    ///
    /// If all seeds, or all voters, are new processes while they cannot reach a part of the cluster that still has its majority, two clusters run until they
    /// meet; then the older one goes on, and the other drops its state.
    pub fn volatile(mut self) -> Self {
        self.say("node.volatile").volatile = true;
        self
    }

    /// Lets a node without seeds found a cluster by itself though it listens where other machines reach it. Start one node of a cluster so, and give all others
    /// its address as a seed; better, give all nodes the same seeds and leave this out.
    pub fn found_alone(mut self) -> Self {
        self.say("node.found_alone").found_alone = true;
        self
    }

    /// What people call the node, up to 512 bytes. Default: the address it advertises. It should be its own: a name that two living members
    /// have leads to neither.
    pub fn node_id(mut self, id: impl Into<String>) -> Self {
        self.say("node.id").id = Some(id.into());
        self
    }

    /// What the node may be used for: one more role. Default none.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.say("node.roles").roles.push(role.into());
        self
    }

    /// More roles; see [`role`](Self::role).
    pub fn roles<R: Into<String>>(mut self, roles: impl IntoIterator<Item = R>) -> Self {
        self.say("node.roles").roles.extend(roles.into_iter().map(Into::into));
        self
    }

    /// The version of the program, for people and for roll-outs. Default empty. Nodes of different versions are in one cluster.
    pub fn app_version(mut self, version: impl Into<String>) -> Self {
        self.say("node.app_version").app_version = version.into();
        self
    }

    /// The zone or data center the node stands in. Default empty.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.say("node.zone").zone = zone.into();
        self
    }

    /// Which side of a split lives. Default [`Strategy::KeepMajority`]. The same on all nodes.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.say("cluster.strategy").cluster.strategy = strategy;
        self
    }

    /// The longest freeze that a healthy node may show. Default 400 ms. Raised, slower nodes keep their leases and every fail-over takes longer;
    /// leases and all other times follow from it. The same on all nodes.
    pub fn max_pause(mut self, pause: Duration) -> Self {
        self.say("cluster.max_pause").cluster.max_pause = pause;
        self
    }

    /// What a message and its answer may take between healthy nodes. Default 100 ms. Raised, slower networks are borne and every fail-over takes
    /// longer. The same on all nodes.
    pub fn round_trip(mut self, time: Duration) -> Self {
        self.say("cluster.round_trip").cluster.round_trip = time;
        self
    }

    /// The longest fail-over that is acceptable. Default 3.5 s. It changes no timing: it refuses settings whose fail-over would take longer.
    pub fn failover_target(mut self, time: Duration) -> Self {
        self.say("cluster.failover_target").cluster.failover_target = time;
        self
    }

    /// How many nodes must be there before the first is admitted, a count. Default 1. It keeps a cluster from working before it is large enough.
    pub fn minimum_members(mut self, members: usize) -> Self {
        self.say("cluster.minimum_members").cluster.minimum_members = members;
        self
    }

    /// How many nodes of a role must be there before the first node is admitted, a count. Default none.
    pub fn minimum_members_of(mut self, role: impl Into<String>, members: usize) -> Self {
        self.say("cluster.minimum_per_role").cluster.minimum_per_role.insert(role.into(), members);
        self
    }

    /// Everything else that can be set of membership; each field of [`Settings`] says its unit, default and effect. Fields that it leaves as they were
    /// are left to a [`config`](Self::config).
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        let before = self.options.clone();
        change(&mut self.options.cluster);
        self.said.extend(self.options.differing(&before));
        self
    }

    /// Certificates on both sides, and everything encrypted. Default none.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self.said.extend(["security.tls_authority", "security.tls_certificate", "security.tls_key"]);
        self
    }

    /// A secret that all nodes know and prove to each other; it is never sent, and nothing is encrypted by it. Default none.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.secret = Some(secret);
        self.said.extend(["security.secret_file", "security.secret_env"]);
        self
    }

    /// Lets the node listen where other machines reach it without TLS or secret: whoever reaches it may then join and send any message. Logged
    /// as a warning. Default off.
    pub fn insecure(mut self) -> Self {
        self.say("security.insecure").insecure = true;
        self
    }

    /// How large frames, messages and queues may be; each field says its unit, default and effect.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self.said.extend(Setting::all().map(Setting::key).filter(|key| key.starts_with("limits.")));
        self
    }

    /// How long an ask waits for its answer unless it says otherwise itself. Default 5 s.
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.say("node.ask_timeout").ask_timeout = timeout;
        self
    }

    /// A node whose worker has not answered for so long, because a handler blocks it, gives up its lease, so that its entities begin elsewhere. Default:
    /// never. Less than 15 s counts as 15 s, the time after which such a worker is logged and makes the node unready.
    ///
    /// **The blocked handler may still run then**, beside the next life of its entity: set it only if handlers that block are harmless when they
    /// return late, or their writes are fenced (see [`Fence`](crate::Fence)). The last member keeps its entities, and so does a node that saw another one
    /// removed without a goodbye in the last 5 minutes, or joined since. Nodes wedged at the same time give up 10 s after each other. Each node judges that by its own copy
    /// of the table: two that were wedged at different times, and reach their turn within the same few seconds, can both give up.
    pub fn wedged_after(mut self, time: Duration) -> Self {
        self.say("node.wedged_after").wedged_after = Some(time);
        self
    }

    /// How long a shutdown waits for the node to leave its cluster before it goes on without. Default 75 s. After four fifths of it, 60 s, turns that keep a
    /// shard from moving are ended by force, which costs their entities their state and nobody else; what has not moved even then is dropped.
    pub fn leave_timeout(mut self, timeout: Duration) -> Self {
        self.say("node.leave_timeout").leave_timeout = timeout;
        self
    }

    /// How long entities that are to move off this node may take, because it [leaves](Node::leave) or [drains](Node::drain), or because a type
    /// [shuts down](crate::Region::shutdown) here. After that, turns that keep a shard from moving are ended by force, which costs their entities their state; what
    /// has not moved 10 s later is dropped. What was lost is counted, logged at ERROR, and returned as an error. Default: never. Then nothing is dropped as
    /// long as the process runs.
    pub fn drop_after(mut self, time: Duration) -> Self {
        self.say("node.drop_after").drop_after = Some(time);
        self
    }

    /// How messages to actors on other nodes are encoded, and those to entities whose type has no
    /// [codec of its own](crate::ShardBuilder::codec). Default postcard: compact, quick, and the same types on every node. The others name
    /// their fields, so that a field can be added while nodes of both versions run; they must be built in, on every node.
    pub fn codec(mut self, codec: CodecId) -> Self {
        self.say("node.codec").codec = codec;
        self
    }

    /// Whether the node comes back by itself, under a new uid, after its cluster had to go on without it. Default on.
    pub fn rejoin(mut self, rejoin: bool) -> Self {
        self.say("node.rejoin").rejoin = rejoin;
        self
    }

    /// Runs the node on a network inside this process, on the caller's runtime and its clock, with chance from a seed. The wall clock says that
    /// many seconds since 2020 at the start: more in each later life of one address.
    #[doc(hidden)]
    pub fn simulated(mut self, network: &MemoryNetwork, seed: u64, era: u32) -> Self {
        self.simulated = Some(Simulated { network: network.clone(), seed, era });
        self
    }

    /// For tests: sees every write and sync of the data directory, and may have it fail.
    #[doc(hidden)]
    pub fn data_hook(mut self, hook: Hook) -> Self {
        self.data_hook = Some(hook);
        self
    }

    /// For tests: a data directory that has taken no write for so long counts as stuck, instead of 6 s.
    #[doc(hidden)]
    pub fn data_stuck_after(mut self, after: Duration) -> Self {
        self.data_stuck_after = Some(after);
        self
    }

    /// For tests: with [`wedged_after`](Self::wedged_after) nobody must have been removed for so long, instead of 5 minutes.
    #[doc(hidden)]
    pub fn wedged_apart(mut self, apart: Duration) -> Self {
        self.wedged_apart = Some(apart);
        self
    }

    /// Starts the node; ready once it listens. It finds or founds its cluster behind that: [`Node::wait_for`] waits for others.
    ///
    /// Call it in the tokio runtime that is to run the actors. Not cancel safe in one way: dropped in the middle, the node is stopped.
    pub async fn start(self) -> Result<Node, StartError> {
        let config = self.config?;
        let mut resolved = config.resolve(self.options, &self.said);
        check(&resolved, Code { tls: self.tls.is_some(), secret: self.secret.is_some() })?;
        let security = Security {
            tls: self.tls.or_else(|| resolved.options.tls()),
            secret: self.secret.map_or_else(|| resolved.options.secret(), |secret| Ok(Some(secret)))?,
            insecure: resolved.options.insecure,
        };
        let discovery = self.discovery.or_else(|| resolved.options.discovery());
        let rows = config.rows(&resolved);
        let management = resolved.options.management.clone();
        let ledger = Ledger::new(config, rows, management, security.tls.clone());
        let options = std::mem::take(&mut resolved.options);
        let system = System::builder(options.cluster.cluster.clone())
            .ask_timeout(options.ask_timeout)
            .phase_after("drain", LEAVE, options.leave_timeout)
            .phase_after("release", CLUSTER, Duration::from_secs(5))
            .start()?;
        let leave_timeout = options.leave_timeout;
        let home = if self.simulated.is_some() { Home::Here } else { Home::Thread };
        let mut setup = setup(options, security, discovery, self.simulated, system.handle())?;
        setup.home = home;
        setup.data_hook = self.data_hook;
        setup.data_stuck_after = self.data_stuck_after;
        setup.wedged_apart = self.wedged_apart;
        let control = Control::start(setup).await?;
        let ledger = Arc::new(ledger);
        let node = Node { system: system.handle(), owned: Some(system), shared: Arc::new(control), ledger };
        node.prepare_shutdown(leave_timeout);
        node.answer_queries();
        node.look_for_strays();
        if home == Home::Thread {
            node.compare_clocks();
        }
        tracing::info!(node = %node.node_id(), life = %node.incarnation(), "listens");
        Ok(node)
    }
}

/// Checks everything that can be checked before anything is opened.
fn setup(
    options: NodeOptions,
    security: Security,
    discovery: Option<Arc<dyn Discovery>>,
    simulated: Option<Simulated>,
    system: SystemHandle,
) -> Result<Setup, StartError> {
    let mut cluster = options.cluster.clone();
    cluster.durable = options.data_dir.is_some();
    let settings = Checked::new(cluster)?;
    options.limits.check()?;
    if !options.codec.is_built_in() {
        return Err(StartError::Codec { codec: options.codec });
    }
    short("the cluster's name", &settings.cluster)?;
    let listen = Address::new(options.listen.as_str());
    let advertise =
        options.advertise.clone().map(|text| address("the advertised address", text)).transpose()?;
    let is_simulated = simulated.is_some();
    let (below, clock, chance): (Arc<dyn Transport>, _, _) =
        if let Some(Simulated { network, seed, era }) = simulated {
            let own = advertise.clone().unwrap_or_else(|| listen.clone());
            (Arc::new(network.transport(own)), Clock::of_runtime(era), Chance::seeded(seed))
        } else {
            security.check_listening(&listen)?;
            let chance = Chance::of_system().map_err(StartError::Chance)?;
            (Arc::new(TcpTransport), Clock::of_machine(), chance)
        };
    let chosen =
        durability::check(&listen, options.data_dir.as_deref(), options.volatile, || "code".to_owned());
    match chosen {
        // Nobody reaches it from elsewhere.
        Err(DurabilityError::NotChosen { .. }) if is_simulated => {}
        chosen => chosen?,
    }
    let seeds = options.seeds.iter().cloned().map(|seed| address("a seed", seed));
    let seeds = seeds.collect::<Result<Vec<_>, _>>()?;
    let of_list = || (!seeds.is_empty()).then(|| Arc::new(StaticSeeds::of(seeds)) as Arc<dyn Discovery>);
    let discovery = discovery.or_else(of_list);
    let founding = founding(&options, &listen, discovery.as_deref(), is_simulated)?;
    if let Some(id) = &options.id {
        short("the node's id", id)?;
    }
    let mut roles = options.roles;
    roles.sort_unstable();
    roles.dedup();
    for (what, text) in roles.iter().map(|role| ("a role", role)) {
        short(what, text)?;
    }
    Ok(Setup {
        home: Home::Thread,
        transport: security.transport(below)?,
        secret: security.secret,
        limits: options.limits,
        clock,
        chance,
        listen,
        advertise,
        node_id: options.id.map(NodeId::new),
        roles: roles.into(),
        app_version: options.app_version.into(),
        zone: options.zone.into(),
        data_dir: options.data_dir,
        data_hook: None,
        data_stuck_after: None,
        settings,
        discovery,
        founding,
        rejoin: options.rejoin,
        wedged_after: options.wedged_after,
        wedged_apart: None,
        drop_after: options.drop_after,
        system,
        runtime: Handle::current(),
        codec: options.codec,
    })
}

/// When the node may found a cluster. Where it would never be able to, or only by mistake, it does not start.
fn founding(
    options: &NodeOptions,
    listen: &Address,
    discovery: Option<&dyn Discovery>,
    is_simulated: bool,
) -> Result<FoundingRule, StartError> {
    let is_local = is_simulated || is_loopback(listen);
    let rule = FoundingRule {
        with: options.found_with,
        expect: options.expect,
        unknown_to_others: is_local && HostPort::of(listen).is_some_and(|parts| parts.port == 0),
    };
    match discovery {
        _ if rule.with == FoundWith::Never => Ok(rule),
        None if !is_local && !options.found_alone => Err(StartError::NoSeeds { address: listen.clone() }),
        Some(discovery) if !discovery.is_complete() && rule.expect.is_none() => {
            Err(StartError::NoExpectation)
        }
        None | Some(_) => Ok(rule),
    }
}

impl Node {
    /// Lets other nodes ask what lives here.
    fn answer_queries(&self) {
        let sharding = Arc::downgrade(self.sharding());
        let registrar = move || Registrar { sharding: sharding.clone() };
        let registrar = self.actor(registrar).name(REGISTRAR).spawn();
        // Its name is the library's own, and the node has only begun.
        let exposed = registrar.map(|registrar| self.expose(&registrar));
        debug_assert!(matches!(exposed, Ok(Ok(()))));
    }
}

fn address(what: &'static str, text: String) -> Result<Address, StartError> {
    if is_address(&text) && text.len() <= TEXT_MAX {
        Ok(Address::new(text))
    } else {
        Err(StartError::Address { what, text })
    }
}

fn short(what: &'static str, text: &str) -> Result<(), StartError> {
    if text.is_empty() || text.len() > TEXT_MAX {
        return Err(StartError::Text { what, length: text.len() });
    }
    Ok(())
}

impl fmt::Debug for NodeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeBuilder")
            .field("cluster", &self.options.cluster.cluster)
            .field("listen", &self.options.listen)
            .finish_non_exhaustive()
    }
}
