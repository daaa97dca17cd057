//! Whole nodes whose one voter is a shared store, on a network that does what the test says.

mod chaos;
#[cfg(feature = "flaws")]
mod flaws;
mod formation;
mod leases;
#[path = "../shared/links.rs"]
mod links;
mod office;
mod rig;
mod sides;
