//! What voters keep on disk: what the first version wrote is read by every later one.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod bytes;
mod directories;
mod history;
