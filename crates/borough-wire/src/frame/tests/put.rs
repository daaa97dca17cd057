//! Writing: one form, whichever function writes it.

use super::*;
use crate::frame::{FrameError, put_ack, put_answer, put_ask, put_control, put_tell};
use crate::limits::{PATH_MAX, TEXT_MAX};

#[test]
fn a_tell_has_the_documented_layout() {
    let mut out = Vec::new();
    put_tell(&mut out, 0x0102, CodecId::Postcard, b"hi");
    assert_eq!(out, [12, 0, 0, 0, 1, 0x10, 2, 1, 0, 0, 0, 0, 0, 0, b'h', b'i']);
}

#[test]
fn the_quick_ways_write_what_the_general_one_writes() {
    type Put = fn(&mut Vec<u8>);
    let (codec, body) = (CodecId::Postcard, b"body".as_slice());
    let cases: [(Frame<'_>, Put); 6] = [
        (Frame::Tell { target: 1, codec, trace: None, body }, |out| {
            put_tell(out, 1, CodecId::Postcard, b"body");
        }),
        (Frame::Ask { target: 1, ask: 2, codec, deadline: None, trace: None, body }, |out| {
            put_ask(out, 1, 2, CodecId::Postcard, None, b"body");
        }),
        (Frame::Ask { target: 1, ask: 2, codec, deadline: Some(5), trace: None, body }, |out| {
            put_ask(out, 1, 2, CodecId::Postcard, Some(5), b"body");
        }),
        (Frame::Answer { ask: 2, codec, body }, |out| put_answer(out, 2, CodecId::Postcard, b"body")),
        (Frame::Ack { position: 9 }, |out| put_ack(out, 9)),
        (Frame::Control { body }, |out| put_control(out, b"body")),
    ];
    for (frame, put) in cases {
        let mut out = Vec::new();
        put(&mut out);
        assert_eq!(out, bytes(&frame), "{frame:?}");
    }
}

#[test]
fn a_text_beyond_its_limit_is_not_written() {
    let (fits, long) = ("x".repeat(TEXT_MAX), "x".repeat(TEXT_MAX + 1));
    let path = "p".repeat(PATH_MAX + 1);
    for frame in [
        Frame::LookUp { request: 1, type_name: &long, path: "/" },
        Frame::LookUp { request: 1, type_name: "T", path: &path },
        Frame::Found { request: 1, outcome: 0, target: 0, text: &long },
    ] {
        let mut out = vec![1, 2, 3];
        assert!(matches!(frame.put(&mut out), Err(FrameError::TextTooLong { .. })));
        assert_eq!(out, [1, 2, 3]);
    }
    Frame::LookUp { request: 1, type_name: &fits, path: &path[..PATH_MAX] }.put(&mut Vec::new()).unwrap();
}

#[test]
fn an_empty_chunk_is_not_written() {
    assert_eq!(Frame::Chunk { last: true, body: b"" }.put(&mut Vec::new()), Err(FrameError::EmptyChunk));
}
