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

impl ActorId {
    /// Set in the place of an entity: no registry has so many places.
    const ENTITY: u32 = 1 << 31;

    /// The entity of that hash.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    pub(crate) fn of_entity(hash: u64) -> Self {
        Self { place: (hash >> 32) as u32 | Self::ENTITY, generation: hash as u32 }
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.place, self.generation)
    }
}
