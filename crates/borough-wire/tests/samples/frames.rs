//! Frames, with their lengths.

use borough_wire::codec::CodecId;
use borough_wire::frame::{Frame, FrameBuffer, Kind, Trace};
use borough_wire::limits::FRAME_MAX;

use super::{Sample, kind_name};

const TRACE: Trace = Trace {
    id: [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c],
    span: [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31],
    flags: 1,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut samples: Vec<_> =
        Kind::ALL.into_iter().map(|kind| sample(&kind_name(kind), plain(kind))).collect();
    let codec = CodecId::MessagePack;
    samples.push(sample("tell-trace", Frame::Tell { target: 1, codec, trace: Some(TRACE), body: b"body" }));
    let (deadline, trace) = (Some(5000), Some(TRACE));
    let full = Frame::Ask { target: 1, ask: 2, codec: CodecId::Json, deadline, trace, body: b"{}" };
    samples.push(sample("ask-deadline-trace", full));
    samples.push(sample("chunk-not-last", Frame::Chunk { last: false, body: b"part" }));
    samples.push(with_chain());
    samples
}

fn plain(kind: Kind) -> Frame<'static> {
    let (codec, body) = (CodecId::Postcard, b"body".as_slice());
    match kind {
        Kind::Tell => Frame::Tell { target: 0x0102_0304_0506_0708, codec, trace: None, body },
        Kind::Ask => Frame::Ask { target: 1, ask: 2, codec, deadline: None, trace: None, body },
        Kind::Answer => Frame::Answer { ask: 2, codec, body },
        Kind::Lost => Frame::Lost { ask: 2, why: 3 },
        Kind::Interrupt => Frame::Interrupt { target: 1, what: 4 },
        Kind::Watch => Frame::Watch { target: 1, watch: 5 },
        Kind::Unwatch => Frame::Unwatch { target: 1, watch: 5 },
        Kind::Terminated => Frame::Terminated { watch: 5, reason: 0xff },
        Kind::LookUp => Frame::LookUp { request: 6, type_name: "shop::Order", path: "/user/orders" },
        Kind::Found => Frame::Found { request: 6, outcome: 1, target: 7, text: "é" },
        Kind::Chunk => Frame::Chunk { last: true, body: b"part" },
        Kind::Ack => Frame::Ack { position: 8 },
        Kind::Control => Frame::Control { body },
    }
}

fn sample(name: &str, frame: Frame<'static>) -> Sample {
    let mut bytes = Vec::new();
    frame.put(&mut bytes).expect("a good frame");
    Sample { name: format!("frame-{name}.bin"), bytes, read: Box::new(move |bytes| reads_as(bytes, frame)) }
}

/// A tell with a chain, as a later version may write it.
fn with_chain() -> Sample {
    let body = [&7_u64.to_le_bytes()[..], &[2, 0, 0xaa, 0xbb], b"body"].concat();
    let length = u32::try_from(2 + body.len()).expect("a short frame");
    let bytes = [&length.to_le_bytes()[..], &[1, 0x14], &body].concat();
    let frame = Frame::Tell { target: 7, codec: CodecId::Postcard, trace: None, body: b"body" };
    Sample {
        name: "frame-tell-chain.bin".to_owned(),
        bytes,
        read: Box::new(move |bytes| reads_as(bytes, frame)),
    }
}

fn reads_as(bytes: &[u8], frame: Frame<'_>) {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    buffer.extend(bytes);
    assert_eq!(buffer.next(), Ok(Some(frame)));
    assert_eq!(buffer.left(), 0);
}
