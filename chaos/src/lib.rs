//! Real processes under real faults: a node to be harmed (`chaos-node`), and the harness that harms it (`chaos`).
//!
//! ```text
//! suite      which scenarios run, what is printed, which logs are kept
//! scenarios  what is done to a fleet, and what must hold
//! fleet      processes of one cluster: started, ordered, harmed, heard; whether they agree
//! ground     where they run: loopback, network namespaces, or behind proxies
//! strangers  those who are no nodes and connect all the same
//! janitor    removes what a harness that was killed has left
//! sharding   the same for entities: their scenarios, figures for the benchmark, an hour of load
//! history    what happened to every message, and whether that may be
//! program    the node itself              words  what it and the harness say to each other
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "command-line programs speak on them")]

mod fleet;
mod ground;
pub mod history;
pub mod janitor;
pub mod program;
mod scenarios;
pub mod sharding;
mod strangers;
pub mod suite;
pub mod words;
