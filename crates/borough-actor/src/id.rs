//! Who an actor is, within its system.

use std::fmt;

/// Names one actor of a system, never another one: a place in the registry, and which use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActorId {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

impl ActorId {
    /// The id of nobody who ever lived.
    pub(crate) const NOBODY: Self = Self { place: u32::MAX, generation: u32::MAX };
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.place, self.generation)
    }
}
