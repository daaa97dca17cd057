//! Which codec wrote a body: four bits in the head of a frame.

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
}
