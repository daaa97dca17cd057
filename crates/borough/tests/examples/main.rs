//! Each example is run as a user would run it, and what it prints is checked.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod nodes_in_one_process;
mod program;
mod readmes;
mod several_processes;
mod with_others;
mod without_a_cluster;
