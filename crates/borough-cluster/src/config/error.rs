//! Why settings are refused: where, which, and what would do.

use std::io;
use std::path::PathBuf;

use super::{SettingOrigin, SettingRow};
use crate::durability::DurabilityError;

/// Settings that cannot be used. Nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read, or is no text.
    #[error("cannot read the settings from {}: {source}; check the path and who may read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{place}: {message}; write TOML, as `max_pause = \"400 ms\"` below `[cluster]`")]
    Syntax {
        /// Where.
        place: SettingOrigin,
        /// What the reader stumbled over.
        message: String,
    },
    /// There is no such setting.
    #[error("{place}: there is no setting {key}; {}", .nearest.as_ref().map_or_else(
        || "docs/settings.md has all of them".to_owned(),
        |nearest| format!("did you mean {nearest}?")
    ))]
    Unknown {
        /// Where it was said.
        place: SettingOrigin,
        /// What was said.
        key: String,
        /// The right name that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("{place}: {key} is {value}; write {allowed}")]
    Value {
        /// Where it was said.
        place: SettingOrigin,
        /// The setting.
        key: String,
        /// What it was to be, cut short; never a secret.
        value: String,
        /// What it may be.
        allowed: String,
    },
    /// Settings that leave open whether the cluster is to survive its processes: neither `node.data_dir` nor `node.volatile` beyond loopback, or both.
    #[error("{}: {error}", listed(.settings))]
    Durability {
        /// The settings, with where each was said.
        settings: Vec<SettingRow>,
        /// What is wrong, and what to do.
        error: DurabilityError,
    },
    /// Settings that do not go together, or that would break what the cluster promises.
    #[error("{}: {why}", listed(.settings))]
    Unsafe {
        /// The settings, with where each was said.
        settings: Vec<SettingRow>,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl ConfigError {
    /// The line of the file, if it is one.
    pub(super) fn line(&self) -> Option<usize> {
        match self {
            Self::Syntax { place, .. } | Self::Unknown { place, .. } | Self::Value { place, .. } => {
                match place {
                    SettingOrigin::File { line, .. } => Some(*line),
                    _ => None,
                }
            }
            Self::Unreadable { .. } | Self::Durability { .. } | Self::Unsafe { .. } => None,
        }
    }
}

fn listed(settings: &[SettingRow]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
