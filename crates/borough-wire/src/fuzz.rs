//! What fuzzers call: one plain function for each decoder, for cargo-fuzz and for the tests alike.
//!
//! Each takes any bytes, panics if a promise is broken, and says whether the bytes were taken or refused. The promises: nothing panics
//! inside, no more is consumed than was given, and what was taken is the same after it was written and read once more. What is
//! allocated is for the caller to watch.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::codec::{Codec, Codecs, Postcard};
use crate::frame::{Answer, Assembler, Frame, FrameBuffer, FrameError, Plain};
use crate::handshake::{
    Accepted, Acceptor, Call, Challenge, Dialer, HandshakeError, Hello, Identity, Lane, Proof, Refusal,
    SPOKEN, missing,
};
use crate::limits::Sizes;

/// The limits of the fuzzed readers: small, so that inputs reach them.
pub const SIZES: Sizes = Sizes { frame_max: 4096, message_max: 16 * 1024 };

/// One frame, without its length.
pub fn frame(bytes: &[u8]) -> bool {
    Frame::decode(bytes).map(|frame| same_after_writing(&frame)).is_ok()
}

/// A stream of frames. The first byte says in what pieces it arrives; the frames must not depend on it.
pub fn buffer(bytes: &[u8]) -> bool {
    let Some((&piece, stream)) = bytes.split_first() else { return false };
    let (whole, whole_ends) = frames(stream, stream.len().max(1));
    let (pieces, pieces_end) = frames(stream, usize::from(piece).max(1));
    assert_eq!((&whole, whole_ends), (&pieces, pieces_end), "the pieces made a difference");
    let (in_runs, runs_end) = frames_in_runs(stream, usize::from(piece).max(1));
    assert_eq!((&whole, whole_ends), (&in_runs, runs_end), "the runs made a difference");
    assert!(whole.iter().map(Vec::len).sum::<usize>() <= stream.len(), "more came out than went in");
    !whole.is_empty()
}

/// The frames of a stream, written again, and how it ends.
fn frames(stream: &[u8], piece: usize) -> (Vec<Vec<u8>>, Result<usize, FrameError>) {
    let mut buffer = FrameBuffer::new(SIZES.frame_max);
    let mut found = Vec::new();
    for part in stream.chunks(piece) {
        buffer.extend(part);
        loop {
            match buffer.next() {
                Ok(Some(frame)) => found.push(same_after_writing(&frame)),
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(buffer.left()))
}

/// As [`frames`], by a reader that takes runs and answers at once where there are any.
fn frames_in_runs(stream: &[u8], piece: usize) -> (Vec<Vec<u8>>, Result<usize, FrameError>) {
    let mut buffer = FrameBuffer::new(SIZES.frame_max);
    let mut found = Vec::new();
    for part in stream.chunks(piece) {
        buffer.extend(part);
        loop {
            while let Some(run) = buffer.next_run(3, 200) {
                let messages = run.messages().inspect(|message| assert_eq!(message.target, run.target()));
                let frames: Vec<_> = messages.map(|message| same_after_writing(&whole(message))).collect();
                assert_eq!(frames.concat(), run.bytes(), "the run is its messages");
                assert!(frames.len() == run.len() && run.len() <= 3, "the run is as long as it says");
                found.extend(frames);
            }
            if let Some(answers) = buffer.next_answers() {
                let frames: Vec<_> =
                    answers.iter().map(|answer| same_after_writing(&answered(answer))).collect();
                assert!(!frames.is_empty() && frames.concat() == answers.bytes(), "they are themselves");
                found.extend(frames);
                continue;
            }
            match buffer.next() {
                Ok(Some(frame)) => found.push(same_after_writing(&frame)),
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(buffer.left()))
}

/// The frame that a plain message is.
fn whole(message: Plain<'_>) -> Frame<'_> {
    let Plain { target, ask, codec, body } = message;
    match ask {
        None => Frame::Tell { target, codec, trace: None, body },
        Some((ask, deadline)) => Frame::Ask { target, ask, codec, deadline, trace: None, body },
    }
}

/// The frame that an answer is.
fn answered(answer: Answer<'_>) -> Frame<'_> {
    let Answer { ask, codec, body } = answer;
    Frame::Answer { ask, codec, body }
}

/// A stream of frames, some of them chunks.
pub fn assembler(bytes: &[u8]) -> bool {
    let (mut buffer, mut assembler) = (FrameBuffer::new(SIZES.frame_max), Assembler::new(SIZES.message_max));
    buffer.extend(bytes);
    let mut taken = false;
    while let Ok(Some(frame)) = buffer.next() {
        match assembler.take(frame) {
            Ok(Some(whole)) => {
                same_after_writing(&whole);
                taken = true;
            }
            Ok(None) => {}
            Err(_) => break,
        }
        assert!(assembler.gathered() <= SIZES.message_max, "more was gathered than may be");
    }
    taken
}

/// What an acceptor reads: messages one after the other. The node is [`acceptor`], its caller proves no secret.
pub fn handshake_acceptor(bytes: &[u8]) -> bool {
    let mut acceptor = acceptor();
    let mut said = Vec::new();
    for message in messages(bytes) {
        same_message(message, Hello::decode, Hello::put);
        same_message(message, Proof::decode, Proof::put);
        said.clear();
        match acceptor.step(message, &mut said) {
            Ok(Some(proven)) => {
                proven.accept(1, SIZES, &mut said);
                Accepted::decode(&said).expect("what we say can be read");
                return true;
            }
            Ok(None) => drop(Challenge::decode(&said).expect("what we say can be read")),
            Err(_) => {
                assert!(said.is_empty() || missing(&said) == Ok(0), "a refusal is whole");
                return false;
            }
        }
    }
    false
}

/// What a dialer reads: messages one after the other.
pub fn handshake_dialer(bytes: &[u8]) -> bool {
    let (mut dialer, _) = dialer();
    let mut said = Vec::new();
    for message in messages(bytes) {
        same_message(message, Challenge::decode, Challenge::put);
        same_message(message, Accepted::decode, Accepted::put);
        same_message(message, refusal, Refusal::put);
        said.clear();
        match dialer.step(message, &mut said) {
            Ok(Some(_)) => return true,
            Ok(None) => drop(Proof::decode(&said).expect("what we say can be read")),
            Err(_) => return false,
        }
    }
    false
}

/// The whole messages at the front, as a reader that asks [`missing`] would cut them.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let mut read = 0;
        loop {
            match missing(bytes.get(..read)?) {
                Ok(0) => break,
                Ok(more) => read += more,
                // It is handed on all the same: the machines must bear it.
                Err(_) => read = bytes.len(),
            }
            if read == bytes.len() && missing(bytes).is_err() {
                break;
            }
        }
        let (message, rest) = bytes.split_at_checked(read)?;
        bytes = rest;
        (!message.is_empty()).then_some(message)
    })
}

fn refusal(bytes: &[u8]) -> Result<Refusal, HandshakeError> {
    match Challenge::decode(bytes) {
        Err(HandshakeError::Refused(refusal)) => Ok(refusal),
        Err(error) => Err(error),
        Ok(_) => Err(HandshakeError::Over),
    }
}

/// The dialer of the seeds, and its hello.
///
/// # Panics
/// Never: its identity is a good one.
pub fn dialer() -> (Dialer, Vec<u8>) {
    let mut hello = Vec::new();
    let call = Call { lane: Lane::Messages, session: 7, expected: None };
    let dialer = Dialer::new(identity(1), call, None, [1; 32], &mut hello).expect("a good identity");
    (dialer, hello)
}

/// The acceptor of the seeds.
///
/// # Panics
/// Never: its identity is a good one.
pub fn acceptor() -> Acceptor {
    Acceptor::new(identity(2), None, [2; 32]).expect("a good identity")
}

fn identity(uid: u64) -> Identity {
    let (cluster, address) = ("fuzz".to_owned(), format!("node-{uid}:2660"));
    Identity { cluster, address, uid, codecs: Codecs::built_in(), versions: SPOKEN }
}

/// A message with something of everything.
pub type Rich =
    (u64, Option<String>, Vec<(i32, Vec<u8>)>, BTreeMap<String, u16>, Result<bool, char>, [i8; 3]);

/// A value of [`Rich`] for seeds.
pub fn rich() -> Rich {
    let list = vec![(-1, vec![1, 2, 3]), (i32::MAX, Vec::new())];
    let map = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 65_535)]);
    (300, Some("text".to_owned()), list, map, Err('é'), [-1, 0, 1])
}

/// A body in postcard.
pub fn codec_postcard(bytes: &[u8]) -> bool {
    same_value::<Postcard>(bytes)
}

/// A body in `MessagePack`.
#[cfg(feature = "message-pack")]
pub fn codec_message_pack(bytes: &[u8]) -> bool {
    same_value::<crate::codec::MessagePack>(bytes)
}

/// A body in JSON.
#[cfg(feature = "json")]
pub fn codec_json(bytes: &[u8]) -> bool {
    same_value::<crate::codec::Json>(bytes)
}

fn same_value<C: Codec>(bytes: &[u8]) -> bool {
    let Ok(value) = C::decode::<Rich>(bytes) else { return false };
    let mut again = Vec::new();
    C::encode(&value, &mut again).expect("what was read can be written");
    assert_eq!(C::decode::<Rich>(&again).as_ref(), Ok(&value), "it is another value now");
    true
}

fn same_after_writing(frame: &Frame<'_>) -> Vec<u8> {
    let mut again = Vec::new();
    frame.put(&mut again).expect("what was read can be written");
    assert_eq!(Frame::decode(&again[4..]).as_ref(), Ok(frame), "it is another frame now");
    again
}

fn same_message<M: PartialEq + Debug>(
    bytes: &[u8],
    decode: fn(&[u8]) -> Result<M, HandshakeError>,
    put: fn(&M, &mut Vec<u8>),
) {
    if let Ok(message) = decode(bytes) {
        let mut again = Vec::new();
        put(&message, &mut again);
        assert_eq!(decode(&again).as_ref(), Ok(&message), "it is another message now");
    }
}
