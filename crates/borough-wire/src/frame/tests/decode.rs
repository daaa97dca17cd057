//! Reading: every rule of the layout, broken once.

use super::*;
use crate::frame::FrameError;
use crate::limits::{PATH_MAX, TEXT_MAX};

#[test]
fn every_frame_is_read_as_it_was_written() {
    for frame in samples() {
        assert_eq!(Frame::decode(&bytes(&frame)[4..]), Ok(frame));
    }
}

#[test]
fn a_frame_cut_anywhere_before_its_body_is_refused() {
    for frame in samples() {
        let whole = bytes(&frame);
        let body = if whole.ends_with(b"body") { 4 } else { 0 };
        for length in 0..whole.len() - 4 - body {
            assert_eq!(Frame::decode(&whole[4..4 + length]), Err(FrameError::Short { length }), "{frame:?}");
        }
    }
}

#[test]
fn bytes_after_the_last_field_are_refused_where_there_is_no_body() {
    let bare = |kind| !matches!(kind, Kind::Tell | Kind::Ask | Kind::Answer | Kind::Chunk | Kind::Control);
    for frame in samples().into_iter().filter(|frame| bare(frame.kind())) {
        let mut whole = bytes(&frame);
        whole.push(0);
        assert_eq!(Frame::decode(&whole[4..]), Err(FrameError::Trailing { kind: frame.kind(), left: 1 }));
    }
}

#[test]
fn an_unknown_kind_is_refused() {
    for number in [0, 14, 255] {
        assert_eq!(Frame::decode(&[number, 0]), Err(FrameError::UnknownKind { number }));
    }
}

#[test]
fn flags_that_a_kind_does_not_have_are_refused() {
    let allowed = |kind| {
        if kind == Kind::Tell {
            0b0110
        } else if kind == Kind::Ask {
            0b0111
        } else {
            0
        }
    };
    for frame in samples() {
        let kind = frame.kind();
        let mut whole = bytes(&frame);
        for bit in (0..4).map(|bit| 1 << bit).filter(|bit| bit & allowed(kind) == 0) {
            whole[5] |= bit;
            let flags = whole[5];
            assert_eq!(Frame::decode(&whole[4..]), Err(FrameError::UnknownFlags { kind, flags }));
            whole[5] &= !bit;
        }
    }
}

#[test]
fn a_message_names_a_known_codec_and_others_name_none() {
    for frame in samples() {
        let kind = frame.kind();
        let mut whole = bytes(&frame);
        let message = matches!(kind, Kind::Tell | Kind::Ask | Kind::Answer);
        for number in if message { [0, 4, 15] } else { [1, 4, 15] } {
            whole[5] = whole[5] & 0x0f | number << 4;
            let flags = whole[5];
            let expected = if message {
                FrameError::UnknownCodec { kind, number }
            } else {
                FrameError::UnknownFlags { kind, flags }
            };
            assert_eq!(Frame::decode(&whole[4..]), Err(expected));
        }
    }
}

#[test]
fn a_chain_is_skipped() {
    let mut whole = vec![Kind::Tell.number(), 0x14];
    whole.extend_from_slice(&9_u64.to_le_bytes());
    whole.extend_from_slice(&[3, 0, 0xaa, 0xbb, 0xcc]);
    whole.extend_from_slice(b"body");
    let expected = Frame::Tell { target: 9, codec: CodecId::Postcard, trace: None, body: b"body" };
    assert_eq!(Frame::decode(&whole), Ok(expected));
    // One byte more than there is.
    let length = whole.len();
    whole[10] = 8;
    assert_eq!(Frame::decode(&whole), Err(FrameError::Short { length }));
}

#[test]
fn texts_keep_their_limits_and_are_utf_8() {
    let look_up = |type_name: &[u8], path: &[u8]| {
        let mut whole = vec![Kind::LookUp.number(), 0];
        whole.extend_from_slice(&1_u64.to_le_bytes());
        for text in [type_name, path] {
            whole.extend_from_slice(&u16::try_from(text.len()).unwrap().to_le_bytes());
            whole.extend_from_slice(text);
        }
        Frame::decode(&whole).map(|_| ())
    };
    assert_eq!(look_up(&[b'x'; TEXT_MAX], &[b'x'; PATH_MAX]), Ok(()));
    assert!(matches!(look_up(&[b'x'; TEXT_MAX + 1], b""), Err(FrameError::TextTooLong { .. })));
    assert!(matches!(look_up(b"", &[b'x'; PATH_MAX + 1]), Err(FrameError::TextTooLong { .. })));
    assert_eq!(look_up(b"\xff", b""), Err(FrameError::NotText { field: "type name" }));
}

#[test]
fn a_chunk_is_the_last_or_not_and_never_empty() {
    let kind = Kind::Chunk.number();
    let field = "mark of the last chunk";
    assert_eq!(Frame::decode(&[kind, 0, 2, 1]), Err(FrameError::BadField { field, value: 2 }));
    assert_eq!(Frame::decode(&[kind, 0, 1]), Err(FrameError::EmptyChunk));
}
