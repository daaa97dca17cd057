//! Large clusters: what they cost and how soon they agree, as their number grows.
//!
//! The machines, the queue, the network and the clocks are the simulator's. The rules that it checks after every step are
//! left to it; here it is looked now and then whether all agree, and in the end whether they have the very same. A
//! [`Scenario`] gives the same [`Course`] for the same seed.

mod agreement;
mod crowd;
mod phase;
mod scenario;
mod stage;
mod traffic;

pub use self::crowd::Role;
pub use self::phase::{Phase, Share};
pub use self::scenario::{Course, Scenario, crash_bound};
pub use self::traffic::{Kind, Tally, Traffic};
