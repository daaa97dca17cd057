//! Which codecs a node can read.

use super::CodecId;

/// A set of codecs, one byte in the handshake: bit 0 is the codec of number 1.
///
/// Bits that this version has no codec for are kept, and mean nothing to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codecs(u8);

impl Codecs {
    /// What is built in here.
    pub fn built_in() -> Self {
        CodecId::ALL.into_iter().filter(|codec| codec.is_built_in()).collect()
    }

    /// The set with that mask.
    pub const fn from_mask(mask: u8) -> Self {
        Self(mask)
    }

    /// Its mask.
    pub const fn mask(self) -> u8 {
        self.0
    }

    /// Whether the codec is in it.
    #[inline]
    pub const fn contains(self, codec: CodecId) -> bool {
        self.0 & bit(codec) != 0
    }

    /// What is in both.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<CodecId> for Codecs {
    fn from_iter<I: IntoIterator<Item = CodecId>>(codecs: I) -> Self {
        Self(codecs.into_iter().fold(0, |mask, codec| mask | bit(codec)))
    }
}

const fn bit(codec: CodecId) -> u8 {
    1 << (codec.number() - 1)
}
