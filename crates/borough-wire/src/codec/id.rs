//! Which codec wrote a body: four bits in the head of a frame.

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "json")]
use super::Json;
#[cfg(feature = "message-pack")]
use super::MessagePack;
use super::{Codec, CodecError, Postcard};

/// The codec of a body. Its number is its place on the wire and never changes; 0 is no codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum CodecId {
    /// Compact, and without field names: the default. Always built in.
    Postcard = 1,
    /// `MessagePack` with field names, behind the feature `message-pack`.
    MessagePack = 2,
    /// JSON, behind the feature `json`.
    Json = 3,
}

impl CodecId {
    /// All codecs that this version has a number for, built in or not.
    pub const ALL: [Self; 3] = [Self::Postcard, Self::MessagePack, Self::Json];

    /// The codec of that number, if this version knows it.
    #[inline]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Postcard),
            2 => Some(Self::MessagePack),
            3 => Some(Self::Json),
            _ => None,
        }
    }

    /// Its number on the wire, 1 to 15.
    #[inline]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether it was built into this program.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::Postcard => true,
            Self::MessagePack => cfg!(feature = "message-pack"),
            Self::Json => cfg!(feature = "json"),
        }
    }

    /// Appends the bytes of a value, as this codec has them.
    ///
    /// # Errors
    /// As [`Codec::encode`]; [`CodecError::Absent`] if the codec is not built in.
    #[inline]
    pub fn encode<T: Serialize + ?Sized>(self, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match self {
            Self::Postcard => Postcard::encode(value, out),
            #[cfg(feature = "message-pack")]
            Self::MessagePack => MessagePack::encode(value, out),
            #[cfg(feature = "json")]
            Self::Json => Json::encode(value, out),
            #[cfg(not(all(feature = "message-pack", feature = "json")))]
            absent => Err(absent.absent()),
        }
    }

    /// Makes a value of all of the bytes, as this codec has them.
    ///
    /// # Errors
    /// As [`Codec::decode`]; [`CodecError::Absent`] if the codec is not built in.
    #[inline]
    pub fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, CodecError> {
        match self {
            Self::Postcard => Postcard::decode(bytes),
            #[cfg(feature = "message-pack")]
            Self::MessagePack => MessagePack::decode(bytes),
            #[cfg(feature = "json")]
            Self::Json => Json::decode(bytes),
            #[cfg(not(all(feature = "message-pack", feature = "json")))]
            absent => Err(absent.absent()),
        }
    }

    /// As [`CodecId::decode`], with the value left in `place`: see [`Codec::decode_into`].
    ///
    /// # Errors
    /// As [`CodecId::decode`].
    #[inline]
    pub fn decode_into<T: DeserializeOwned>(
        self,
        bytes: &[u8],
        place: &mut Option<T>,
    ) -> Result<(), CodecError> {
        match self {
            Self::Postcard => Postcard::decode_into(bytes, place),
            #[cfg(feature = "message-pack")]
            Self::MessagePack => MessagePack::decode_into(bytes, place),
            #[cfg(feature = "json")]
            Self::Json => Json::decode_into(bytes, place),
            #[cfg(not(all(feature = "message-pack", feature = "json")))]
            absent => {
                *place = None;
                Err(absent.absent())
            }
        }
    }

    #[cfg(not(all(feature = "message-pack", feature = "json")))]
    fn absent(self) -> CodecError {
        let feature = if self == Self::MessagePack { "message-pack" } else { "json" };
        CodecError::Absent { codec: self, feature }
    }
}

impl core::fmt::Display for CodecId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Postcard => "postcard",
            Self::MessagePack => "MessagePack",
            Self::Json => "JSON",
        })
    }
}
