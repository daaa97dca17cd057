//! What a node is set to.

use serde::{Deserialize, Serialize};

/// Every setting of one node: `GET /api/settings`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Which node answers.
    pub seen_by: String,
    /// In the order of the page of settings; types of entities at the end.
    pub settings: Vec<Setting>,
}

/// A setting as it is in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its key, as `cluster.max_pause` or `sharding.types.accounts.shards`.
    pub key: String,
    /// Its value, with unit; never a secret.
    pub value: String,
    /// Where that came from: `default`, `borough.toml:3`, `env BOROUGH_NODE_LISTEN`, `code`.
    pub origin: String,
}
