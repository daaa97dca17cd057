//! What golden bytes were made of, and what reading them must give.

mod codecs;
mod frames;
mod handshakes;

use borough_wire::codec::CodecId;
use borough_wire::frame::Kind;

/// Reads bytes and checks what they mean.
pub(crate) type Read = Box<dyn Fn(&[u8])>;

/// One file.
pub(crate) struct Sample {
    pub(crate) name: String,
    /// What is written today.
    pub(crate) bytes: Vec<u8>,
    /// Whether bytes mean what this sample means.
    pub(crate) read: Read,
}

pub(crate) fn all() -> Vec<Sample> {
    let mut samples = frames::samples();
    samples.extend(handshakes::samples());
    samples.extend(codecs::samples());
    samples
}

pub(crate) fn kind_name(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}

pub(crate) fn codec_name(codec: CodecId) -> String {
    codec.to_string().to_lowercase()
}
