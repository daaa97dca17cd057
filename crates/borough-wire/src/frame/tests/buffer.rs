//! The buffer: frames come out as they went in, however the bytes arrive.

use super::*;
use crate::frame::{FrameBuffer, FrameError, put_tell};
use crate::limits::{FRAME_MAX, READ_BUFFER};

/// Feeds `bytes` in reads of at most `read` and collects the targets and body lengths of the tells that come out.
fn tells(buffer: &mut FrameBuffer, mut bytes: &[u8], read: usize) -> Vec<(u64, usize)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let spare = buffer.spare();
        let (now, later) = bytes.split_at(read.min(spare.len()).min(bytes.len()));
        spare[..now.len()].copy_from_slice(now);
        buffer.filled(now.len());
        bytes = later;
        while let Some(frame) = buffer.next().expect("good frames") {
            let Frame::Tell { target, body, .. } = frame else { panic!("{frame:?}") };
            assert!(body.iter().all(|byte| *byte == target.to_le_bytes()[0]), "the body of {target}");
            found.push((target, body.len()));
        }
    }
    found
}

fn many_tells(sizes: &[usize]) -> (Vec<(u64, usize)>, Vec<u8>) {
    let mut out = Vec::new();
    let expected: Vec<_> = (0_u64..).zip(sizes.iter().copied()).collect();
    for (target, size) in &expected {
        put_tell(&mut out, *target, CodecId::Postcard, &vec![target.to_le_bytes()[0]; *size]);
    }
    (expected, out)
}

#[test]
fn frames_come_out_whole_and_in_order_however_the_bytes_arrive() {
    let sizes: Vec<usize> = (0..3000).map(|at| (at * 37) % 600).collect();
    let (expected, bytes) = many_tells(&sizes);
    for read in [1, 7, 64, 4096, READ_BUFFER] {
        let mut buffer = FrameBuffer::new(FRAME_MAX);
        assert_eq!(tells(&mut buffer, &bytes, read), expected, "in reads of {read}");
        assert_eq!(buffer.left(), 0);
    }
}

#[test]
fn a_frame_of_the_largest_size_is_taken_and_one_more_byte_is_refused() {
    let body = FRAME_MAX - 10;
    let (expected, mut bytes) = many_tells(&[5, body, 6]);
    assert_eq!(tells(&mut FrameBuffer::new(FRAME_MAX), &bytes, 1 << 20), expected);
    let mut buffer = FrameBuffer::new(FRAME_MAX - 1);
    buffer.extend(&bytes.split_off(19)[..4]);
    assert_eq!(buffer.next(), Err(FrameError::TooLong { length: FRAME_MAX, most: FRAME_MAX - 1 }));
}

#[test]
fn it_grows_as_bytes_arrive_and_is_small_again_when_empty() {
    let frame_max = 8 * READ_BUFFER;
    let mut buffer = FrameBuffer::new(frame_max);
    let (expected, bytes) = many_tells(&[frame_max - 10]);
    // The length alone makes it hold nothing more.
    buffer.extend(&bytes[..READ_BUFFER - 1]);
    assert_eq!(buffer.next(), Ok(None));
    assert_eq!((buffer.spare().len(), buffer.left()), (1, READ_BUFFER - 1));
    assert_eq!(tells(&mut buffer, &bytes[READ_BUFFER - 1..], 1 << 16), expected);
    assert_eq!(buffer.spare().len(), READ_BUFFER);
}

#[test]
fn a_read_that_fills_it_makes_room_for_large_ones_although_a_part_of_a_frame_is_left() {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    let (expected, bytes) = many_tells(&[100; 1000]);
    let at_first = buffer.spare().len();
    assert!(at_first < READ_BUFFER);
    let (first, rest) = bytes.split_at(at_first);
    let mut found = tells(&mut buffer, first, at_first);
    let left = buffer.left();
    assert!(left > 0, "frames do not end where the buffer does");
    assert_eq!(buffer.spare().len(), READ_BUFFER - left);
    found.extend(tells(&mut buffer, rest, READ_BUFFER));
    assert_eq!(found, expected);
}

#[test]
fn where_frames_are_small_it_stays_small() {
    let mut buffer = FrameBuffer::new(64);
    let at_first = buffer.spare().len();
    let (expected, bytes) = many_tells(&[10; 2000]);
    assert_eq!(tells(&mut buffer, &bytes, READ_BUFFER), expected);
    assert!(buffer.spare().len() <= at_first);
}

#[test]
fn a_part_of_a_frame_is_left_and_counted() {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    let (_, bytes) = many_tells(&[3]);
    buffer.extend(&bytes[..bytes.len() - 1]);
    assert_eq!(buffer.next(), Ok(None));
    assert_eq!(buffer.left(), bytes.len() - 1);
}

#[test]
#[should_panic(expected = "more was read than there was to spare")]
fn more_than_there_was_to_spare_is_a_mistake_of_the_caller() {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    let spare = buffer.spare().len();
    buffer.filled(spare + 1);
}
