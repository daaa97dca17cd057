//! What tests are made of: of your actors and entities, and of Borough itself.
//!
//! - [`Probe`] is an actor that stands in for another and says what it was told.
//! - [`ManualTime`] moves the stopped clock of a test, deadline by deadline.
//! - [`TestCluster`] is a whole cluster inside one test, with nodes to crash and a network to cut.
//! - [`Simulation`] runs your own entities in whole clusters, one for each seed, under crashes, cuts, joins and leaves, and checks what you say must hold.
//!
//! The other modules are Borough's own: `sim` runs whole clusters from one seed and checks the rules after every step, `shells` runs whole nodes, actors
//! and connections included, from one seed, and `scale` runs one large cluster and measures what it costs. They are no part of the interface
//! that is kept stable.

#[cfg(feature = "nodes")]
mod cluster;
#[cfg(feature = "nodes")]
mod probe;
#[doc(hidden)]
pub mod scale;
#[cfg(feature = "nodes")]
#[doc(hidden)]
pub mod shells;
#[doc(hidden)]
pub mod sim;
#[cfg(feature = "nodes")]
mod simulation;
#[cfg(feature = "nodes")]
mod time;

#[cfg(feature = "nodes")]
pub use self::cluster::{TestCluster, TestClusterBuilder, TestClusterError};
#[cfg(feature = "nodes")]
pub use self::probe::{PROBE_PATIENCE, PROBE_SILENCE, Probe};
#[cfg(feature = "nodes")]
pub use self::simulation::{
    Fate, Faults, History, SEED_VARIABLE, Sent, Simulation, SimulationFailure, SimulationSummary,
};
#[cfg(feature = "nodes")]
pub use self::time::ManualTime;
pub use borough_protocol::random::Random;

/// The programs in the chapter on tests are compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
struct Testing;
