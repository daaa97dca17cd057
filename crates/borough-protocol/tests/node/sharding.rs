//! The coordinator and the reports: who hosts what, who gets which shard, how shards move, and how moves end.

mod balance;
mod draining;
#[cfg(feature = "flaws")]
mod flaws;
mod held_back;
mod moves;
mod owners;
mod raising;
mod reports;
mod town;
