//! What must be the same on all nodes of a cluster, as a joining node says it.
//!
//! The promise: two nodes that count a quorum or a lease differently are never in one cluster.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::{Refusal, Settings};

/// The versions of the protocol that a node speaks, from `min` up to and including `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Versions {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

impl Versions {
    /// What this build speaks.
    pub const SPOKEN: Self = Self { min: 1, max: 1 };

    /// The newest version that both speak; none if there is none.
    pub fn newest_common(self, other: Self) -> Option<u32> {
        let newest = self.max.min(other.max);
        (newest >= self.min && newest >= other.min).then_some(newest)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

/// A setting as it is compared: its name, and its value as text.
pub type Row = (String, String);

/// What must be the same on all nodes. A clone costs one count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClusterSettings {
    versions: Versions,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    rows: Arc<[Row]>,
}

/// Whether voters keep votes and log over restarts, by the name of the setting that decides it; its value is another one on each node, and not compared.
const DATA_DIR: &str = "data_dir";
const DURABLE: &str = "set";
const VOLATILE: &str = "not set (volatile)";

impl ClusterSettings {
    /// What these settings say.
    pub fn of(settings: &Settings) -> Self {
        let rows = [
            ("cluster", settings.cluster.clone()),
            ("strategy", settings.strategy.to_string()),
            ("max_pause", text(settings.max_pause)),
            ("round_trip", text(settings.round_trip)),
            ("drift_per_mille", settings.drift_per_mille.to_string()),
            ("max_voters", settings.max_voters.to_string()),
            (DATA_DIR, if settings.durable { DURABLE } else { VOLATILE }.to_string()),
        ];
        let rows = rows.into_iter().map(|(name, value)| (name.to_string(), value));
        Self { versions: Versions::SPOKEN, rows: rows.collect() }
    }

    /// What another node said.
    pub fn new(versions: Versions, rows: impl Into<Arc<[Row]>>) -> Self {
        Self { versions, rows: rows.into() }
    }

    /// The versions of the protocol that the node speaks.
    pub fn versions(&self) -> Versions {
        self.versions
    }

    /// The settings, in the order in which they are compared.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// About how many bytes it takes in a message.
    pub fn wire_size(&self) -> usize {
        let rows = self.rows.iter().map(|(name, value)| 4 + name.len() + value.len());
        10 + rows.sum::<usize>()
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.rows.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Whether a node that says `theirs` may be in a cluster with one that says `ours`; else the first difference.
///
/// Between nodes of different versions, a setting that only one of them names is one that the other does not know: the
/// versions, of which one must be known to both, answer for it.
pub fn check(ours: &ClusterSettings, theirs: &ClusterSettings) -> Result<(), Refusal> {
    if ours.versions.newest_common(theirs.versions).is_none() {
        return Err(Refusal {
            setting: Refusal::VERSIONS.to_string(),
            ours: ours.versions.to_string(),
            theirs: theirs.versions.to_string(),
        });
    }
    if Arc::ptr_eq(&ours.rows, &theirs.rows) || ours.rows == theirs.rows {
        return Ok(());
    }
    let same_version = ours.versions.max == theirs.versions.max;
    for (name, value) in ours.rows() {
        match theirs.value(name) {
            Some(other) if other == value => {}
            None if !same_version => {}
            other => {
                let theirs = other.unwrap_or("not set").to_string();
                return Err(Refusal { setting: name.clone(), ours: value.clone(), theirs });
            }
        }
    }
    Ok(())
}

/// The text of a time. Nodes of different builds compare it, so it is not left to `Duration`'s own.
fn text(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos.is_multiple_of(1_000_000) { format!("{} ms", nanos / 1_000_000) } else { format!("{nanos} ns") }
}
