//! Whose turn a host's context is lent to.

use std::sync::{Arc, OnceLock};

use super::annex::Annex;
use super::belongings::Belongings;
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::context::{Context, Extras};
use crate::entity_id::EntityId;

/// What residents of one type have in common.
pub trait House<M>: Send + Sync {
    /// The type's name.
    fn kind(&self) -> &str;

    /// The address of one of them, wherever it lives when a message is sent.
    fn address(&self, id: &EntityId) -> ActorRef<M>;
}

/// One resident, as its host knows it between turns, without its actor and what it has.
#[derive(Debug, Clone, Copy)]
pub struct Lodger<'a> {
    /// Its name.
    pub id: &'a EntityId,
    /// The [`hash`](super::hash) of that.
    pub hash: u64,
    /// Its shard.
    pub shard: u32,
    /// The epoch of that shard's owner.
    pub epoch: u64,
}

/// The resident whose turn it is.
pub(crate) struct Resident<M: Send + 'static> {
    pub(crate) id: EntityId,
    pub(crate) hash: u64,
    pub(crate) shard: u32,
    pub(crate) epoch: u64,
    /// What its own watches, children and adapters hang on; made when first needed.
    pub(crate) annex: OnceLock<Annex<M>>,
    /// The message to be handled before it is passivated.
    pub(crate) last: Option<M>,
    /// What the context came with, while it has a resident's own things.
    pub(crate) bare: Option<Box<Extras<M>>>,
    pub(crate) house: Arc<dyn House<M>>,
}

impl<M: Send + 'static> Resident<M> {
    pub(crate) fn new(house: Arc<dyn House<M>>) -> Self {
        let (id, annex) = (EntityId::default(), OnceLock::new());
        Self { id, hash: 0, shard: 0, epoch: 0, annex, last: None, bare: None, house }
    }

    pub(crate) fn path(&self) -> String {
        format!("/{}/{}", self.house.kind(), self.id)
    }
}

impl<A: Actor> Context<A> {
    /// Lends the context to a resident that has these things, for its turn.
    #[inline]
    pub fn settle(&mut self, lodger: Lodger<'_>, belongings: Belongings<A::Msg>) {
        self.lend(belongings);
        let Some(resident) = self.resident() else { return };
        resident.id.clone_from(lodger.id);
        resident.hash = lodger.hash;
        resident.shard = lodger.shard;
        resident.epoch = lodger.epoch;
    }

    /// The turn is over: gives back what the resident has.
    #[inline]
    pub fn unsettle(&mut self) -> Belongings<A::Msg> {
        if let Some(resident) = self.resident() {
            resident.id = EntityId::default();
        }
        self.take_back()
    }
}
