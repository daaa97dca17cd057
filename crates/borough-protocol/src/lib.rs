//! The rules of a Borough cluster as pure state machines.
//!
//! Nothing here knows a runtime, a clock, a socket or chance: [`Machine::handle`] takes a moment and an input and writes
//! down effects. Two drivers run the same code: the shells of `borough-cluster` and the simulator of `borough-testkit`.
#![no_std]
#![deny(clippy::wildcard_enum_match_arm)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod detector;
pub mod disk;
pub mod flaws;
pub mod formation;
pub mod gossip;
pub mod heartbeat;
pub mod incarnation;
pub mod lease;
pub mod log;
pub mod machine;
pub mod node;
pub mod office;
pub mod random;
pub mod settings;
pub mod sharding;
pub mod store;
pub mod table;
pub mod time;
pub mod vector_clock;
pub mod version;
pub mod voters;
#[cfg(feature = "serde")]
mod wire;

pub use self::machine::{Effects, Machine};
