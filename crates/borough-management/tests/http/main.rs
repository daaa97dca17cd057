//! Management of real nodes, asked over real connections: nodes and clients in one process, on loopback.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod blocked;
mod client;
mod events;
mod failing_disk;
mod fleet;
mod guarding;
mod hostile;
mod losing;
mod openapi;
mod ordering;
mod reading;
mod recovering;
mod secured;
mod starting;
mod stuck;
