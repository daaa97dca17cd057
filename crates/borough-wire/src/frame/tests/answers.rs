//! Answers taken at once: the same as frame by frame, and where they end.

use super::*;
use crate::frame::{Answer, FrameBuffer, FrameError, put_answer, put_tell};

const CODEC: CodecId = CodecId::Postcard;

/// The numbers of the asks that are answered at the front.
fn asks(buffer: &mut FrameBuffer) -> Vec<u64> {
    let answers = buffer.next_answers();
    answers.map(|answers| answers.iter().map(|answer| answer.ask).collect()).unwrap_or_default()
}

#[test]
fn an_answer_is_the_frame_it_was_written_as_and_nothing_else_is_one() {
    for frame in samples() {
        let mut bytes = bytes(&frame);
        bytes.push(7);
        let answer = if let Frame::Answer { ask, codec, body } = frame {
            Some(Answer { ask, codec, body })
        } else {
            None
        };
        assert_eq!(Answer::first(&bytes), answer.map(|answer| (answer, &[7][..])), "{frame:?}");
    }
}

#[test]
fn an_answer_cut_anywhere_is_none() {
    let mut whole = Vec::new();
    put_answer(&mut whole, 1, CODEC, b"body");
    needs_all_of(&whole, 10, |bytes| Answer::first(bytes).is_none());
}

#[test]
fn answers_are_taken_up_to_what_is_none_or_not_whole() {
    let mut bytes = Vec::new();
    put_answer(&mut bytes, 1, CODEC, b"a");
    put_answer(&mut bytes, 2, CodecId::Json, b"");
    let both = bytes.len();
    put_tell(&mut bytes, 1, CODEC, b"no answer");
    put_answer(&mut bytes, 3, CODEC, b"c");
    put_answer(&mut bytes, 4, CODEC, b"d");
    let mut buffer = buffer(&bytes[..bytes.len() - 1]);
    let answers = buffer.next_answers().expect("two");
    assert_eq!(answers.bytes(), &bytes[..both]);
    let read: Vec<_> = answers.iter().map(|it| (it.ask, it.codec, it.body)).collect();
    assert_eq!(read, [(1, CODEC, &b"a"[..]), (2, CodecId::Json, &b""[..])]);
    assert_eq!(asks(&mut buffer), [0; 0]);
    assert!(matches!(buffer.next(), Ok(Some(Frame::Tell { .. }))));
    assert_eq!(asks(&mut buffer), [3]);
    assert_eq!(asks(&mut buffer), [0; 0]);
    assert_eq!(buffer.next(), Ok(None));
}

#[test]
fn a_mistake_among_answers_is_left_for_next_to_name() {
    let good = Frame::Answer { ask: 1, codec: CODEC, body: b"good" };
    leaves_mistakes(&good, |buffer| asks(buffer) == [1]);
    // A part that only asks may have.
    let mut timed = bytes(&good);
    timed[5] |= 1;
    let mut buffer = buffer(&timed);
    assert_eq!(asks(&mut buffer), [0; 0]);
    assert_eq!(buffer.next(), Err(FrameError::UnknownFlags { kind: Kind::Answer, flags: 0x11 }));
}

#[test]
fn an_answer_beyond_the_limit_is_not_taken_even_if_it_is_there_whole() {
    let mut bytes = Vec::new();
    put_answer(&mut bytes, 1, CODEC, &[0; 6]);
    put_answer(&mut bytes, 2, CODEC, &[0; 7]);
    let mut buffer = FrameBuffer::new(16);
    buffer.extend(&bytes);
    assert_eq!(asks(&mut buffer), [1]);
    assert_eq!(asks(&mut buffer), [0; 0]);
    assert_eq!(buffer.next(), Err(FrameError::TooLong { length: 17, most: 16 }));
}
