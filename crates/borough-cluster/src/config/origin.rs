//! Where the value of a setting came from.

use std::fmt;
use std::path::PathBuf;

/// Where the value of a setting came from. Later ones win: a default, a file, the environment, code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingOrigin {
    /// Nobody said anything.
    Default,
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        name: String,
    },
    /// A call of a builder.
    Code,
}

impl SettingOrigin {
    /// Whether it is a file or the environment.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Environment { .. })
    }

    /// The layer of settings that it is in, in words: "code", the path of a file, "the environment".
    pub(crate) fn layer(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File { path, .. } => path.display().to_string(),
            Self::Environment { .. } => "the environment".to_owned(),
            Self::Code => "code".to_owned(),
        }
    }

    /// The higher wins.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment { .. } => 2,
            Self::Code => 3,
        }
    }
}

/// As a listing shows it: `default`, `borough.toml:3`, `env BOROUGH_NODE_LISTEN`, `code`.
impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { name } => write!(f, "env {name}"),
            Self::Code => f.write_str("code"),
        }
    }
}

/// A setting as it is in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingRow {
    /// Its key, as `cluster.max_pause` or `sharding.types.accounts.shards`.
    pub key: String,
    /// Its value, with unit; `none` where nothing is set, and never a secret.
    pub value: String,
    /// Where that came from.
    pub origin: SettingOrigin,
}

/// As an error names it.
impl fmt::Display for SettingRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.origin)
    }
}
