//! One cluster, always: cuts, crashes and restarts with whole nodes, on a network inside the process and with stopped time.
//!
//! Every entity is a counter that notes each turn in a history outside of the nodes; `checker` judges that history.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod bad_links;
mod checker;
mod counter;
mod crash_points;
mod crashing;
mod cutting;
mod discovering;
mod durable;
#[path = "../sharding/hearing.rs"]
mod hearing;
mod history;
mod losing;
mod rig;
mod rolling;
mod situations;
