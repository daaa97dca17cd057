//! Nodes of a Borough cluster on a real network: the shells around the rules of `borough-protocol`.
//!
//! Nothing is decided here. A shell carries bytes, keeps time, and does what a machine says.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod chance;
mod clock;
mod door;
mod link;
mod myself;
mod security;
mod transport;

pub use borough_wire::handshake::{Secret, SecretTooShort};

pub use self::door::refusals::{Refusal, RefusalCounts};
pub use self::myself::Myself;
pub use self::security::{SecretError, SecurityError, secret_from_env, secret_from_file};
pub use self::transport::tls::{Tls, TlsError};

/// For tests and simulations of whole nodes; no part of the interface that is kept stable.
#[doc(hidden)]
pub mod testing {
    pub use crate::transport::memory::{MemoryNetwork, MemoryTransport};
}
