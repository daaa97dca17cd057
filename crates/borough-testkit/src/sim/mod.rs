//! A seeded simulator of whole clusters.
//!
//! The machines are the real ones; time, network, processes and their faults are simulated, on one thread, from one seed. The
//! same seed gives the same run, bit for bit, on every machine: [`Outcome::trace_hash`] tells.
//!
//! A run has two phases. First faults strike, drawn up front as a [`Plan`](plan::Plan), and the safety rules
//! are checked after every step. Then everything heals, and the cluster has a bounded time to be whole again.

pub mod batch;
pub(crate) mod birth;
pub(crate) mod clock;
mod cover;
pub mod cuts;
mod disk;
pub mod fault;
mod guard;
mod invariants;
mod life;
mod meeting;
mod message_kind;
mod minimise;
pub mod moment;
pub mod network;
pub mod plan;
#[cfg(feature = "flaws")]
pub mod planted;
pub(crate) mod queue;
pub mod rare;
mod run;
mod sharding;
mod slots;
pub mod strike;
mod trace;
mod violation;
mod world;

pub use self::guard::guarded;
pub use self::minimise::minimise;
pub use self::run::{Outcome, run};
pub use self::sharding::{Load, Situation, Situations};
pub use self::trace::Lines;
pub use self::violation::Violation;
