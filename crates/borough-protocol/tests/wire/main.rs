//! The form of messages on the wire: what is frozen, what is read back, what is refused, how large it is.
//!
//! `golden` freezes bytes of every variant, `round_trip` lets whole clusters live on what was written and read again, `refused` has
//! one case for each value that must not come out of bytes, `size` compares with the machine's own estimate. What bytes that nobody
//! wrote do is a program of its own, in `fuzz`.

mod codec;
mod files;
mod golden;
#[path = "../hostile/net.rs"]
#[expect(dead_code, reason = "others use the rest")]
mod net;
#[path = "../hostile/pieces.rs"]
mod pieces;
mod refused;
mod round_trip;
mod samples;
mod size;
mod town;
mod variants;
#[path = "../hostile/words.rs"]
mod words;
