//! Windows into a cluster: what a node tells of it over HTTP, and what it can be told to do.
//!
//! ```text
//! connection --server--> guard (host, token, cross-site) --routes--> look/   what is told, read off the node     --> JSON, text
//!                                                               `--> orders  leave, drain, move, down            --> 202 and a sentence
//! topology, shard events --chronicle--> a ring of events --> listeners
//! steward: the actor by which the managements of a cluster reach each other
//! ```
//!
//! [`Management`] serves it beside a node. [`view`] is what is told, as values that both sides share: the node that answers, and the
//! program that asks. `openapi.json` describes all of it, and is served too.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bounded_writes;
mod builder;
mod bureau;
mod chronicle;
mod dashboard;
mod error;
mod guard;
mod look;
mod management;
mod metrics;
mod neighbours;
mod openapi;
mod orders;
mod problem;
mod reading;
mod routes;
mod server;
mod steward;
mod stream;
pub mod view;

pub use self::builder::{DEFAULT_LISTEN, ManagementBuilder};
pub use self::error::ManagementError;
pub use self::management::Management;
