//! The bytes between nodes: frames, handshake, versions, codecs, limits.
//!
//! It does not know what a message means, and it knows neither a runtime nor sockets: everything here is a pure function or a
//! small state machine over byte slices. The promise: whatever bytes a peer sends, nothing panics, nothing is allocated beyond
//! [`limits`], nothing loops, and what is wrong is said by a typed error.
//!
//! ```text
//! connect -- handshake (4 messages, each within 4 KiB) --> frames, one after the other
//!                                                           `-- the body of a tell, ask or answer: a codec's bytes
//! ```
#![deny(clippy::wildcard_enum_match_arm)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bytes;
pub mod codec;
pub mod frame;
#[doc(hidden)]
pub mod fuzz;
pub mod handshake;
pub mod limits;
