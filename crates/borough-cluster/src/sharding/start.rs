//! Starting an entity without a message, wherever its shard lives.
//!
//! It goes apart from messages: the lane that hosts the shard is told, on this node by an order and on another through its registrar, and whoever
//! asked looks again at the table as long as the shard is between two places. To start twice is to start once, so it may be tried again at will.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use borough_actor::EntityId;
use borough_actor::remote::Message;
use borough_protocol::incarnation::Incarnation;
use borough_protocol::sharding::ShardId;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::Sharding;
use super::error::EntityStartError;
use super::host::{Order, Woken};
use super::kind::KindCore;
use super::queries::{PATH, Query};
use super::shell::Shell;

/// How long an entity may take to be started: longer than a fail-over.
pub const ENTITY_START_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the table is looked at while the shard has no place.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl<M: Message> KindCore<M> {
    /// Ready once that entity lives.
    pub(super) async fn start_entity(&self, id: EntityId) -> Result<(), EntityStartError> {
        let until = Instant::now() + ENTITY_START_TIMEOUT;
        let entity = || self.path_of(&id);
        loop {
            if let Some(why) = self.refusal() {
                return Err(EntityStartError::Refused { entity: entity(), why });
            }
            match timeout_at(until, self.try_start(&id)).await {
                Ok(Woken::Lives) => return Ok(()),
                Ok(Woken::Failed) => return Err(EntityStartError::Failed { entity: entity() }),
                Ok(Woken::Elsewhere) if Instant::now() < until => sleep(LOOK_EVERY).await,
                Ok(Woken::Elsewhere) | Err(_) => {
                    let why = self.sharding.explain(self, &id).why;
                    return Err(EntityStartError::Timeout {
                        entity: entity(),
                        time: ENTITY_START_TIMEOUT,
                        why,
                    });
                }
            }
        }
    }

    async fn try_start(&self, id: &EntityId) -> Woken {
        let (view, number) = (self.view(), self.shard_of(id));
        let Some((table, kind)) = view.table.as_ref().zip(view.id) else { return Woken::Elsewhere };
        let Some(entry) = table.shard(ShardId { kind, number }) else {
            self.want(number);
            return Woken::Elsewhere;
        };
        if view.life == Some(entry.owner) {
            return self.wake(id.clone()).await;
        }
        match table.member(entry.owner) {
            Some(member) => self.sharding.wake_there(&member.incarnation, &self.kind.name, id).await,
            None => Woken::Elsewhere,
        }
    }

    /// Tells the lane of that entity, if it is here.
    pub(super) fn wake_here(&self, id: EntityId) -> Pin<Box<dyn Future<Output = Woken> + Send>> {
        let shard = self.shard_of(&id);
        let (say, said) = oneshot::channel();
        if let Some(lane) = self.lane(shard) {
            lane.order(Order::Wake { shard, id, say });
        }
        // Not said if there is no lane, or the life of the node is over.
        Box::pin(async move { said.await.unwrap_or(Woken::Elsewhere) })
    }
}

impl Sharding {
    /// Has another node start an entity.
    async fn wake_there(self: &Arc<Self>, node: &Incarnation, kind: &Arc<str>, id: &EntityId) -> Woken {
        let Some(Ok(registrar)) = self.hub().look_up::<Query>(node, PATH).await else {
            return Woken::Elsewhere;
        };
        let (kind, id) = (kind.to_string(), id.clone());
        let woken =
            registrar.ask(|reply| Query::Wake { kind, id, reply }).timeout(ENTITY_START_TIMEOUT).await;
        // It may be started all the same; then that is found the next time.
        woken.unwrap_or(Woken::Elsewhere)
    }
}
