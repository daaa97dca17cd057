//! The rules of frames: what is written is read, and what breaks a rule is named.

mod answers;
mod assembler;
mod buffer;
mod decode;
mod open;
mod put;
mod run;

use super::{Frame, FrameBuffer, FrameError, Kind, Trace};
use crate::codec::CodecId;
use crate::limits::FRAME_MAX;

const TRACE: Trace = Trace { id: [7; 16], span: [8; 8], flags: 1 };

/// A frame of each kind, messages with and without parts.
fn samples() -> Vec<Frame<'static>> {
    let (codec, body) = (CodecId::Postcard, b"body".as_slice());
    let frames = vec![
        Frame::Tell { target: 1, codec, trace: None, body },
        Frame::Tell { target: u64::MAX, codec: CodecId::Json, trace: Some(TRACE), body: b"" },
        Frame::Ask { target: 2, ask: 3, codec, deadline: None, trace: None, body },
        Frame::Ask { target: 2, ask: 3, codec, deadline: Some(0), trace: None, body },
        Frame::Ask { target: 2, ask: 3, codec, deadline: Some(u32::MAX), trace: Some(TRACE), body },
        Frame::Answer { ask: 4, codec: CodecId::MessagePack, body },
        Frame::Lost { ask: 5, why: 6 },
        Frame::Interrupt { target: 7, what: 8 },
        Frame::Watch { target: 9, watch: 10 },
        Frame::Unwatch { target: 11, watch: 12 },
        Frame::Terminated { watch: 13, reason: 0xff },
        Frame::LookUp { request: 14, type_name: "shop::Order", path: "/orders/é" },
        Frame::Found { request: 15, outcome: 1, target: 16, text: "" },
        Frame::Chunk { last: false, body },
        Frame::Chunk { last: true, body },
        Frame::Ack { position: 17 },
        Frame::Control { body },
    ];
    assert!(Kind::ALL.iter().all(|kind| frames.iter().any(|frame| frame.kind() == *kind)));
    frames
}

/// The bytes of a frame, length and all.
fn bytes(frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    frame.put(&mut out).expect("a frame within its limits");
    out
}

/// What was read, and not yet taken.
fn buffer(bytes: &[u8]) -> FrameBuffer {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    buffer.extend(bytes);
    buffer
}

/// A reader that takes what is plain from two such frames, of which the second has a mistake, takes the first, and leaves the mistake for `next` to
/// name.
fn leaves_mistakes(good: &Frame<'_>, takes_one: impl Fn(&mut FrameBuffer) -> bool) {
    let kind = good.kind();
    let length = bytes(good).len() - 4;
    let mistakes: [(usize, u8, FrameError); 4] = [
        (4, 200, FrameError::UnknownKind { number: 200 }),
        (5, 0xf0, FrameError::UnknownCodec { kind, number: 15 }),
        (5, 0x18, FrameError::UnknownFlags { kind, flags: 0x18 }),
        (3, 1, FrameError::TooLong { length: (1 << 24) + length, most: FRAME_MAX }),
    ];
    for (at, value, error) in mistakes {
        let mut stream = [bytes(good), bytes(good)].concat();
        let second = stream.len() / 2;
        stream[second + at] = value;
        let mut buffer = buffer(&stream);
        assert!(takes_one(&mut buffer));
        assert_eq!(buffer.next(), Err(error));
    }
}

/// A reader cuts such a frame anywhere, or lets it say itself that it ends within its fields: then it is none.
fn needs_all_of(whole: &[u8], fields: u8, is_none: impl Fn(&[u8]) -> bool) {
    for length in 0..whole.len() {
        assert!(is_none(&whole[..length]), "{length} bytes");
    }
    for length in 0..fields {
        let mut short = whole[..4 + usize::from(length)].to_vec();
        short[0] = length;
        assert!(is_none(&short), "{length} bytes after the length");
    }
}
