//! What a session makes of the bytes that arrive.

use borough_protocol::incarnation::{Address, Incarnation, Uid};
use borough_wire::codec::CodecId;
use borough_wire::frame::{Frame, FrameBuffer, put_answer, put_chunks};
use borough_wire::limits::FRAME_MAX;

use super::rig::{Place, place};
use crate::link::session::{Broken, Session, Taken};
use crate::transport::memory::MemoryNetwork;

const TICKET: u64 = 1;

async fn session() -> (Place, Session) {
    let here = place(&MemoryNetwork::new(1), 1).await;
    let peer = Incarnation { address: Address::new("node-2:1"), uid: Uid::new(2).unwrap() };
    let session = Session::new(here.hub.link(&peer), 1 << 20);
    assert_eq!(session.begin(TICKET, 1), Some(0));
    (here, session)
}

fn read(session: &Session, bytes: &[u8]) -> Result<Taken, Broken> {
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    buffer.extend(bytes);
    session.reading(TICKET).unwrap().take(session, &mut buffer)
}

/// How much is entered as arrived.
fn position(session: &Session) -> u64 {
    session.position(TICKET, std::task::Waker::noop()).unwrap()
}

fn answers(asks: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ask in asks {
        put_answer(&mut bytes, *ask, CodecId::Postcard, b"seven");
    }
    bytes
}

/// A message in two chunks, and how long the first is.
fn in_two() -> (Vec<u8>, usize) {
    let mut message = Vec::new();
    Frame::Answer { ask: 9, codec: CodecId::Postcard, body: &[7; 100] }.put(&mut message).unwrap();
    let mut bytes = Vec::new();
    put_chunks(&mut bytes, &message[4..], 80);
    let first = 4 + usize::from(bytes[0]);
    (bytes, first)
}

#[tokio::test]
async fn answers_are_entered_as_arrived_and_what_is_no_whole_one_is_not() {
    let (_here, session) = session().await;
    let bytes = answers(&[1, 2, 3]);
    let two = bytes.len() / 3 * 2;
    assert_eq!(read(&session, &bytes[..bytes.len() - 1]).unwrap(), Taken::All);
    assert_eq!(position(&session), two as u64);
}

#[tokio::test]
async fn answers_before_and_after_a_message_in_parts_are_taken() {
    let (_here, session) = session().await;
    let bytes = [answers(&[1]), in_two().0, answers(&[2, 3])].concat();
    assert_eq!(read(&session, &bytes).unwrap(), Taken::All);
    assert_eq!(position(&session), bytes.len() as u64);
}

#[tokio::test]
async fn an_answer_between_the_parts_of_a_message_breaks_the_rules() {
    let (_here, session) = session().await;
    let (chunks, first) = in_two();
    let bytes = [&chunks[..first], &answers(&[1]), &chunks[first..]].concat();
    read(&session, &bytes).unwrap_err();
    assert_eq!(position(&session), 0, "nothing is entered");
}

#[tokio::test]
async fn whoever_was_superseded_takes_no_answers() {
    let (_here, session) = session().await;
    let mut buffer = FrameBuffer::new(FRAME_MAX);
    buffer.extend(&answers(&[1, 2]));
    let mut reading = session.reading(TICKET).unwrap();
    assert_eq!(session.begin(TICKET + 1, 1), Some(0));
    assert_eq!(reading.take(&session, &mut buffer).unwrap(), Taken::Superseded);
    assert_eq!(session.position(TICKET + 1, std::task::Waker::noop()), Some(0));
}
