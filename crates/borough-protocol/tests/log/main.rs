//! The log as its users meet it: the trait [`Log`], its carrier on noraft, and a toy that can be broken.
//!
//! `judge` knows what must hold, whatever carries the log. `group` runs a few logs by hand, `rig` by chance from a seed.
//!
//! [`Log`]: borough_protocol::log::Log

mod carrier;
mod delays;
mod directed;
mod durable;
mod flaws;
mod group;
mod judge;
mod malformed;
mod rig;
mod seeds;
mod toy;
