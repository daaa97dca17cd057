//! What the host of a type is set to.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::{Actor, EntityId, Supervision};
use borough_wire::codec::CodecId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::policy::Passivation;
use crate::config::KindOptions;

/// Makes an entity.
pub(crate) type Make<A> = Arc<dyn Fn(&EntityId) -> A + Send + Sync>;

/// See the module.
pub(crate) struct Settings<A: Actor> {
    pub(crate) make: Make<A>,
    /// How state moves; `None`: it ends with a move.
    pub(crate) migration: Option<Migration<A>>,
    pub(crate) passivate_after: Option<Duration>,
    /// How many live on this node at the most.
    pub(crate) max_entities: Option<usize>,
    /// Which go when there are too many.
    pub(crate) passivation: Passivation,
    pub(crate) supervision: Supervision,
    /// The last message of an entity that is to end.
    pub(crate) stop_with: Option<Arc<dyn Fn() -> A::Msg + Send + Sync>>,
    /// How long a turn may last when its shard is to move.
    pub(crate) handoff_timeout: Duration,
    /// Whether each turn runs in a task of its own.
    pub(crate) task_per_entity: bool,
    /// Entities that are there without a message, wherever their shards live.
    pub(crate) eager: Vec<(u32, EntityId)>,
}

impl<A: Actor> Settings<A> {
    pub(crate) fn new(make: Make<A>) -> Self {
        let options = KindOptions::default();
        Self {
            make,
            migration: None,
            passivate_after: options.passivate_after,
            max_entities: options.max_entities,
            passivation: options.passivation,
            supervision: Supervision::default(),
            stop_with: None,
            handoff_timeout: options.handoff_timeout,
            task_per_entity: false,
            eager: Vec::new(),
        }
    }

    /// Takes what hosts are set to.
    pub(crate) fn take(&mut self, options: &KindOptions) {
        self.passivate_after = options.passivate_after;
        self.max_entities = options.max_entities;
        self.passivation = options.passivation;
        self.handoff_timeout = options.handoff_timeout;
    }
}

/// How the state of entities is written and read.
pub(crate) struct Migration<A> {
    pub(super) capture: Capture<A>,
    pub(super) install: Install<A>,
}

type Capture<A> = Box<dyn Fn(&A, CodecId, &mut Vec<u8>) -> Result<(), String> + Send + Sync>;
type Install<A> = Box<dyn Fn(&EntityId, CodecId, &[u8]) -> Result<A, String> + Send + Sync>;

impl<A: Serialize + DeserializeOwned + 'static> Migration<A> {
    /// The whole entity is its state.
    pub(crate) fn of_serde() -> Self {
        Self { capture: Box::new(write), install: Box::new(|_, codec, bytes| read(codec, bytes)) }
    }
}

impl<A: 'static> Migration<A> {
    /// A part of the entity is its state; the rest is made where it arrives.
    pub(crate) fn of_part<S: Serialize + DeserializeOwned>(
        state: impl Fn(&A) -> S + Send + Sync + 'static,
        make: impl Fn(&EntityId, S) -> A + Send + Sync + 'static,
    ) -> Self {
        Self {
            capture: Box::new(move |entity, codec, out| write(&state(entity), codec, out)),
            install: Box::new(move |id, codec, bytes| Ok(make(id, read(codec, bytes)?))),
        }
    }
}

fn write<S: Serialize>(state: &S, codec: CodecId, out: &mut Vec<u8>) -> Result<(), String> {
    codec.encode(state, out).map_err(|error| error.to_string())
}

fn read<S: DeserializeOwned>(codec: CodecId, bytes: &[u8]) -> Result<S, String> {
    codec.decode(bytes).map_err(|error| error.to_string())
}
