//! Nodes of a Borough cluster on a real network: the shells around the rules of `borough-protocol`.
//!
//! Nothing is decided here. A shell carries bytes, keeps time, and does what a machine says.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod door;
mod link;
mod myself;
mod transport;

pub use self::myself::Myself;
