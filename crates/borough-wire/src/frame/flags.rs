//! The second byte of a frame: which parts follow the fields, and the codec of the body.

use super::{FrameError, Kind};
use crate::codec::CodecId;

pub(super) const DEADLINE: u8 = 1 << 0;
pub(super) const TRACE: u8 = 1 << 1;
pub(super) const CHAIN: u8 = 1 << 2;
/// All that are not the codec.
pub(super) const PARTS: u8 = 0x0f;

/// The bits of a codec.
#[inline]
pub(super) const fn of_codec(codec: CodecId) -> u8 {
    codec.number() << 4
}

/// The codec in the flags of a message.
#[inline]
pub(super) fn codec(kind: Kind, flags: u8) -> Result<CodecId, FrameError> {
    let number = flags >> 4;
    CodecId::from_number(number).ok_or(FrameError::UnknownCodec { kind, number })
}

/// That no flags are set but `allowed`.
#[inline]
pub(super) fn only(kind: Kind, flags: u8, allowed: u8) -> Result<(), FrameError> {
    if flags & !allowed == 0 { Ok(()) } else { Err(FrameError::UnknownFlags { kind, flags }) }
}
