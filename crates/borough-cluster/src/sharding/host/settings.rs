//! What the host of a type is set to.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::{Actor, EntityId, Supervision};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::policy::Passivation;

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
        Self {
            make,
            migration: None,
            passivate_after: None,
            max_entities: None,
            passivation: Passivation::default(),
            supervision: Supervision::default(),
            stop_with: None,
            handoff_timeout: Duration::from_secs(60),
            task_per_entity: false,
            eager: Vec::new(),
        }
    }
}

/// How the state of entities is written and read.
pub(crate) struct Migration<A> {
    pub(super) capture: fn(&A, &mut Vec<u8>) -> Result<(), String>,
    pub(super) install: fn(&[u8]) -> Result<A, String>,
}

impl<A: Serialize + DeserializeOwned> Migration<A> {
    pub(crate) fn of_serde() -> Self {
        Self {
            capture: |state, out| {
                let written = postcard::to_extend(state, std::mem::take(out));
                *out = written.map_err(|error| error.to_string())?;
                Ok(())
            },
            install: |bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()),
        }
    }
}
