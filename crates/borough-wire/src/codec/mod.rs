//! How the body of a message becomes bytes.

mod id;

pub use self::id::CodecId;
