//! Who is there.

use serde::{Deserialize, Serialize};

/// The cluster as one node sees it: `GET /api/members`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// What the cluster is called.
    pub cluster: String,
    /// Which node answers.
    pub seen_by: String,
    /// How that node stands to the cluster: `member`, `joining`, `suspended`, ...
    pub standing: String,
    /// Why it does not work, and what helps, if it does not.
    pub advice: Option<String>,
    /// How far the table has come that it follows, as `term.index`.
    pub version: String,
    /// Who coordinates, if the node knows.
    pub coordinator: Option<String>,
    /// How many voters more may be lost at once, with the cluster still able to decide.
    pub tolerates: usize,
    /// All members, the oldest first.
    pub members: Vec<Member>,
}

/// One member, or one that wants to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What people call it.
    pub node: String,
    /// Where it listens.
    pub address: String,
    /// Which of its lives it is.
    pub uid: String,
    /// `joining`, `weakly-up`, `up`, `leaving`, `exiting`, `down` or `removed`.
    pub state: String,
    /// Whether nobody says that it cannot be reached.
    pub is_reachable: bool,
    /// Whether it votes on what is decided.
    pub is_voter: bool,
    /// Whether it has the decisions written down.
    pub is_coordinator: bool,
    /// How suspicious its silence is to the node that answers, in thousandths; `None` if that one does not watch it.
    pub phi_milli: Option<u64>,
    /// What it may be used for.
    pub roles: Vec<String>,
    /// The version of its program; empty if nobody said.
    pub app_version: String,
    /// The zone it stands in; empty if nobody said.
    pub zone: String,
    /// Where its own management listens, if it said.
    pub management: Option<String>,
}
