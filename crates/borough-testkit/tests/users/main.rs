//! What the test kit gives to users, used as they would use it.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod account;
mod cluster;
mod probe;
mod simulation;
mod time;
