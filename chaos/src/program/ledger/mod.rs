//! Entities under test: what a node hosts of them, and the load that a client puts on them.
//!
//! | type | its entities | for |
//! |---|---|---|
//! | `ledger` | count what each sender sent, and move with that | all scenarios |
//! | `mule` | move without state, and ignore that they are to stop | a handoff with those |
//! | `unknown` | as `ledger`, not written down; nobody sends to them before the flood | a flood to shards without owners |

mod entity;
mod flaw;
mod flood;
mod load;
mod mule;
mod scribe;
mod wedge;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use borough::cluster::Region;
use borough::{EntityId, IntoEntityId, Node};

pub(super) use self::entity::Entry;
use self::entity::Ledger;
pub(super) use self::load::Load;
use self::mule::Mule;
use self::scribe::Scribe;
pub(super) use self::wedge::{release, wedge};
use super::options::Part;
use crate::words::{LEDGER, MULE, ShardsOf, UNKNOWN};

/// How long a mule may take to stop.
const MULE_PATIENCE: Duration = Duration::from_secs(2);

/// The ways to all types of one node.
pub(super) struct Ledgers {
    pub(super) ledger: Region<Entry>,
    pub(super) mule: Region<Entry>,
    pub(super) unknown: Region<Entry>,
    pub(super) load: Arc<Load>,
    ids: Arc<[EntityId]>,
}

/// How the types are started.
pub(super) struct Setting<'a> {
    pub(super) part: Part,
    /// How many entities of each type there is load for; the turns of others are not written down.
    pub(super) ids: u32,
    /// Where turns and messages are written down; nowhere, if none.
    pub(super) history: Option<&'a Path>,
    /// The number of this process's first sender.
    pub(super) first_sender: u32,
    /// One tell in so many is lost on purpose.
    pub(super) lose_one_in: Option<u64>,
}

impl Ledgers {
    /// Starts all types on a node.
    pub(super) async fn start(node: &Arc<Node>, setting: Setting<'_>) -> Result<Self, borough::Error> {
        let scribe = Arc::new(Scribe::open(setting.history)?);
        flaw::plant(setting.lose_one_in.unwrap_or(0));
        let [ledger, mule, unknown] = match setting.part {
            Part::Host => host(node, &scribe, setting.ids).await?,
            Part::Proxy => [
                node.shard_proxy(LEDGER).start().await?,
                node.shard_proxy(MULE).start().await?,
                node.shard_proxy(UNKNOWN).start().await?,
            ],
        };
        let ids: Arc<[EntityId]> =
            (0..setting.ids).map(|id| id.to_string().into_entity_id()).collect::<Result<_, _>>()?;
        let load = Arc::new(Load::new(ledger.clone(), ids.clone(), scribe, setting.first_sender));
        Ok(Self { ledger, mule, unknown, load, ids })
    }

    /// The region of a type.
    pub(super) fn named(&self, kind: &str) -> Result<&Region<Entry>, String> {
        match kind {
            LEDGER => Ok(&self.ledger),
            MULE => Ok(&self.mule),
            UNKNOWN => Ok(&self.unknown),
            _ => Err(format!("no type is called {kind:?}")),
        }
    }
}

async fn host(
    node: &Arc<Node>,
    scribe: &Arc<Scribe>,
    ids: u32,
) -> Result<[Region<Entry>; 3], borough::Error> {
    Scribe::share(scribe);
    let ledger = node.shard(LEDGER, move |id| Ledger::new(id, ids)).migrate_state().start().await?;
    let mule = node
        .shard(MULE, |_| Mule::default())
        .stop_with(|| Entry::Stop)
        .handoff_timeout(MULE_PATIENCE)
        .keeps_own_state()
        .start()
        .await?;
    let unknown = node.shard(UNKNOWN, |id| Ledger::new(id, 0)).migrate_state().start().await?;
    Ok([ledger, mule, unknown])
}

/// What lives where of one type, as the nodes say themselves.
pub(super) async fn shards(node: &Node, kind: &str) -> Vec<ShardsOf> {
    let mut shards = Vec::new();
    for (name, stats) in node.sharding_stats().await {
        let (of_kind, missing) = match stats {
            Ok(stats) => (stats.kinds.into_iter().find(|of_kind| of_kind.name == kind), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let of_kind = of_kind.as_ref();
        shards.push(ShardsOf {
            node: name.as_str().to_owned(),
            hosts: of_kind.is_some_and(|of_kind| of_kind.hosts),
            shards: of_kind
                .map(|of_kind| of_kind.shards.iter().map(|shard| (shard.number, shard.epoch)).collect())
                .unwrap_or_default(),
            entities: of_kind.map_or(0, borough::cluster::KindStats::entities),
            held: of_kind.map_or(0, |of_kind| of_kind.held),
            refused: of_kind.map_or(0, |of_kind| of_kind.refused),
            missing,
        });
    }
    shards
}
