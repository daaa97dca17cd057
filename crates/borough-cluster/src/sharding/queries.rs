//! Looking into it: what lives where, since when and why.

use std::time::Duration;

use borough_actor::{Actor, Context, EntityId, Fault, IntoEntityId, Reply};
use borough_protocol::incarnation::{NodeId, Uid};
use borough_protocol::sharding::region::Input;
use borough_protocol::sharding::{Allocation, Entry, Epoch, ShardId};
use borough_protocol::table::Table;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::Sharding;
use super::counts::{ShardDeadLetters, ShardRefusals};
use super::desk::Errand;
use super::error::{ExplainError, MoveError};
use super::events::{ShardEvent, ShardMoves};
use super::host::{Depth, TurnTimes, Woken};
use super::lack::{self, Lack};
use super::listing::EntityPage;
use super::loss::StateLosses;
use super::shell::Shell;
use super::start::ENTITY_START_TIMEOUT;
use crate::control::DataDirectoryStats;
use crate::node::{Gathered, Node};

/// How long a node may take to say what lives there.
const STATS_TIME: Duration = Duration::from_secs(3);
/// The actor by which each node answers, and its path.
pub(crate) const REGISTRAR: &str = "borough-sharding";
pub(super) const PATH: &str = "/borough-sharding";

/// What lives on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStats {
    /// Each type that was started there, by name.
    pub kinds: Vec<KindStats>,
    /// What the node dropped, since its process started, because it gave up its part in a cluster.
    pub state_losses: StateLosses,
    /// How the data directory of the node does; `None` if it has none.
    pub data_directory: Option<DataDirectoryStats>,
}

/// What lives of one type on one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindStats {
    /// The type.
    pub name: String,
    /// Whether its entities can live there; otherwise the node is a proxy.
    pub hosts: bool,
    /// The shards that live there, by number.
    pub shards: Vec<ShardStats>,
    /// Messages that were handled there so far.
    pub handled: u64,
    /// How often turns there held up others for more than 10 ms, of those that were timed.
    pub long_turns: u64,
    /// Messages that wait there for a way.
    pub held: usize,
    /// For how long messages have been waiting there for a way without a pause.
    pub held_for: Duration,
    /// Messages refused there so far, because a bound was reached or nobody could take them.
    pub refused: usize,
    /// The same, by the reason.
    pub refusals: ShardRefusals,
    /// Messages accepted there that no handler saw: the type's share of the node's dead letters.
    pub dead_letters: ShardDeadLetters,
    /// Moves of its shards to and from there.
    pub moves: ShardMoves,
    /// Messages sent on from there so far, because their shard had moved.
    pub forwarded: usize,
    /// What waits there to be sent on now: messages and barriers whose shard has moved, and parts of shards that move. It stays above zero while the link to
    /// the next host takes nothing.
    pub forwards_waiting: usize,
    /// The entities with the most messages waiting, the busiest first, and how many those are.
    pub busiest: Vec<(String, usize)>,
    /// How long turns of its entities took there in the last 10 to 20 s.
    pub turns: TurnTimes,
    /// The entities whose turns took longest in the last minute, the slowest first, and how long that was; a turn that has not ended counts with
    /// what it took so far. Turns that await nothing are here only if they were timed, as few are.
    pub slowest: Vec<(String, Duration)>,
    /// How often a worker there did not answer for 15 s, because a handler blocked it or the runtime did not run it.
    pub wedged: u64,
    /// How many handlers there ran on for longer than `max_pause` after the node's lease was over: each may have run beside its entity's next home.
    pub overran: u64,
}

impl KindStats {
    /// How many entities live there.
    pub fn entities(&self) -> usize {
        self.shards.iter().map(|shard| shard.entities).sum()
    }
}

/// A shard that lives on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardStats {
    /// Its number.
    pub number: u32,
    /// Since which epoch it lives there.
    pub epoch: u64,
    /// How many entities it has.
    pub entities: usize,
}

/// What another node can ask.
#[derive(Serialize, Deserialize)]
pub(crate) enum Query {
    Stats(Reply<NodeStats>),
    /// Start that entity, if its shard lives there.
    Wake {
        kind: String,
        id: EntityId,
        reply: Reply<Woken>,
    },
    /// Which entities of that shard live there; nothing if it does not.
    List {
        kind: String,
        shard: u32,
        after: Option<EntityId>,
        reply: Reply<Option<EntityPage>>,
    },
}

/// Answers what other nodes ask.
pub(crate) struct Registrar {
    pub(crate) sharding: std::sync::Weak<Sharding>,
}

impl Actor for Registrar {
    type Msg = Query;

    async fn receive(&mut self, query: Query, _: &mut Context<Self>) -> Result<(), Fault> {
        let Some(sharding) = self.sharding.upgrade() else { return Ok(()) };
        match query {
            Query::Stats(reply) => reply.send(sharding.stats(Depth::Entities).await),
            // Apart: a lane that a handler holds up answers late.
            Query::List { kind, shard, after, reply } => {
                let listed = sharding.list_here(&kind, shard, after);
                drop(sharding.runtime().spawn(async move {
                    reply.send(timeout(STATS_TIME, listed).await.ok().flatten());
                }));
            }
            Query::Wake { kind, id, reply } => match sharding.shell(&kind) {
                None => reply.send(Woken::Elsewhere),
                // Apart: it takes as long as the entity does to begin.
                Some(shell) => drop(sharding.runtime().spawn(async move {
                    let woken = timeout(ENTITY_START_TIMEOUT, shell.wake(id)).await;
                    reply.send(woken.unwrap_or(Woken::Elsewhere));
                })),
            },
        }
        Ok(())
    }
}

impl Sharding {
    pub(crate) async fn stats(&self, depth: Depth) -> NodeStats {
        let mut kinds = Vec::new();
        for shell in self.shells() {
            kinds.push(shell.stats(depth).await);
        }
        kinds.sort_by(|a, b| a.name.cmp(&b.name));
        let data_directory = self.data.as_ref().map(|data| data.stats());
        NodeStats { kinds, state_losses: self.chronicle().losses(), data_directory }
    }

    /// Where an entity lives, and why there.
    pub(super) fn explain(&self, shell: &dyn Shell, id: &EntityId) -> Explanation {
        let number = shell.shard_of(id);
        let sight = self.sight();
        let known =
            sight.table.as_ref().and_then(|table| Some((table, table.kind_named(&shell.kind().name)?.0)));
        let Some((table, kind)) = known else {
            return unowned(number, &lack::unknown(shell.kind(), sight.table.as_deref()));
        };
        let shard = ShardId { kind, number };
        let owned = table.shard(shard).filter(|entry| table.member(entry.owner).is_some());
        if owned.is_none()
            && let Some(lack) = Lack::of(table, kind)
        {
            return unowned(number, &lack.to_string());
        }
        let Some(entry) = table.shard(shard) else {
            return unowned(number, "nobody has sent to its shard yet: it will be given to a host then");
        };
        let since = self.chronicle().since(shard, entry.epoch);
        let allocation = table.kind(kind).map(|known| known.kind().allocation);
        explained(table, number, entry, allocation, since)
    }
}

/// Where an entity lives, and why there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The shard of its id.
    pub shard: u32,
    /// Where it lives; `None` if its shard has no owner now.
    pub owner: Option<(NodeId, Uid)>,
    /// Since which epoch that node owns the shard.
    pub epoch: Epoch,
    /// Since when, as this node saw it.
    pub since: Option<Duration>,
    /// In words: why it is there.
    pub why: String,
}

impl Node {
    /// What lives on each node that is up. Each node has 3 s to answer; one that does not is there with the reason.
    pub async fn sharding_stats(&self) -> Gathered<NodeStats> {
        self.broadcast::<Query>(PATH).ask_within(STATS_TIME, Query::Stats).await
    }

    /// What lives on this node.
    pub async fn sharding_stats_here(&self) -> NodeStats {
        self.sharding().stats(Depth::Entities).await
    }

    /// What happens to shards from now on, as this node sees it: allocated, moving, moved, hosted here, dropped.
    ///
    /// Who is slow to listen misses some, and is told how many.
    pub fn shard_events(&self) -> broadcast::Receiver<ShardEvent> {
        self.sharding().events.subscribe()
    }

    /// Where an entity lives by this node's copy of the table, since when, and why there.
    pub fn explain(&self, kind: &str, id: impl IntoEntityId) -> Result<Explanation, ExplainError> {
        let id = id.into_entity_id()?;
        let sharding = self.sharding();
        let shell = sharding.shell(kind).ok_or_else(|| ExplainError::NotStarted { kind: kind.to_owned() })?;
        Ok(sharding.explain(&*shell, &id))
    }

    /// Asks for a shard to live on that node; what comes of it is shown by [`shard_events`](Self::shard_events) and [`explain`](Self::explain).
    ///
    /// It moves as in any planned move: nothing is lost, and no order is broken. With an allocation that balances it may move on later;
    /// [`Allocation::External`](crate::Allocation::External) leaves it there.
    pub fn move_shard(&self, kind: &str, shard: u32, node_id: &str) -> Result<(), MoveError> {
        let to = self.member_named(node_id)?.uid;
        let sight = self.sharding().sight();
        let known = sight.table.as_ref().and_then(|table| table.kind_named(kind));
        let (id, known) = known.ok_or_else(|| MoveError::Unknown { kind: kind.to_owned() })?;
        if shard >= known.kind().shards {
            let shards = known.kind().shards;
            return Err(MoveError::Shard { kind: kind.to_owned(), shard, shards });
        }
        if !known.hosts().contains(&to) {
            return Err(MoveError::NoHost { kind: kind.to_owned(), node_id: node_id.to_owned() });
        }
        let shard = ShardId { kind: id, number: shard };
        self.sharding().errand(Errand::Tell(Input::Place { shard, to }));
        Ok(())
    }

    /// Whether all these types are started here and known to the cluster, all workers answer, and the data directory, if there is one, takes writes: what a
    /// readiness probe asks.
    pub fn is_ready_for(&self, kinds: &[&str]) -> bool {
        let sharding = self.sharding();
        let sight = sharding.sight();
        let Some(table) = sight.table.filter(|table| table.member(sight.life).is_some()) else {
            return false;
        };
        if !sharding.wedged().is_empty() || sharding.data.as_ref().is_some_and(|data| !data.works()) {
            return false;
        }
        kinds.iter().all(|name| {
            let Some(shell) = sharding.shell(name) else { return false };
            let known = table.kind_named(name);
            known.is_some_and(|(_, kind)| !shell.hosts() || kind.hosts().contains(&sight.life))
        })
    }
}

fn unowned(shard: u32, why: &str) -> Explanation {
    Explanation { shard, owner: None, epoch: Epoch::ZERO, since: None, why: why.to_owned() }
}

fn explained(
    table: &Table,
    shard: u32,
    entry: &Entry,
    allocation: Option<Allocation>,
    since: Option<Duration>,
) -> Explanation {
    let named = |uid: Uid| {
        table
            .member(uid)
            .map_or_else(|| format!("{uid}, which was removed"), |member| member.facts.id.to_string())
    };
    let owner = table.member(entry.owner).map(|member| (member.facts.id.clone(), entry.owner));
    let why = match (&owner, entry.moving) {
        (None, _) => format!(
            "its owner was {}; the shard waits until that one's lease is over by any clock, then starts empty elsewhere",
            named(entry.owner)
        ),
        (Some(_), Some((to, _))) => format!("it is moving to {}", named(to)),
        (Some(_), None) if entry.epoch == entry.lineage => {
            format!(
                "its shard was allocated to this node{}; the shard started empty there",
                by_which_rule(allocation)
            )
        }
        (Some(_), None) => {
            format!("its shard moved there with its queues; it last started empty at epoch {}", entry.lineage)
        }
    };
    Explanation { shard, owner, epoch: entry.epoch, since, why }
}

/// How the owner of a shard is chosen; nothing if it cannot be told.
fn by_which_rule(allocation: Option<Allocation>) -> &'static str {
    match allocation {
        Some(Allocation::LeastShards { .. }) => ", which had the fewest shards of the type",
        Some(Allocation::Rendezvous) => ", by the hash of its number and the names of the nodes",
        Some(Allocation::External) => {
            ", by an order, or because it had the fewest shards and nobody had given one"
        }
        Some(Allocation::Custom) => {
            ", by the function of the program, or because it had the fewest shards where that has none"
        }
        None => "",
    }
}
