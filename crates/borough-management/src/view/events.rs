//! What happens, as it happens.

use serde::{Deserialize, Serialize};

use super::losses::StateLoss;

/// Something happened: one of `GET /api/events`, as a server-sent event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterEvent {
    /// The number of the event in this process: one more each time, so that who misses some notices. 0 for the word that they begin anew.
    pub number: u64,
    /// When, in milliseconds since 1970 by the clock of the node that tells.
    pub at_millis: u64,
    /// Which node tells.
    pub seen_by: String,
    /// What kind of event.
    pub what: EventKind,
    /// Which node it is about.
    pub node: Option<String>,
    /// Which type it is about.
    pub kind: Option<String>,
    /// Which shard.
    pub shard: Option<u32>,
    /// What the node dropped, if it gave up its part in a cluster.
    #[serde(default)]
    pub loss: Option<StateLoss>,
    /// All of it in one sentence.
    pub text: String,
}

/// What kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventKind {
    /// A member came, or went on to another state.
    Member,
    /// A member cannot be reached, or can be again.
    Reachability,
    /// Another node coordinates.
    Coordinator,
    /// A shard has a new owner, and begins anew there.
    Allocated,
    /// A shard is to move.
    Moving,
    /// A shard has moved.
    Moved,
    /// A move does not take place.
    CalledOff,
    /// The node that tells has no lease, or has one again.
    Lease,
    /// The node that tells gave up its part in a cluster, and dropped all it hosted.
    StateLost,
    /// The data directory of the node that tells takes no writes, or takes them again.
    DataDirectory,
    /// Events were missed, how many is in the text; or may have been, because the node's process is another.
    Missed,
    /// Anything else, also what a newer node tells and this program does not know.
    #[serde(other)]
    Other,
}
