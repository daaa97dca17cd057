//! The rules of frames: what is written is read, and what breaks a rule is named.

mod answers;
mod assembler;
mod buffer;
mod decode;
mod open;
mod put;
mod run;

use super::{Frame, Kind, Trace};
use crate::codec::CodecId;

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
