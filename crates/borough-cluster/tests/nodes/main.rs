//! Whole nodes: forming, joining, leaving, crashing and coming back, on a network inside the process and with stopped time.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod answering;
mod blocking;
mod certificates;
mod data_directory;
mod ending_on_disk;
mod finding;
mod flowing;
mod forming;
mod gathering;
mod going;
mod golden_directories;
#[path = "../sharding/hearing.rs"]
mod hearing;
mod recovering;
mod repeating;
mod returning;
mod rig;
mod setting;
mod starting;
mod stuck_disk;
mod talking;
mod waiting;
mod watching;
