//! Entities spread over nodes: whole nodes on a network in memory, with simulated time.

#[path = "../nodes/rig.rs"]
mod rig;

mod asking;
mod basics;
mod book;
mod failing;
mod moving;
mod setting_up;
