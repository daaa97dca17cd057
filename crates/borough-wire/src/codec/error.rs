//! What can go wrong between a value and its bytes.

use core::any::type_name;

use super::CodecId;

/// A value that did not become bytes, or bytes that did not become a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The value has no bytes in this codec. Nothing was appended.
    #[error(
        "{type_name} cannot be encoded with {codec}: {why}; change the type, or choose another codec for it"
    )]
    Encode {
        /// The type.
        type_name: &'static str,
        /// The codec.
        codec: CodecId,
        /// What the codec says.
        why: String,
    },
    /// The bytes are no such value.
    #[error("no {type_name} can be decoded with {codec}: {why}; do both nodes have the same type?")]
    Decode {
        /// The type.
        type_name: &'static str,
        /// The codec.
        codec: CodecId,
        /// What the codec says.
        why: String,
    },
    /// The bytes go on behind the value.
    #[error(
        "{left} bytes are left over behind a {type_name} decoded with {codec}; do both nodes have the same type?"
    )]
    Trailing {
        /// The type.
        type_name: &'static str,
        /// The codec.
        codec: CodecId,
        /// How many bytes.
        left: usize,
    },
    /// The codec is not built in.
    #[error("{codec} is not built in: switch on the feature `{feature}` of borough-wire, on every node")]
    Absent {
        /// The codec.
        codec: CodecId,
        /// The feature that has it.
        feature: &'static str,
    },
}

impl CodecError {
    pub(super) fn encode<T: ?Sized>(codec: CodecId, why: &impl ToString) -> Self {
        Self::Encode { type_name: type_name::<T>(), codec, why: why.to_string() }
    }

    #[cold]
    pub(super) fn decode<T>(codec: CodecId, why: &impl ToString) -> Self {
        Self::Decode { type_name: type_name::<T>(), codec, why: why.to_string() }
    }

    #[cold]
    pub(super) fn trailing<T>(codec: CodecId, left: usize) -> Self {
        Self::Trailing { type_name: type_name::<T>(), codec, left }
    }
}
