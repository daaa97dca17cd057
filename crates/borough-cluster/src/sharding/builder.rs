//! What a type of entities is started with.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use borough_actor::remote::Message;
use borough_actor::{Actor, EntityId, IntoEntityId, Supervision};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::allocation::{Custom, HostLoad, Spread, Strategy};
use borough_protocol::sharding::region::Pace;
use borough_protocol::sharding::{Allocation, Hashing, Kind};
use borough_wire::codec::{Codec, CodecId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Sharding;
use super::desk::Errand;
use super::error::ShardError;
use super::hold::Limit;
use super::host::{self, Migration, Passivation};
use super::kind::{KindCore, Plan};
use super::region::Region;
use super::settings::{Fence, ShardBy, ShardFunction};
use super::shell::Shell;
use crate::config::{KindOptions, Ledger, Resolved, SettingOrigin};
use crate::node::Node;

/// How many shards a type has unless it says otherwise.
pub const DEFAULT_SHARDS: u32 = 256;
/// How many messages of a type wait for a way unless it says otherwise.
pub const DEFAULT_HOLD_LIMIT: usize = 100_000;
/// How many bytes of messages of a type wait for a way unless it says otherwise.
pub const DEFAULT_HOLD_BYTES: usize = 64 << 20;
/// How long an entity's turn may last when its shard is to move, unless the type says otherwise.
pub const DEFAULT_HANDOFF_TIMEOUT: Duration = Duration::from_secs(60);
/// How long nothing of a shard that moves may arrive, unless the type says otherwise.
pub const DEFAULT_TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a start waits until the cluster has agreed on a type, if its node is a member.
const AGREE_WITHIN: Duration = Duration::from_secs(5);

/// What a type is to be: what the files and the environment say of it, and over that what code says.
struct Wanted {
    name: String,
    options: KindOptions,
    origins: BTreeMap<&'static str, SettingOrigin>,
    function: Option<ShardFunction>,
    strategy: Option<Arc<dyn Strategy>>,
    ledger: Arc<Ledger>,
}

/// A user's rule that may panic.
struct Guarded<S>(S);

impl<S: Strategy> Strategy for Guarded<S> {
    fn allocate(&self, shard: u32, hosts: &[HostLoad]) -> Option<Uid> {
        guarded(|| self.0.allocate(shard, hosts))
    }

    fn rebalance(&self, spread: &Spread<'_>) -> Vec<(u32, Uid)> {
        guarded(|| self.0.rebalance(spread))
    }
}

fn guarded<T: Default>(ask: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| {
        tracing::error!("a strategy of allocation panicked; it is taken to have said nothing");
        T::default()
    })
}

impl Wanted {
    fn new(name: String, ledger: Arc<Ledger>) -> Self {
        let Resolved { options, origins } = ledger.of_type(&name);
        Self { name, options, origins, function: None, strategy: None, ledger }
    }

    /// Notes that code said this.
    fn say(&mut self, key: &'static str) -> &mut KindOptions {
        self.origins.insert(key, SettingOrigin::Code);
        &mut self.options
    }

    /// What has the node tell with what the type was started, once it is.
    fn noting(&self) -> impl FnOnce(&Kind) + use<> {
        let (ledger, origins, options) = (self.ledger.clone(), self.origins.clone(), self.options.clone());
        move |kind| {
            let codec = CodecId::from_number(kind.codec);
            let options = KindOptions { hash: kind.hashing, codec, ..options };
            ledger.note_type(&kind.name, &Resolved { options, origins });
        }
    }

    /// What the type is to be on a node whose own codec that is.
    fn plan(self, hosts: bool, fence: Option<Arc<dyn Fence>>, of_node: CodecId) -> Result<Plan, ShardError> {
        let Self { name, options, function, strategy, .. } = self;
        let KindOptions {
            shards,
            hash: hashing,
            role,
            min_regions,
            allocation,
            codec,
            hold_limit,
            hold_bytes,
            handoff_timeout: turns,
            transfer_timeout: stall,
            ..
        } = options;
        let codec = codec.unwrap_or(of_node);
        if !(1..=Kind::NAME_MAX).contains(&name.len()) {
            return Err(ShardError::Name { length: name.len(), max: Kind::NAME_MAX });
        }
        if !(1..=Kind::SHARDS_MAX).contains(&shards) {
            return Err(ShardError::Shards { kind: name, shards, max: Kind::SHARDS_MAX });
        }
        if let Some(length) = role.as_ref().map(String::len)
            && !(1..=Kind::NAME_MAX).contains(&length)
        {
            return Err(ShardError::Role { kind: name, length, max: Kind::NAME_MAX });
        }
        if !codec.is_built_in() {
            return Err(ShardError::Codec { kind: name, codec });
        }
        let (shard_by, hashing) = match function {
            None => (ShardBy::Hash(hashing), hashing),
            Some(function) => {
                let by = ShardBy::Function(function);
                let hashing = Hashing::custom(|id| by.shard_of(id, shards));
                (by, hashing)
            }
        };
        let kind = Kind {
            name: name.into(),
            shards,
            hashing,
            role: role.map(Into::into),
            min_hosts: min_regions,
            allocation,
            codec: codec.number(),
        };
        let strategy = strategy.map(|strategy| Custom { kind: kind.name.clone(), strategy });
        let hold_limit = Limit { messages: hold_limit, bytes: hold_bytes };
        let pace = Pace { turns, stall };
        Ok(Plan { kind, codec, shard_by, hosts, pace, hold_limit, fence, strategy })
    }
}

/// What both builders can set.
macro_rules! wanted {
    () => {
        /// How many shards the type has, for ever: all nodes must say the same. About ten times as many as there will be nodes. Default 256.
        pub fn shards(mut self, shards: u32) -> Self {
            self.wanted.say("sharding.shards").shards = shards;
            self
        }

        /// Only members of this role host the type. All nodes must say the same. Default: every node that starts it.
        pub fn role(mut self, role: impl Into<String>) -> Self {
            self.wanted.say("sharding.role").role = Some(role.into());
            self
        }

        /// Maps ids to shards by the first four bytes of their MD5 sum, as Casty does, in place of xxh3. All nodes must say the same.
        pub fn hash_by_md5(mut self) -> Self {
            self.wanted.say("sharding.hash").hash = Hashing::Md5;
            self
        }

        /// Maps ids to shards by a function of the id, so that entities of one tenant can live together: what it gives is taken modulo the number of shards.
        ///
        /// All nodes must use the same; it is known by what it says of a few ids.
        pub fn shard_by(mut self, function: impl Fn(&[u8]) -> u64 + Send + Sync + 'static) -> Self {
            self.wanted.function = Some(Arc::new(function));
            self.wanted.say("sharding.hash");
            self
        }

        /// By which rule shards are given to nodes. All nodes must say the same. Default: the node with the fewest, and at most a tenth of the shards on
        /// the move at once.
        pub fn allocation(mut self, allocation: Allocation) -> Self {
            self.wanted.say("sharding.allocation").allocation = allocation;
            self
        }

        /// Shards go where this rule says, asked on the coordinator's node: so every node that may become it should give the same.
        ///
        /// It is asked on the thread that keeps the cluster together: it must be quick. One that panics has said nothing.
        pub fn allocate_by(mut self, strategy: impl Strategy + 'static) -> Self {
            self.wanted.say("sharding.allocation").allocation = Allocation::Custom;
            self.wanted.strategy = Some(Arc::new(Guarded(strategy)));
            self
        }

        /// So many nodes must host the type before any of its shards is given to one. All nodes must say the same. Default 1.
        pub fn min_regions(mut self, regions: u32) -> Self {
            self.wanted.say("sharding.min_regions").min_regions = regions;
            self
        }

        /// How messages to the type's entities and their answers are encoded, those that move with a shard too, and states that move: `Postcard`,
        /// `MessagePack` (feature `message-pack`) or `Json` (feature `json`). All nodes must say the same. Default:
        /// [that of the node](crate::NodeBuilder::codec), which is postcard unless it says otherwise.
        ///
        /// With `MessagePack` and JSON messages and states may gain fields while nodes of both versions run; and what says nothing of its own
        /// form, as `#[serde(untagged)]`, can travel. Postcard takes less room and less time.
        pub fn codec<C: Codec>(mut self) -> Self {
            self.wanted.say("sharding.codec").codec = Some(C::ID);
            self
        }

        /// How many messages wait here at most for shards that have no owner or are between two, all together; beyond it senders wait. Default 100 000.
        pub fn hold_limit(mut self, messages: usize) -> Self {
            self.wanted.say("sharding.hold_limit").hold_limit = messages;
            self
        }

        /// How many bytes those messages take at most, all together, counted as serde would write them. Default 64 MiB.
        pub fn hold_bytes(mut self, bytes: usize) -> Self {
            self.wanted.say("sharding.hold_bytes").hold_bytes = bytes;
            self
        }
    };
}

/// A type of entities that is about to be started; see [`Node::shard`](crate::Node::shard).
#[must_use = "nothing is started before `start`"]
pub struct ShardBuilder<A: Actor> {
    sharding: Arc<Sharding>,
    wanted: Wanted,
    host: host::Settings<A>,
    fence: Option<Arc<dyn Fence>>,
    eager: Vec<EntityId>,
    keeps_state: bool,
    hosts: bool,
}

impl<A: Actor> ShardBuilder<A>
where
    A::Msg: Message,
{
    pub(super) fn new(node: &Node, name: String, make: host::Make<A>) -> Self {
        Self {
            sharding: node.sharding().clone(),
            wanted: Wanted::new(name, node.ledger.clone()),
            host: host::Settings::new(make),
            fence: None,
            eager: Vec::new(),
            keeps_state: false,
            hosts: true,
        }
    }

    wanted!();

    /// This node hosts none of it, and only speaks to the entities: as [`Node::shard_proxy`](crate::Node::shard_proxy), where the same code starts the type on
    /// all nodes. What is set here of entities is not used. Default: it hosts.
    pub fn proxy(mut self) -> Self {
        self.hosts = false;
        self
    }

    /// Entities move with their state, their stashed messages and their timers when their shard moves: it goes over the wire in the [codec](Self::codec) of the type.
    /// Without it an entity ends at a move, and its next message begins anew at the new place.
    pub fn migrate_state(mut self) -> Self
    where
        A: Serialize + DeserializeOwned,
    {
        self.host.migration = Some(Migration::of_serde());
        self.keeps_state = true;
        self
    }

    /// As [`migrate_state`](Self::migrate_state), for entities that hold what cannot travel, as a connection to a store: `state` gives what moves, and
    /// `make` makes the entity of it where it arrives. All nodes must move the same type of state. If one of them panics, it is
    /// as if the state could not be written or read.
    ///
    /// ```
    /// # use borough_cluster::Node;
    /// # use borough_actor::*;
    /// # use std::sync::Arc;
    /// struct Cart {
    ///     items: Vec<String>,
    ///     prices: Arc<Prices>,
    /// }
    /// # struct Prices;
    /// # impl Actor for Cart {
    /// #     type Msg = String;
    /// #     async fn receive(&mut self, _: String, _: &mut Context<Self>) -> Result<(), Fault> { Ok(()) }
    /// # }
    /// # async fn start(node: &Node, prices: Arc<Prices>) -> Result<(), borough_cluster::ShardError> {
    /// let cart = move |items| Cart { items, prices: prices.clone() };
    /// let empty = cart.clone();
    /// node.shard("carts", move |_id| empty(Vec::new()))
    ///     .migrate_state_as(|cart| cart.items.clone(), move |_id, items| cart(items))
    ///     .start()
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn migrate_state_as<S: Serialize + DeserializeOwned>(
        mut self,
        state: impl Fn(&A) -> S + Send + Sync + 'static,
        make: impl Fn(&EntityId, S) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host.migration = Some(Migration::of_part(state, make));
        self.keeps_state = true;
        self
    }

    /// The entities keep their state somewhere else, so that it is no loss if one ends: silences the warning about that.
    pub fn keeps_own_state(mut self) -> Self {
        self.keeps_state = true;
        self
    }

    /// An entity that has had no message for so long ends; its next message begins anew. Default: never.
    pub fn passivate_after(mut self, idle: Duration) -> Self {
        self.wanted.say("sharding.passivate_after").passivate_after = Some(idle);
        self
    }

    /// At most so many entities live on this node; others end to make room, as the [passivation](Self::passivation) says. The room is shared out among
    /// lanes, of which there are two for each worker of the runtime, and each has room for one at least. Default: no limit.
    pub fn max_entities(mut self, entities: usize) -> Self {
        self.wanted.say("sharding.max_entities").max_entities = Some(entities);
        self
    }

    /// Which entities end when there are too many. Default: those unused for longest.
    pub fn passivation(mut self, policy: Passivation) -> Self {
        self.wanted.say("sharding.passivation").passivation = policy;
        self
    }

    /// What is done about an entity's fault; its queue is kept over a restart. Default: restart with growing pauses.
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.host.supervision = supervision;
        self
    }

    /// The last message of an entity that is to end because its shard moves or there are too many; it ends when it has handled that.
    pub fn stop_with(mut self, message: impl Fn() -> A::Msg + Send + Sync + 'static) -> Self {
        self.host.stop_with = Some(Arc::new(message));
        self
    }

    /// How long a turn that is under way may last when its shard is to move. After that the move of a type that migrates is called off, which is logged at WARN
    /// with type and id, and entities of others are ended. A move that was called off is tried again after 5 s, and then after twice as long each time, up to
    /// 5 minutes; a turn that still lasts then is not waited for once more. Default 60 s.
    pub fn handoff_timeout(mut self, timeout: Duration) -> Self {
        self.wanted.say("sharding.handoff_timeout").handoff_timeout = timeout;
        self
    }

    /// How long nothing of a shard that moves may arrive where it moves to. After that the move is called off, and tried again as after
    /// [`handoff_timeout`](Self::handoff_timeout). A shard may take as long as it needs, as long as it gets on. Default 10 s.
    pub fn transfer_timeout(mut self, timeout: Duration) -> Self {
        self.wanted.say("sharding.transfer_timeout").transfer_timeout = timeout;
        self
    }

    /// Each turn of an entity runs in a tokio task of its own, so that a handler that blocks its thread or computes for long holds up no other entity,
    /// as long as the runtime has a worker left. All else is as without; it costs a task for each message. Default: entities share a few tasks,
    /// and only one that awaits something makes way for others.
    ///
    /// It does not make blocking safe. Nothing can stop a thread: if the node loses its lease while a handler blocks or computes, the others wait
    /// for `max_pause` (400 ms) and then begin the entity elsewhere, and the handler runs on beside it. That is logged at ERROR with type and id, within
    /// a second while the handler runs, and counted once ([`KindStats::overran`](crate::KindStats::overran)). Where that matters, keep what blocks below `max_pause`, await it
    /// (`tokio::task::spawn_blocking`), or have the store compare epochs ([`Fence`]).
    pub fn task_per_entity(mut self) -> Self {
        self.host.task_per_entity = true;
        self
    }

    /// Called before the first turn of each shard at its new owner; see [`Fence`]. Default: none.
    pub fn fence(mut self, fence: impl Fence) -> Self {
        self.fence = Some(Arc::new(fence));
        self
    }

    /// These entities are started without a message, wherever their shards live, and again after a move or a crash. Ids that are none are passed over.
    /// All nodes should name the same. Default: none.
    pub fn eager<I: IntoEntityId>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.eager.extend(ids.into_iter().filter_map(|id| id.into_entity_id().ok()));
        self
    }

    /// Starts the type on this node.
    ///
    /// If the node is a member of a cluster, it is ready once the cluster has agreed and knows that the node hosts the type, after 5 s at most; it fails if
    /// the cluster has other settings for the type, or no room for one more, or for so many shards. If the node is no member yet, it is ready at once,
    /// messages are held until there is a cluster, a difference is logged and makes messages fail then, and a type that the cluster does not get to know
    /// within 5 s is logged with the reason.
    pub async fn start(self) -> Result<Region<A::Msg>, ShardError> {
        let Self { sharding, wanted, mut host, fence, eager, keeps_state, hosts } = self;
        if !hosts {
            return start_proxy(sharding, wanted).await;
        }
        host.take(&wanted.options);
        let note = wanted.noting();
        let plan = wanted.plan(true, fence, sharding.hub().codec())?;
        if !keeps_state {
            tracing::warn!(
                kind = &*plan.kind.name,
                "its entities neither migrate nor keep their state elsewhere: it ends with a move, a fault or a passivation; see `migrate_state` and `keeps_own_state`"
            );
        }
        let core = KindCore::new(sharding.clone(), plan);
        sharding.enter(core.clone())?;
        host.eager = eager.iter().map(|id| (core.shard_of(id), id.clone())).collect();
        core.set_lanes(host::start(host, core.clone()));
        core.want_all(&eager);
        begin(&sharding, &core).await?;
        note(&core.kind);
        Ok(Region::new(core))
    }
}

/// The way to a type of entities that live on other nodes; see [`Node::shard_proxy`](crate::Node::shard_proxy).
#[must_use = "nothing is started before `start`"]
pub struct ProxyBuilder<M> {
    sharding: Arc<Sharding>,
    wanted: Wanted,
    takes: PhantomData<fn(M)>,
}

impl<M: Message> ProxyBuilder<M> {
    pub(super) fn new(node: &Node, name: String) -> Self {
        let wanted = Wanted::new(name, node.ledger.clone());
        Self { sharding: node.sharding().clone(), wanted, takes: PhantomData }
    }

    wanted!();

    /// Starts the way; as [`ShardBuilder::start`].
    pub async fn start(self) -> Result<Region<M>, ShardError> {
        start_proxy(self.sharding, self.wanted).await
    }
}

async fn start_proxy<M: Message>(sharding: Arc<Sharding>, wanted: Wanted) -> Result<Region<M>, ShardError> {
    let note = wanted.noting();
    let plan = wanted.plan(false, None, sharding.hub().codec())?;
    let core = KindCore::new(sharding.clone(), plan);
    sharding.enter(core.clone())?;
    begin(&sharding, &core).await?;
    note(&core.kind);
    Ok(Region::new(core))
}

/// Has the desk begin, and waits until the cluster has agreed, if there is one.
async fn begin<M: Message>(sharding: &Arc<Sharding>, core: &Arc<KindCore<M>>) -> Result<(), ShardError> {
    if let Some(custom) = core.strategy.clone() {
        sharding.allocate_by(custom);
    }
    sharding.errand(Errand::Start(core.clone()));
    let agreed = tokio::time::timeout(AGREE_WITHIN, sharding.agreed(core.kind.clone(), core.hosts())).await;
    match agreed {
        Ok(Err(error)) => {
            sharding.leave(&core.kind.name);
            core.end();
            Err(error)
        }
        // Not a member yet, or the cluster is busy: it goes on behind this.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

impl<A: Actor> fmt::Debug for ShardBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShardBuilder({})", self.wanted.name)
    }
}

impl<M> fmt::Debug for ProxyBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyBuilder({})", self.wanted.name)
    }
}
