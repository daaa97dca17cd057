//! How the body of a message becomes bytes: three codecs, and a number for each.
//!
//! The promise: encoding appends to a buffer without one of its own; decoding takes all bytes or none, so that a body with
//! something left over is refused. `docs/compatibility.md` says what may change in a message with each of them.
//!
//! | codec | field names | a field may be added while nodes of both versions run |
//! |---|---|---|
//! | [`Postcard`] | no | no: send another message type, or add a variant at the end of an enum |
//! | `MessagePack` (feature `message-pack`) | yes | yes, with `#[serde(default)]` |
//! | `Json` (feature `json`) | yes | yes, with `#[serde(default)]` |

mod error;
mod id;
#[cfg(feature = "json")]
mod json;
mod mask;
#[cfg(feature = "message-pack")]
mod message_pack;
mod postcard;
#[cfg(test)]
mod tests;

pub use self::error::CodecError;
pub use self::id::CodecId;
#[cfg(feature = "json")]
pub use self::json::Json;
pub use self::mask::Codecs;
#[cfg(feature = "message-pack")]
pub use self::message_pack::MessagePack;
pub use self::postcard::Postcard;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// One way to make bytes of values. Those here are all there are: each has a number that every node knows.
pub trait Codec: sealed::Sealed {
    /// Its number.
    const ID: CodecId;

    /// Appends the bytes of a value.
    ///
    /// # Errors
    /// [`CodecError::Encode`] if the value's own code refuses or the codec cannot express it; the buffer is as it was then.
    fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Makes a value of all of the bytes.
    ///
    /// # Errors
    /// [`CodecError::Decode`] if they are no such value, [`CodecError::Trailing`] if something is left over.
    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError>;

    /// As [`decode`](Self::decode), with the value left in `place`, which is empty if there is none. For values of some size, which cost
    /// more to hand from call to call than to read.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    #[inline]
    fn decode_into<T: DeserializeOwned>(bytes: &[u8], place: &mut Option<T>) -> Result<(), CodecError> {
        *place = None;
        *place = Some(Self::decode(bytes)?);
        Ok(())
    }
}

/// Keeps others from having a [`Codec`] of their own, which would have no number.
mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Postcard {}
    #[cfg(feature = "message-pack")]
    impl Sealed for super::MessagePack {}
    #[cfg(feature = "json")]
    impl Sealed for super::Json {}
}
