//! The store of a node: what it promises, over real files.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[cfg(unix)]
mod crash;
mod damage;
mod fencing;
mod full_disk;
mod golden;
mod inspecting;
mod opening;
mod readers;
mod resetting;
#[cfg(unix)]
mod rights;
mod sample;
mod torn;
mod workload;
mod writer;
mod writing;
