//! Frames whose body is written in place.

use super::*;
use crate::frame::{Assembler, FrameBuffer, Open, TooLarge};
use crate::limits::Sizes;

#[test]
fn a_frame_closed_is_a_frame_put() {
    let (codec, body) = (CodecId::Json, b"body".as_slice());
    for trace in [None, Some(TRACE)] {
        let cases = [
            (
                Frame::Tell { target: 1, codec, trace, body },
                (|out, trace| Open::tell(out, 1, CodecId::Json, trace)) as fn(&mut Vec<u8>, _) -> Open,
            ),
            (Frame::Ask { target: 1, ask: 2, codec, deadline: Some(3), trace, body }, |out, trace| {
                Open::ask(out, 1, 2, CodecId::Json, Some(3), trace)
            }),
            (Frame::Answer { ask: 2, codec, body }, |out, _| Open::answer(out, 2, CodecId::Json)),
            (Frame::Control { body }, |out, _| Open::control(out)),
        ];
        for (frame, open) in cases {
            let mut out = vec![1, 2, 3];
            let opened = open(&mut out, trace);
            out.extend_from_slice(body);
            opened.close(&mut out, Sizes::default()).unwrap();
            assert_eq!(out[3..], bytes(&frame), "{frame:?}");
        }
    }
}

#[test]
fn a_frame_abandoned_was_never_there() {
    let mut out = vec![1, 2, 3];
    let open = Open::answer(&mut out, 2, CodecId::Json);
    out.extend_from_slice(b"half a body");
    open.abandon(&mut out);
    assert_eq!(out, [1, 2, 3]);
}

#[test]
fn a_frame_beyond_the_peers_frame_max_becomes_chunks() {
    let peer = Sizes { frame_max: 5000, message_max: 12_010 };
    let mut out = Vec::new();
    let open = Open::tell(&mut out, 1, CodecId::Postcard, None);
    out.extend_from_slice(&[7; 12_000]);
    open.close(&mut out, peer).unwrap();
    let (mut buffer, mut assembler) = (FrameBuffer::new(5000), Assembler::new(12_010));
    buffer.extend(&out);
    let mut chunks = 0;
    let whole = loop {
        let frame = buffer.next().unwrap().expect("all of it is here");
        chunks += 1;
        if assembler.take(frame).unwrap().is_some() {
            break chunks;
        }
    };
    assert_eq!((whole, buffer.left()), (3, 0));
}

#[test]
fn a_message_beyond_the_peers_message_max_is_taken_back() {
    let peer = Sizes { frame_max: 5000, message_max: 12_009 };
    let mut out = vec![1, 2, 3];
    let open = Open::tell(&mut out, 1, CodecId::Postcard, None);
    out.extend_from_slice(&[7; 12_000]);
    assert_eq!(open.close(&mut out, peer), Err(TooLarge { length: 12_010, most: 12_009 }));
    assert_eq!(out, [1, 2, 3]);
}
