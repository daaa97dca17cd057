//! The context of an entity: who it is, and how it ends.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::extras::into_asked;
use super::{Context, Extras};
use crate::actor::Actor;
use crate::ask::AskId;
use crate::ask::turn::Turn;
use crate::cell::ActorCell;
use crate::entity_id::EntityId;
use crate::host::Pace;
use crate::id::ActorId;
use crate::mailbox::Batch;
use crate::resident::{Annex, Belongings, Ended, Resident};
use crate::watch::StopReason;

impl<A: Actor> Context<A> {
    /// Which entity it is; `None` if the actor is no entity.
    pub fn entity_id(&self) -> Option<&EntityId> {
        self.lent_to().map(|resident| &resident.id)
    }

    /// The type of the entity; `None` if the actor is no entity.
    pub fn entity_type(&self) -> Option<&str> {
        self.lent_to().map(|resident| resident.house.kind())
    }

    /// The shard of the entity; `None` if the actor is no entity.
    pub fn shard(&self) -> Option<u32> {
        self.lent_to().map(|resident| resident.shard)
    }

    /// The epoch of the shard's owner, to be compared where the entity's effects land: what carries a lower one than was seen there
    /// before comes from a node that owns the entity no more. `None` if the actor is no entity.
    pub fn epoch(&self) -> Option<u64> {
        self.lent_to().map(|resident| resident.epoch)
    }

    /// Lets the entity go after this turn; `stopping` is called. Messages that wait, and those that come, start its next life: none is
    /// lost. An actor that is no entity goes on.
    pub fn passivate(&mut self) {
        if self.lent_to().is_some() {
            self.ending = Some(StopReason::Passivated);
        }
    }

    /// As [`Context::passivate`], after the entity has handled `last`, before anything that waits.
    pub fn passivate_with(&mut self, last: A::Msg) {
        if let Some(resident) = self.resident() {
            resident.last = Some(last);
            self.ending = Some(StopReason::Passivated);
        }
    }
}

/// What a host of residents needs.
impl<A: Actor> Context<A> {
    pub(crate) fn for_residents(cell: Arc<ActorCell<A::Msg>>, resident: Resident<A::Msg>) -> Self {
        let extras = Extras { resident: Some(Box::new(resident)), ..Extras::default() };
        let (inbox, pace) = (Batch::default(), Pace::default());
        Self { cell, inbox, extras: Some(Box::new(extras)), pace, ending: None }
    }

    /// The resident it is lent to.
    #[inline]
    pub(super) fn lent_to(&self) -> Option<&Resident<A::Msg>> {
        self.extras.as_ref()?.resident.as_deref()
    }

    #[inline]
    pub(crate) fn resident(&mut self) -> Option<&mut Resident<A::Msg>> {
        self.extras.as_mut()?.resident.as_deref_mut()
    }

    /// The cell that watches, children and adapters hang on.
    pub(super) fn own_cell(&self) -> &Arc<ActorCell<A::Msg>> {
        match self.lent_to() {
            None => &self.cell,
            Some(resident) => {
                &resident.annex.get_or_init(|| Annex::new(&self.cell.core, resident.path())).cell
            }
        }
    }

    #[inline]
    pub(crate) fn lend(&mut self, belongings: Belongings<A::Msg>) {
        self.ending = None;
        if let Some(own) = belongings.0 {
            self.lend_to_owner(own);
        }
    }

    /// What the resident has takes the place of what the context came with, until the turn is over.
    #[cold]
    fn lend_to_owner(&mut self, mut own: Box<Extras<A::Msg>>) {
        let Some(mut bare) = self.extras.take() else { return };
        let Some(mut resident) = bare.resident.take() else { return };
        if let Some(annex) = own.annex.take() {
            resident.annex = OnceLock::from(annex);
        }
        resident.bare = Some(bare);
        own.resident = Some(resident);
        own.used = true;
        self.extras = Some(own);
    }

    #[inline]
    pub(crate) fn take_back(&mut self) -> Belongings<A::Msg> {
        let used = self.extras.as_ref().is_some_and(|extras| {
            extras.used || extras.resident.as_ref().is_some_and(|resident| resident.annex.get().is_some())
        });
        if used { self.take_back_from_owner() } else { Belongings::default() }
    }

    #[cold]
    fn take_back_from_owner(&mut self) -> Belongings<A::Msg> {
        let Some(mut own) = self.extras.take() else { return Belongings::default() };
        let Some(mut resident) = own.resident.take() else { return Belongings::default() };
        own.annex = resident.annex.take();
        let mut bare = resident.bare.take().unwrap_or_default();
        bare.resident = Some(resident);
        self.extras = Some(bare);
        Belongings(Some(own).filter(|own| !own.is_empty()))
    }

    /// Whose turn it is, as the thread is to know.
    #[inline]
    pub(crate) fn turn(&self, ask: Option<AskId>) -> Turn {
        let actor = self.lent_to().map_or(self.cell.id, |resident| ActorId::of_entity(resident.hash));
        Turn { system: self.cell.core.asks.number, actor, ask, is_last: false }
    }

    /// Whether and how the resident wants to end; asked once after its turn.
    #[inline]
    pub fn take_ending(&mut self) -> Option<Ended<A::Msg>> {
        let reason = self.ending.take()?;
        let last = self.resident().and_then(|resident| resident.last.take());
        Some(last.map_or(Ended::For(reason), Ended::After))
    }

    /// The messages that were unstashed in this turn, in order: they come before all that wait.
    #[inline]
    pub fn take_unstashed(&mut self) -> VecDeque<(A::Msg, Option<AskId>)> {
        if self.inbox.is_empty() {
            return VecDeque::new();
        }
        std::mem::take(&mut self.inbox).into_iter().filter_map(into_asked).collect()
    }
}
