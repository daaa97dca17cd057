//! What keeps a cluster together: the connections of the control lane, the driver of the machine, the thread they run on.
//!
//! ```text
//!   others --> gate.rs --> inbound.rs --+                    +--> peers.rs --> outbound.rs --> others
//!                                       v                    |
//!   Node (commands) -------------> driver.rs: the machine --> hands.rs --> topology, links
//!                                       ^                    |
//!                                  lives.rs <---- the end ---+
//! ```
//! Promise: nothing here waits for user code. What is sent may be lost, and is counted then; what cannot be read closes one connection.

mod addresses;
mod backoff;
mod counts;
mod dial;
mod disk;
mod driver;
mod driver_waker;
mod gate;
mod hands;
mod inbound;
mod lives;
mod outbound;
mod outlook;
mod peers;
mod queue;
#[cfg(test)]
mod tests;
mod thread;
mod waiting;
mod watchdog;
mod words;

pub use self::counts::ControlCounts;
pub(crate) use self::disk::Condition;
pub use self::disk::{DataDirectoryState, DataDirectoryStats};
pub(crate) use self::thread::{Control, Home, Setup};
