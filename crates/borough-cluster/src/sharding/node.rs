//! What a node offers of sharding.

use std::any::type_name;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use borough_actor::remote::Message;
use borough_actor::{Actor, EntityId};
use borough_protocol::sharding::Kind;

use super::builder::{ProxyBuilder, ShardBuilder};
use super::desk::Errand;
use super::error::{RegionError, ShardError};
use super::kind::KindCore;
use super::region::Region;
use super::shell::Shell;
use super::{Sharding, Sight, wire};
use crate::node::Node;

impl Node {
    /// Prepares a type of entities on this node. `make` makes an entity when its first message comes, and again after a fault.
    ///
    /// ```
    /// use borough_cluster::{Message, Node};
    /// use borough_actor::{Actor, Context, Fault, Reply};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// enum Account { Deposit(u64), Balance(Reply<u64>) }
    ///
    /// #[derive(Default, Serialize, Deserialize)]
    /// struct AccountEntity { balance: u64 }
    ///
    /// impl Actor for AccountEntity {
    ///     type Msg = Account;
    ///     async fn receive(&mut self, msg: Account, _ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         match msg {
    ///             Account::Deposit(amount) => self.balance += amount,
    ///             Account::Balance(reply) => reply.send(self.balance),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let node = Node::builder("bank").listen("127.0.0.1:0").start().await?;
    /// let accounts = node.shard("accounts", |_id| AccountEntity::default()).migrate_state().start().await?;
    /// accounts.tell("alice", Account::Deposit(100)).await?;
    /// assert_eq!(accounts.ask("alice", Account::Balance).await?, 100);
    /// node.leave().await?;
    /// # Ok(()) }
    /// ```
    pub fn shard<A>(
        &self,
        name: impl Into<String>,
        make: impl Fn(&EntityId) -> A + Send + Sync + 'static,
    ) -> ShardBuilder<A>
    where
        A: Actor,
        A::Msg: Message,
    {
        ShardBuilder::new(self, name.into(), Arc::new(make))
    }

    /// Prepares the way to a type of entities that live on other nodes: it needs no entity code.
    pub fn shard_proxy<M: Message>(&self, name: impl Into<String>) -> ProxyBuilder<M> {
        ProxyBuilder::new(self, name.into())
    }

    /// The region of a type that was started on this node.
    pub fn region<M: Message>(&self, name: &str) -> Result<Region<M>, RegionError> {
        self.sharding().region(name)
    }
}

impl Sharding {
    pub(super) fn region<M: Message>(&self, name: &str) -> Result<Region<M>, RegionError> {
        let shells = self.shells.read().unwrap_or_else(PoisonError::into_inner);
        let kind = || name.to_owned();
        let shell = shells
            .get(&wire::target(name))
            .filter(|shell| &*shell.kind().name == name)
            .ok_or_else(|| RegionError::NotStarted { kind: kind() })?;
        let takes = shell.message_type();
        let core = shell.clone().as_any().downcast::<KindCore<M>>();
        core.map(Region::new).map_err(|_| RegionError::OtherMessages {
            kind: kind(),
            takes,
            wanted: type_name::<M>(),
        })
    }

    /// A type is started here; a second of its name is refused.
    pub(super) fn enter(&self, shell: Arc<dyn Shell>) -> Result<(), ShardError> {
        let mut shells = self.shells.write().unwrap_or_else(PoisonError::into_inner);
        // Nobody would end it: what it accepts would wait for good.
        if self.has_ended.load(Ordering::SeqCst) {
            return Err(ShardError::Ended);
        }
        let target = wire::target(&shell.kind().name);
        if let Some(other) = shells.get(&target) {
            let kind = other.kind().name.to_string();
            return Err(ShardError::Taken { kind, takes: other.message_type() });
        }
        shells.insert(target, shell);
        Ok(())
    }

    /// A type could not be started after all.
    pub(super) fn leave(&self, name: &str) {
        let gone = self.shells.write().unwrap_or_else(PoisonError::into_inner).remove(&wire::target(name));
        if let Some(gone) = gone {
            self.errand(Errand::Forget(gone.kind().name.clone()));
        }
    }
}

impl Sharding {
    /// Waits until the table knows the type and, if it is hosted here, that it is; at once ready if this node is in no cluster yet, or may not host it.
    /// Fails if the cluster agreed on something else, or never will agree on it.
    pub(super) async fn agreed(&self, kind: Arc<Kind>, hosts: bool) -> Result<(), ShardError> {
        let mut sight = self.sight.subscribe();
        loop {
            let Sight { life, table, .. } = sight.borrow_and_update().clone();
            let member = table.as_ref().and_then(|table| Some((table, table.member(life)?)));
            let Some((table, member)) = member else { return Ok(()) };
            if let Some((_, agreed)) = table.kind_named(&kind.name) {
                if let Some(differs) = ShardError::differing(&kind, agreed.kind()) {
                    return Err(differs);
                }
                let may_host = kind
                    .role
                    .as_ref()
                    .is_none_or(|role| member.facts.roles.iter().any(|own| **own == **role));
                // Before it is known as a host, a node that leaves would find nobody to move its shards to.
                if !hosts || !may_host || agreed.hosts().contains(&life) {
                    return Ok(());
                }
            } else if let Some(error) = ShardError::undeclarable(&kind, table) {
                return Err(error);
            }
            sight.changed().await.map_err(|_| ShardError::Ended)?;
        }
    }
}
