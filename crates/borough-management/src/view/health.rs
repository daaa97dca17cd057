//! Whether a node is well.

use serde::{Deserialize, Serialize};

/// Whether a node lives, or may be sent work: `GET /health/live`, `GET /health/ready`. The status is 200 if so, 503 otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Whether it is so.
    pub ok: bool,
    /// Which node answers.
    pub node: String,
    /// How it stands to its cluster.
    pub standing: String,
    /// What is missing, in words, if it is not so.
    pub why: Option<String>,
}
