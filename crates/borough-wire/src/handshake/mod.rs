//! Who is there, which version is spoken, and a proof of the shared secret: four messages before the first frame.
//!
//! ```text
//! dialer                                       acceptor
//!   | 1 Hello: who I am, whom I want, a nonce     |
//!   | ------------------------------------------> |
//!   |        2 Challenge: the version, a nonce    |
//!   | <------------------------------------------ |  or Refused
//!   | 3 Proof: HMAC("borough dialer", 1, 2)       |
//!   | ------------------------------------------> |
//!   |  4 Accepted: who I am, limits, where to     |
//!   |    resume, HMAC("borough acceptor", 1 to 4) |
//!   | <------------------------------------------ |  or Refused
//!
//! each message: [length u16: bytes after it]["BORO"][kind u8][fields], numbers little-endian, texts with a u16 length
//! ```
//!
//! The promise: a stranger makes a node hold at most [`BEFORE_AUTHENTICATION`] bytes; whoever does not know the secret gets no
//! further than message 3 and learns the spoken versions, and whether a name or a uid that it guessed is right; both nonces are in both proofs, so a recorded
//! connection is worth nothing, with a secret or without; every byte of the messages is in the last proof, so nothing can be
//! changed on the way, the versions included. What follows the handshake is protected by the transport or not at all.
//!
//! Nothing here reads or writes a connection: [`missing`] says how many bytes to read, [`Dialer`] and [`Acceptor`] take whole
//! messages and append what is to be sent.

mod acceptor;
mod dialer;
mod error;
mod identity;
mod lane;
mod layout;
mod messages;
mod proof;
mod refusal;
mod secret;
#[cfg(test)]
mod tests;
mod versions;

pub use self::acceptor::{Acceptor, Peer, Proven};
pub use self::dialer::{Call, Dialer, Link};
pub use self::error::HandshakeError;
pub use self::identity::{Identity, Nonce};
pub use self::lane::Lane;
pub use self::layout::missing;
pub(crate) use self::messages::{Accepted, Challenge, Hello, Proof};
pub use self::refusal::{Reason, Refusal};
pub use self::secret::{Secret, SecretTooShort};
pub use self::versions::{SPOKEN, Versions};

#[cfg(doc)]
use crate::limits::BEFORE_AUTHENTICATION;
