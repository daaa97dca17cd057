//! What travels after the handshake: frames, one after the other, all numbers little-endian.
//!
//! ```text
//! [length u32: bytes after it][kind u8][flags u8][fields by kind][parts by flag][body]
//!
//! flags   bit 0 deadline part: u32, milliseconds left      bit 2 chain part: u16 length and bytes, skipped by this version
//!         bit 1 trace part: 16 + 8 + 1 bytes               bits 4 to 7 the codec of the body; bit 3 is free
//!
//! kind            fields                                   flags            body
//!  1 Tell         target u64                               trace chain codec message
//!  2 Ask          target u64, ask u64                      all three, codec  message
//!  3 Answer       ask u64                                  codec             message
//!  4 Lost         ask u64, why u8
//!  5 Interrupt    target u64, what u8
//!  6 Watch        target u64, watch u64
//!  7 Unwatch      target u64, watch u64
//!  8 Terminated   watch u64, reason u8
//!  9 LookUp       request u64, type name, path             (a text is a u16 length and UTF-8)
//! 10 Found        request u64, outcome u8, target u64, text
//! 11 Chunk        last u8 (0 or 1)                                           part of a larger message, not empty
//! 12 Ack          position u64
//! 13 Control                                                                 opaque
//! ```
//!
//! A message larger than a frame is cut into consecutive `Chunk`s of one lane; together their bodies are one frame without its
//! length. There is no ping: heartbeats on the control lane show that the peer lives, a lane with something to lose notices by missing
//! acknowledgements that it is broken, and an idle lane has nothing to lose.
//!
//! The promise: a frame is read in place, without a copy and without an allocation; one that breaks a rule above is a
//! [`FrameError`], after which the connection is to be closed; there is exactly one way to write a frame without a chain.

mod answers;
mod assembler;
mod buffer;
mod decode;
mod error;
mod flags;
mod front;
mod kind;
mod open;
mod plain;
mod put;
mod run;
#[cfg(test)]
mod tests;
mod trace;
mod view;

pub use self::answers::{Answer, Answers};
pub use self::assembler::{Assembler, ChunkError};
pub use self::buffer::FrameBuffer;
pub use self::error::{FrameError, TooLarge};
pub use self::kind::Kind;
pub use self::open::Open;
pub use self::plain::Plain;
pub use self::put::{put_ack, put_answer, put_ask, put_chunks, put_control, put_tell};
pub use self::run::Run;
pub use self::trace::Trace;
pub use self::view::Frame;
