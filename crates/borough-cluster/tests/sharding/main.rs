//! Entities spread over nodes: whole nodes on a network in memory, with simulated time.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

#[path = "../nodes/rig.rs"]
mod rig;

mod addressing;
mod apart;
mod asking;
mod basics;
mod book;
#[cfg(feature = "message-pack")]
mod codecs;
mod counting;
mod crowding;
mod draining;
mod failing;
mod fencing;
mod hearing;
mod holding;
mod lacking;
mod leaving;
mod listing;
mod moving;
mod order;
mod recovering;
mod runtime_gone;
mod saturated;
mod second_life;
mod setting_up;
mod starting;
mod stuck;
mod wedged;
