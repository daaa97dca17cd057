//! Which entities live: their ids, by shard, wherever that is.

use std::pin::Pin;
use std::time::Duration;

use borough_actor::EntityId;
use borough_actor::remote::Message;
use borough_protocol::incarnation::NodeId;
use borough_protocol::sharding::ShardId;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Sharding;
use super::error::EntitiesError;
use super::host::Order;
use super::kind::KindCore;
use super::queries::{PATH, Query};
use crate::node::Node;

/// How many ids a page has, but for the last.
pub(super) const ENTITY_PAGE: usize = 1000;
/// How long the owner of a shard may take to say what lives in it.
const LIST_TIME: Duration = Duration::from_secs(3);

/// Ids of entities that live in one shard: a thousand, by their bytes, fewer on the last page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntityPage {
    /// Since which epoch the shard lives where the page is from; 0 if it never had an owner, and no entity with it.
    pub epoch: u64,
    /// The ids, in the order of their bytes.
    pub ids: Vec<EntityId>,
    /// Whether no id of the shard comes behind them. Otherwise ask for those behind the last one here.
    pub is_last: bool,
}

/// What a node says of a shard; nothing if it is not there.
pub(super) type Listed = Pin<Box<dyn Future<Output = Option<EntityPage>> + Send>>;

impl Node {
    /// Which entities of that type live in that shard, on whatever node it is: the first thousand ids behind `after`, by their bytes.
    ///
    /// An entity that lives all the while the pages are asked for is in one of them, whether its shard moves meanwhile or not. Those that begin or end
    /// meanwhile may be there or not. The owner has 3 s to answer, and looks at each entity of the shard for each page. The type need not be started on this node.
    /// Cancel safe.
    pub async fn entities_of(
        &self,
        kind: &str,
        shard: u32,
        after: Option<&EntityId>,
    ) -> Result<EntityPage, EntitiesError> {
        self.sharding().entities_of(kind, shard, after.cloned()).await
    }
}

impl Sharding {
    pub(super) async fn entities_of(
        &self,
        kind: &str,
        shard: u32,
        after: Option<EntityId>,
    ) -> Result<EntityPage, EntitiesError> {
        let sight = self.sight();
        let unknown = || EntitiesError::Unknown { kind: kind.to_owned() };
        let table = sight.table.ok_or_else(unknown)?;
        let (id, known) = table.kind_named(kind).ok_or_else(unknown)?;
        let shards = known.kind().shards;
        if shard >= shards {
            return Err(EntitiesError::Shard { kind: kind.to_owned(), shard, shards });
        }
        let Some(entry) = table.shard(ShardId { kind: id, number: shard }) else {
            return Ok(EntityPage { is_last: true, ..EntityPage::default() });
        };
        let between = || EntitiesError::Between { kind: kind.to_owned(), shard };
        let owner = table.member(entry.owner).ok_or_else(between)?;
        let silent = |node_id: &NodeId| EntitiesError::Silent {
            kind: kind.to_owned(),
            shard,
            node_id: node_id.clone(),
        };
        let listed = async {
            if entry.owner == sight.life {
                return Ok(self.list_here(kind, shard, after).await);
            }
            let registrar = self.hub().look_up::<Query>(&owner.incarnation, PATH).await;
            let Some(Ok(registrar)) = registrar else { return Err(()) };
            let kind = kind.to_owned();
            registrar
                .ask(|reply| Query::List { kind, shard, after, reply })
                .timeout(LIST_TIME)
                .await
                .map_err(drop)
        };
        match timeout(LIST_TIME, listed).await {
            Ok(Ok(Some(page))) => Ok(page),
            Ok(Ok(None)) => Err(between()),
            Ok(Err(())) | Err(_) => Err(silent(&owner.facts.id)),
        }
    }

    /// What lives in that shard here.
    pub(super) fn list_here(&self, kind: &str, shard: u32, after: Option<EntityId>) -> Listed {
        match self.shell(kind) {
            Some(shell) => shell.list(shard, after),
            None => Box::pin(async { None }),
        }
    }
}

impl<M: Message> KindCore<M> {
    /// Asks the lane of that shard, if it is here.
    pub(super) fn list_shard(&self, shard: u32, after: Option<EntityId>) -> Listed {
        let (say, said) = oneshot::channel();
        if let Some(lane) = self.lane(shard) {
            lane.order(Order::List { shard, after, say });
        }
        // Not said if the shard is not here.
        Box::pin(async move { said.await.ok() })
    }
}
