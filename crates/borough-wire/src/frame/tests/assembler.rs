//! Chunks: a large message arrives as it was, and nothing else does.

use super::*;
use crate::frame::{Assembler, ChunkError, FrameBuffer, FrameError, put_chunks, put_tell};

/// A large tell as one frame without its length.
fn large(body: usize) -> Vec<u8> {
    let mut out = Vec::new();
    put_tell(&mut out, 5, CodecId::Postcard, &vec![9; body]);
    out.split_off(4)
}

#[test]
fn a_message_in_chunks_arrives_whole() {
    let whole = large(100_000);
    for frame_max in [4, 4096, 10_000, 100_013, 100_014] {
        let mut out = Vec::new();
        put_chunks(&mut out, &whole, frame_max);
        let (mut buffer, mut assembler) = (FrameBuffer::new(frame_max), Assembler::new(whole.len()));
        let mut found = 0;
        for bytes in out.chunks(50_000) {
            buffer.extend(bytes);
            while let Some(frame) = buffer.next().unwrap() {
                if let Some(frame) = assembler.take(frame).unwrap() {
                    assert_eq!(Ok(frame), Frame::decode(&whole));
                    found += 1;
                }
            }
        }
        assert_eq!((found, assembler.gathered()), (1, 0), "frames of {frame_max}");
    }
}

#[test]
fn other_frames_pass_before_and_after() {
    let mut assembler = Assembler::new(1 << 20);
    let ack = Frame::Ack { position: 1 };
    let whole = large(10);
    for _ in 0..2 {
        assert_eq!(assembler.take(ack), Ok(Some(ack)));
        assert_eq!(assembler.take(Frame::Chunk { last: false, body: &whole[..4] }), Ok(None));
        let last = Frame::Chunk { last: true, body: &whole[4..] };
        assert_eq!(assembler.take(last), Ok(Some(Frame::decode(&whole).unwrap())));
    }
}

#[test]
fn a_message_directly_after_another_does_not_see_it() {
    let mut assembler = Assembler::new(1 << 20);
    let whole = large(10);
    for _ in 0..3 {
        let only = Frame::Chunk { last: true, body: &whole };
        assert_eq!(assembler.take(only), Ok(Some(Frame::decode(&whole).unwrap())));
    }
}

#[test]
fn a_message_beyond_the_limit_is_refused_with_the_chunk_that_passes_it() {
    let mut assembler = Assembler::new(10);
    let part = [1; 5];
    for _ in 0..2 {
        assert_eq!(assembler.take(Frame::Chunk { last: false, body: &part }), Ok(None));
    }
    let error = assembler.take(Frame::Chunk { last: false, body: &part[..1] });
    assert_eq!(error, Err(ChunkError::TooLarge { length: 11, most: 10 }));
}

#[test]
fn a_frame_between_chunks_is_refused() {
    let mut assembler = Assembler::new(10);
    assert_eq!(assembler.take(Frame::Chunk { last: false, body: &[1; 5] }), Ok(None));
    assert_eq!(assembler.take(Frame::Ack { position: 1 }), Err(ChunkError::Interleaved { gathered: 5 }));
}

#[test]
fn chunks_in_chunks_are_refused() {
    let nested = bytes(&Frame::Chunk { last: true, body: b"x" });
    let error = Assembler::new(100).take(Frame::Chunk { last: true, body: &nested[4..] }).unwrap_err();
    assert_eq!(error, ChunkError::Nested);
}

#[test]
fn chunks_that_are_no_frame_are_refused() {
    let mut assembler = Assembler::new(100);
    let error = assembler.take(Frame::Chunk { last: true, body: b"\xff\xff" }).unwrap_err();
    assert_eq!(error, ChunkError::Frame(FrameError::UnknownKind { number: 0xff }));
}

#[test]
fn it_is_idle_but_between_the_chunks_of_a_message() {
    let mut assembler = Assembler::new(1000);
    assert!(assembler.is_idle());
    let whole = bytes(&Frame::Tell { target: 1, codec: CodecId::Postcard, trace: None, body: b"body" });
    let (first, last) = whole[4..].split_at(5);
    assert_eq!(assembler.take(Frame::Chunk { last: false, body: first }), Ok(None));
    assert!(!assembler.is_idle());
    assert!(assembler.take(Frame::Chunk { last: true, body: last }).is_ok_and(|frame| frame.is_some()));
    assert!(assembler.is_idle());
}
