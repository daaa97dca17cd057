//! The foundings that a cluster succeeded.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Cluster;

/// How many foundings a cluster remembers to have succeeded.
const ANCESTORS_MAX: usize = 16;

/// How far ahead of a cluster's own era, or of a founder's clock, another era may be, in seconds: ten years.
const ERA_AHEAD_MAX: u32 = 10 * 366 * 24 * 60 * 60;

/// Whether an era lies so far beyond `own` that it is the error of a clock or of a store, and not followed.
pub(super) const fn is_far_ahead(era: u32, own: u32) -> bool {
    era >= own.saturating_add(ERA_AHEAD_MAX)
}

/// The foundings that a cluster succeeded: by an operator's order to recover, or because all of their voters were gone when it was founded.
///
/// Nodes of those that have no quorum yield to it at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ancestors(
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))] Arc<[Cluster]>,
);

impl Ancestors {
    /// The newest of these.
    pub fn of(clusters: impl IntoIterator<Item = Cluster>) -> Self {
        let mut all: Vec<Cluster> = clusters.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        let newest = all.split_off(all.len().saturating_sub(ANCESTORS_MAX));
        Self(newest.into())
    }

    /// Whether that founding is one of them.
    pub fn has(&self, cluster: Cluster) -> bool {
        self.0.contains(&cluster)
    }

    /// The oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Cluster> + '_ {
        self.0.iter().copied()
    }

    /// An era above all of theirs, `own` at least. One that lies far beyond it is the error of a clock, and not followed.
    pub fn era_above(&self, own: u32) -> u32 {
        let sound = self.iter().map(|cluster| cluster.era).filter(|era| !is_far_ahead(*era, own));
        sound.max().map_or(own, |newest| own.max(newest.saturating_add(1)))
    }

    /// Those whose era is far beyond `own`, and not followed.
    pub fn far_ahead(&self, own: u32) -> impl Iterator<Item = Cluster> + '_ {
        self.iter().filter(move |cluster| is_far_ahead(cluster.era, own))
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}
