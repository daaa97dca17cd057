//! Which entities go when there are too many.

use std::fmt;
use std::sync::Arc;

/// Which entities end when there are more than [`max_entities`](crate::ShardBuilder::max_entities).
#[derive(Clone, Default)]
pub struct Passivation(pub(super) Option<Arc<dyn Fn(usize) -> Box<dyn Policy> + Send + Sync>>);

/// Keeps account of the entities of one lane and says which go.
pub trait Policy: Send {
    /// That entity, by a number that stands for it, was just used.
    fn used(&mut self, entity: u64);

    /// It is gone.
    fn gone(&mut self, entity: u64);

    /// One that is to go.
    fn victim(&mut self) -> Option<u64>;
}

impl Passivation {
    /// Those that were not used for the longest time go.
    pub fn least_recently_used() -> Self {
        Self(None)
    }

    /// As that policy says; it is made with how many entities its lane may have.
    pub fn by(make: impl Fn(usize) -> Box<dyn Policy> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(make)))
    }
}

impl fmt::Debug for Passivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Passivation(own)" } else { "Passivation(least recently used)" })
    }
}
