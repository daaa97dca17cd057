//! What a user may set, checked before anything uses it.
//!
//! The promise: a machine sees [`Checked`] settings only, and settings that would break what the cluster promises never
//! become that: they are refused at the start ([`Unsafe`]) or at the join ([`Refusal`]), in words that name the setting.
//!
//! ```text
//! Settings --Checked::new--> Checked { Settings, Timing, ClusterSettings }
//!    |
//!    `--------------------> Unsafe
//! ```

pub mod checked;
pub mod cluster;
pub mod refusal;
pub mod strategy;
#[cfg(test)]
mod tests;
pub mod timing;

pub use self::checked::Checked;
pub use self::cluster::{ClusterSettings, Versions, check};
pub use self::refusal::{Refusal, Unsafe};
pub use self::strategy::Strategy;
pub use self::timing::Timing;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

/// Which failure detector judges silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorKind {
    /// It learns the rhythm of each peer; see [`PhiAccrual`](crate::detector::PhiAccrual).
    Phi,
    /// It knows one bound; see [`DeadlineDetector`](crate::detector::DeadlineDetector).
    Deadline,
}

/// What a user set, unchecked. [`Checked::new`] makes it usable.
///
/// `cluster`, `strategy`, `max_pause`, `round_trip`, `drift_per_mille`, `max_voters` and `durable` (said as `data_dir`) must be the same on all nodes: a
/// node that differs is refused when it joins. The others may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the cluster is called. Default `borough`. Nodes of another name are refused.
    pub cluster: String,
    /// The longest freeze that a healthy node may show, in time. Default 400 ms. All of [`Timing`] follows from it:
    /// raised, slower nodes keep their leases and every fail-over takes longer.
    pub max_pause: Duration,
    /// What a message and its answer may take between healthy nodes, in time. Default 100 ms. Raised, slower networks are
    /// borne and every fail-over takes longer.
    pub round_trip: Duration,
    /// How far the rate of a clock may be off, in thousandths. Default 100, below 500. Raised, worse clocks are safe and
    /// a lost owner is replaced later.
    pub drift_per_mille: u32,
    /// The longest fail-over that is acceptable, in time. Default 3.5 s. It changes no timing: it only refuses settings
    /// whose timing would exceed it.
    pub failover_target: Duration,
    /// How many members vote at most, a count, odd. Default 5. Raised, more losses at once are survived and each decision
    /// needs more answers.
    pub max_voters: usize,
    /// Which quorum system decides. Default [`Strategy::KeepMajority`].
    pub strategy: Strategy,
    /// How many members must be there before the first is admitted, a count. Default 1.
    pub minimum_members: usize,
    /// How many members of a role must be there before the first is admitted, a count for each role. Default none.
    pub minimum_per_role: BTreeMap<String, usize>,
    /// How often a node gossips while nothing is new, in time. Default 1 s. Lowered, views agree sooner and more is sent.
    pub gossip_interval: Duration,
    /// How often a node sends heartbeats to each peer that it monitors, in time. Default 1 s. Lowered, silence is noticed
    /// sooner and more is sent.
    pub heartbeat_interval: Duration,
    /// How many peers a node monitors, a count up to 32. Default 9. Raised, losing several monitors at once is less likely
    /// to leave a peer unwatched, and more is sent.
    pub monitors: usize,
    /// Which failure detector judges silence. Default [`DetectorKind::Phi`].
    pub detector: DetectorKind,
    /// The phi at which a peer is accused, in tenths, 10 to 160. Default 80, that is phi 8. Raised, fewer mistakes and
    /// later accusations.
    pub phi_threshold_tenths: u32,
    /// How many intervals between heartbeats the phi detector remembers, a count from 2 to 10 000. Default 100. Raised, it
    /// follows a changed rhythm later.
    pub phi_window: usize,
    /// The least standard deviation that the phi detector assumes, in time. Default 100 ms. Raised, a very regular peer is
    /// accused later when it falters.
    pub phi_min_deviation: Duration,
    /// Silence on top of the usual rhythm that is no reason to accuse, in time. Default 3 s. Raised, fewer mistakes and
    /// later accusations. A node that is itself slow multiplies it.
    pub acceptable_pause: Duration,
    /// How long the gossip remembers who was removed, in time. Default 24 h. Lowered, documents are smaller and a view that
    /// was cut off for longer could bring the dead back.
    pub tombstone_life: Duration,
    /// When an attempt to find a cluster through the seeds ends and the next begins, in time. Default 5 s.
    pub seed_timeout: Duration,
    /// How often the seeds are asked within an attempt, in time. Default 200 ms. Lowered, clusters form sooner and more is
    /// sent.
    pub seed_ask_interval: Duration,
    /// How long a removed voter goes on answering the log at most, in time. Default 4 s. Lowered, leaving ends sooner in
    /// the worst case, and a change of voters may miss its answer.
    pub linger: Duration,
    /// How long two more members must have been available before they become voters, in time. Default 5 s. Lowered, the
    /// list grows sooner and changes more often under churn.
    pub voters_settle: Duration,
    /// How many decisions are kept one by one before the table itself stands for them; default 256. Who is further behind is sent the
    /// whole table. More costs memory, and sends less to those who were away for a while.
    pub log_kept: usize,
    /// Whether voters keep their vote and log in a data directory; default no. All nodes of a cluster must agree.
    pub durable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cluster: "borough".to_owned(),
            max_pause: Duration::from_millis(400),
            round_trip: Duration::from_millis(100),
            drift_per_mille: 100,
            failover_target: Duration::from_millis(3500),
            max_voters: 5,
            strategy: Strategy::KeepMajority,
            minimum_members: 1,
            minimum_per_role: BTreeMap::new(),
            gossip_interval: Duration::from_secs(1),
            heartbeat_interval: Duration::from_secs(1),
            monitors: 9,
            detector: DetectorKind::Phi,
            phi_threshold_tenths: 80,
            phi_window: 100,
            phi_min_deviation: Duration::from_millis(100),
            acceptable_pause: Duration::from_secs(3),
            tombstone_life: Duration::from_secs(24 * 60 * 60),
            seed_timeout: Duration::from_secs(5),
            seed_ask_interval: Duration::from_millis(200),
            linger: Duration::from_secs(4),
            voters_settle: Duration::from_secs(5),
            log_kept: 256,
            durable: false,
        }
    }
}
