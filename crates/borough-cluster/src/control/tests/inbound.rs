//! What a node hears, and from whom it hears no more.

use std::sync::Arc;
use std::time::Duration;

use borough_protocol::node::{Input, Message};
use borough_protocol::settings::Refusal;
use borough_wire::frame::{Frame, FrameBuffer, put_ack, put_chunks, put_control};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{connect, connection, uid};
use crate::clock::Clock;
use crate::control::counts::Counters;
use crate::control::driver::Heard;
use crate::control::inbound::Ear;
use crate::control::words;
use crate::transport::Stream;
use crate::transport::memory::MemoryNetwork;

struct Rig {
    network: MemoryNetwork,
    ear: Ear,
    words: mpsc::Receiver<Heard<Input>>,
}

impl Rig {
    fn new(room: usize) -> Self {
        let (heard, words) = mpsc::channel(room);
        let ear = Ear::new(heard, Arc::new(Counters::default()), Clock::of_runtime(0));
        Self { network: MemoryNetwork::new(1), ear, words }
    }

    /// A peer that speaks, and the task that listens to it.
    async fn peer(&self, number: u64) -> (Box<dyn Stream>, JoinHandle<()>) {
        let (theirs, ours) = connect(&self.network, number, &format!("me:{number}")).await;
        (theirs, tokio::spawn(self.ear.clone().listen(connection(number, ours))))
    }

    async fn hears(&mut self) -> (u64, u32) {
        match self.words.recv().await.map(|heard| heard.input) {
            Some(Input::Message { from, message: Message::Release { attempt } }) => (from.get(), attempt),
            other => panic!("{other:?}"),
        }
    }

    fn unreadable(&self) -> u64 {
        self.ear.counters.read().unreadable
    }
}

fn body(attempt: u32) -> Vec<u8> {
    words::encode(&Message::Release { attempt }).unwrap()
}

fn word(attempt: u32) -> Vec<u8> {
    let mut frame = Vec::new();
    put_control(&mut frame, &body(attempt));
    frame
}

#[tokio::test(start_paused = true)]
async fn words_arrive_in_order_with_the_name_of_who_proved_it() {
    let mut rig = Rig::new(8);
    let (mut peer, _task) = rig.peer(7).await;
    for attempt in 1..=3 {
        peer.write_all(&word(attempt)).await.unwrap();
    }
    for attempt in 1..=3 {
        assert_eq!(rig.hears().await, (uid(7).get(), attempt));
    }
}

#[tokio::test(start_paused = true)]
async fn a_word_in_chunks_is_one_word() {
    let mut rig = Rig::new(8);
    let (mut peer, _task) = rig.peer(7).await;
    let mut chunks = Vec::new();
    put_chunks(&mut chunks, &word(5)[4..], 5);
    peer.write_all(&chunks).await.unwrap();
    assert_eq!(rig.hears().await, (7, 5));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_closes_that_connection_and_no_other() {
    let mut garbage = Vec::new();
    put_control(&mut garbage, &[0xff; 40]);
    let mut trailing = Vec::new();
    put_control(&mut trailing, &[body(1), vec![0]].concat());
    let mut misplaced = Vec::new();
    put_ack(&mut misplaced, 1);
    let too_long = u32::MAX.to_le_bytes().to_vec();
    let mut rig = Rig::new(8);
    let (mut good, _task) = rig.peer(1).await;
    for (place, bytes) in [garbage, trailing, misplaced, too_long].into_iter().enumerate() {
        let (mut bad, task) = rig.peer(100 + place as u64).await;
        bad.write_all(&bytes).await.unwrap();
        task.await.unwrap();
        assert_eq!(rig.unreadable(), place as u64 + 1);
    }
    good.write_all(&word(9)).await.unwrap();
    assert_eq!(rig.hears().await, (1, 9));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_one_peer_does_not_starve_another() {
    let mut rig = Rig::new(4);
    let (mut loud, _loud) = rig.peer(1).await;
    let flood = tokio::spawn(async move { while loud.write_all(&word(0).repeat(1000)).await.is_ok() {} });
    while rig.words.len() < 4 {
        tokio::task::yield_now().await;
    }
    let (mut quiet, _quiet) = rig.peer(2).await;
    quiet.write_all(&word(1)).await.unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let mut before = 0;
    while rig.hears().await.0 != 2 {
        before += 1;
    }
    // Those that lay there, the one in line, and a few that a turn of its task lets through.
    assert!(before <= 12, "{before} words of the loud one came first");
    flood.abort();
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_is_acknowledged() {
    let mut rig = Rig::new(8);
    let (mut peer, _task) = rig.peer(7).await;
    let sent = word(1).len() as u64 * 2;
    peer.write_all(&word(1)).await.unwrap();
    peer.write_all(&word(2)).await.unwrap();
    assert_eq!((rig.hears().await.1, rig.hears().await.1), (1, 2));
    let mut frames = FrameBuffer::new(4096);
    loop {
        let read = peer.read(frames.spare()).await.unwrap();
        frames.filled(read);
        match frames.next().unwrap() {
            Some(Frame::Ack { position }) if position == sent => return,
            Some(Frame::Ack { .. }) | None => assert_ne!(read, 0, "closed"),
            Some(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_for_long_is_not_waited_for() {
    let rig = Rig::new(8);
    let (_peer, task) = rig.peer(7).await;
    tokio::time::timeout(Duration::from_secs(95), task).await.unwrap().unwrap();
    assert_eq!(rig.unreadable(), 0);
}

#[tokio::test(start_paused = true)]
async fn large_words_wait_for_room_and_are_not_heaped_up() {
    let mut rig = Rig::new(256);
    let large = Message::Refused(Refusal {
        setting: "x".repeat(1024 * 1024),
        ours: String::new(),
        theirs: String::new(),
    });
    let body = words::encode(&large).unwrap();
    for number in 1..=40 {
        let (mut peer, _task) = rig.peer(number).await;
        let mut chunks = Vec::new();
        let mut whole = Vec::new();
        put_control(&mut whole, &body);
        put_chunks(&mut chunks, &whole[4..], 256 * 1024);
        tokio::spawn(async move {
            let _ = peer.write_all(&chunks).await;
            std::future::pending::<()>().await;
        });
    }
    for taken in 0..40 {
        // Whoever can go on does.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(rig.words.len() <= 16, "{} megabytes wait", rig.words.len());
        assert!(rig.words.recv().await.is_some(), "{taken}");
    }
}
