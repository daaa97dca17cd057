//! Runs: the same messages as frame by frame, and where they end.

use super::*;
use crate::frame::{FrameBuffer, FrameError, Plain, put_ask, put_tell};

const CODEC: CodecId = CodecId::Postcard;

/// How many messages the runs at the front have.
fn runs(buffer: &mut FrameBuffer, count_max: usize, bytes_max: usize) -> Vec<usize> {
    std::iter::from_fn(|| buffer.next_run(count_max, bytes_max).map(|run| run.len())).collect()
}

#[test]
fn a_plain_message_is_the_frame_it_was_written_as_and_nothing_else_is_plain() {
    for frame in samples() {
        let mut bytes = bytes(&frame);
        bytes.push(7);
        let plain = if let Frame::Tell { target, codec, trace: None, body } = frame {
            Some(Plain { target, ask: None, codec, body })
        } else if let Frame::Ask { target, ask, codec, deadline, trace: None, body } = frame {
            Some(Plain { target, ask: Some((ask, deadline)), codec, body })
        } else {
            None
        };
        assert_eq!(Plain::first(&bytes), plain.map(|plain| (plain, &[7][..])), "{frame:?}");
    }
}

#[test]
fn a_plain_message_cut_anywhere_is_none() {
    let mut whole = Vec::new();
    put_ask(&mut whole, 1, 2, CODEC, Some(3), b"body");
    needs_all_of(&whole, 22, |bytes| Plain::first(bytes).is_none());
}

#[test]
fn a_run_has_the_messages_for_one_target_in_order() {
    let mut bytes = Vec::new();
    put_tell(&mut bytes, 1, CODEC, b"a");
    put_ask(&mut bytes, 1, 9, CODEC, Some(50), b"b");
    put_ask(&mut bytes, 1, 8, CodecId::Json, None, b"");
    put_tell(&mut bytes, 2, CODEC, b"d");
    let mut buffer = buffer(&bytes);
    let run = buffer.next_run(100, 1000).expect("a run");
    assert_eq!((run.target(), run.len()), (1, 3));
    let messages: Vec<_> = run.messages().map(|it| (it.ask, it.codec, it.body)).collect();
    assert_eq!(
        messages,
        [
            (None, CODEC, &b"a"[..]),
            (Some((9, Some(50))), CODEC, &b"b"[..]),
            (Some((8, None)), CodecId::Json, &b""[..])
        ]
    );
    assert_eq!(runs(&mut buffer, 100, 1000), [1]);
    assert_eq!(buffer.left(), 0);
}

#[test]
fn a_run_ends_at_the_limits_and_has_one_message_at_least() {
    let mut bytes = Vec::new();
    for _ in 0..10 {
        put_tell(&mut bytes, 1, CODEC, &[0; 86]);
    }
    assert_eq!(runs(&mut buffer(&bytes), 4, 10_000), [4, 4, 2]);
    assert_eq!(runs(&mut buffer(&bytes), 100, 399), [3, 3, 3, 1]);
    assert_eq!(runs(&mut buffer(&bytes), 0, 0), [1; 10]);
}

#[test]
fn a_run_ends_before_what_is_no_plain_message_or_not_whole() {
    let mut bytes = Vec::new();
    put_tell(&mut bytes, 1, CODEC, b"a");
    let traced = Frame::Tell { target: 1, codec: CODEC, trace: Some(TRACE), body: b"b" };
    traced.put(&mut bytes).expect("a frame within its limits");
    put_tell(&mut bytes, 1, CODEC, b"c");
    let mut buffer = buffer(&bytes[..bytes.len() - 1]);
    assert_eq!(runs(&mut buffer, 100, 1000), [1]);
    assert_eq!(buffer.next(), Ok(Some(traced)));
    assert_eq!(runs(&mut buffer, 100, 1000), [0; 0]);
    assert_eq!(buffer.next(), Ok(None));
}

#[test]
fn a_mistake_in_a_run_is_left_for_next_to_name() {
    let good = Frame::Tell { target: 1, codec: CODEC, trace: None, body: b"good" };
    leaves_mistakes(&good, |buffer| runs(buffer, 100, 1000) == [1]);
}

#[test]
fn a_frame_beyond_the_limit_is_in_no_run_even_if_it_is_there_whole() {
    let mut bytes = Vec::new();
    put_tell(&mut bytes, 1, CODEC, &[0; 6]);
    put_tell(&mut bytes, 1, CODEC, &[0; 7]);
    let mut buffer = FrameBuffer::new(16);
    buffer.extend(&bytes);
    assert_eq!(runs(&mut buffer, 100, 1000), [1]);
    assert_eq!(runs(&mut buffer, 100, 1000), [0; 0]);
    assert_eq!(buffer.next(), Err(FrameError::TooLong { length: 17, most: 16 }));
}
