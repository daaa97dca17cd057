//! The way to a peer that is not as it should be.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use borough_protocol::incarnation::Address;
use borough_protocol::node::{Command, Input};
use borough_wire::frame::{Frame, FrameBuffer, put_ack};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::{connect, connection, uid};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::control::addresses::Addresses;
use crate::control::counts::{ControlCounts, Counters};
use crate::control::dial::{Dial, Failure, Use};
use crate::control::driver::Heard;
use crate::control::outbound::{Means, Outbound};
use crate::control::queue::Queue;
use crate::door::Connection;
use crate::transport::memory::MemoryNetwork;
use crate::transport::{Boxed, Stream};

/// Gives what it was given, one after the other; then nobody is there.
#[derive(Default)]
struct Given {
    outcomes: Mutex<VecDeque<Result<Connection, Failure>>>,
    dialled: Mutex<Vec<Instant>>,
}

impl Dial for Given {
    fn dial<'a>(&'a self, _to: &'a Address, _what_for: Use) -> Boxed<'a, Result<Connection, Failure>> {
        self.dialled.lock().unwrap().push(Instant::now());
        let next = self.outcomes.lock().unwrap().pop_front();
        Box::pin(async move { next.unwrap_or(Err(Failure::Nobody("nobody".to_owned()))) })
    }
}

struct Rig {
    network: MemoryNetwork,
    given: Arc<Given>,
    queue: Arc<Queue>,
    means: Means,
    told: mpsc::Receiver<Heard<Input>>,
}

impl Rig {
    fn new() -> Self {
        let (heard, told) = mpsc::channel(64);
        let given = Arc::new(Given::default());
        let means = Means {
            dialer: given.clone(),
            chance: Chance::seeded(1),
            clock: Clock::of_runtime(0),
            counters: Arc::new(Counters::default()),
            addresses: Arc::new(Mutex::new(Addresses::default())),
            heard,
        };
        Self { network: MemoryNetwork::new(1), given, queue: Arc::default(), means, told }
    }

    /// The next dial succeeds; gives the peer's end.
    async fn accepts(&self) -> Box<dyn Stream> {
        let (ours, theirs) = connect(&self.network, 0, "peer:7").await;
        self.given.outcomes.lock().unwrap().push_back(Ok(connection(7, ours)));
        theirs
    }

    fn start(&self) -> tokio::task::JoinHandle<()> {
        let (means, queue) = (self.means.clone(), self.queue.clone());
        let address = Address::new("peer:7");
        tokio::spawn(Outbound { means, address, what_for: Use::ToLife(uid(7)), queue }.run())
    }

    fn counts(&self) -> ControlCounts {
        self.means.counters.read()
    }

    fn dialled(&self) -> usize {
        self.given.dialled.lock().unwrap().len()
    }
}

/// The body of the next frame.
async fn next(peer: &mut Box<dyn Stream>, frames: &mut FrameBuffer) -> Vec<u8> {
    loop {
        match frames.next().unwrap() {
            Some(Frame::Control { body }) => return body.to_vec(),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
        let read = peer.read(frames.spare()).await.unwrap();
        assert_ne!(read, 0, "closed");
        frames.filled(read);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_go_out_in_order_on_one_connection() {
    let rig = Rig::new();
    let mut peer = rig.accepts().await;
    let _task = rig.start();
    let mut frames = FrameBuffer::new(4096);
    for number in 0..10 {
        rig.queue.put(vec![number]).unwrap();
    }
    for number in 0..10 {
        assert_eq!(next(&mut peer, &mut frames).await, [number]);
    }
    assert_eq!((rig.dialled(), rig.counts()), (1, ControlCounts::default()));
}

#[tokio::test(start_paused = true)]
async fn the_machine_learns_that_nobody_listens_and_what_waited_is_dropped() {
    for failure in [Failure::Nobody(String::new()), Failure::AnotherLife] {
        let mut rig = Rig::new();
        rig.given.outcomes.lock().unwrap().push_back(Err(failure));
        let _task = rig.start();
        rig.queue.put(vec![1]).unwrap();
        let told = timeout(Duration::from_secs(1), rig.told.recv()).await.unwrap().unwrap().input;
        assert!(matches!(told, Input::Command(Command::Refused(who)) if who == uid(7)), "{told:?}");
        assert_eq!(rig.counts().dropped, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_reached_is_no_reason_to_accuse() {
    let mut rig = Rig::new();
    rig.given.outcomes.lock().unwrap().push_back(Err(Failure::Unreachable(String::new())));
    let mut peer = rig.accepts().await;
    let _task = rig.start();
    rig.queue.put(vec![1]).unwrap();
    while rig.counts().dropped == 0 {
        tokio::task::yield_now().await;
    }
    rig.queue.put(vec![2]).unwrap();
    assert_eq!(next(&mut peer, &mut FrameBuffer::new(4096)).await, [2]);
    assert!(rig.told.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_acknowledges_nothing_is_dialled_anew_within_seconds() {
    let rig = Rig::new();
    let (_silent, mut second) = (rig.accepts().await, rig.accepts().await);
    let _task = rig.start();
    let begun = Instant::now();
    rig.queue.put(vec![1]).unwrap();
    while rig.counts().broken == 0 {
        tokio::time::advance(Duration::from_millis(10)).await;
    }
    rig.queue.put(vec![2]).unwrap();
    assert_eq!(next(&mut second, &mut FrameBuffer::new(4096)).await, [2]);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_acknowledges_keeps_its_connection_until_there_is_long_nothing_to_say() {
    let rig = Rig::new();
    let mut peer = rig.accepts().await;
    let task = rig.start();
    let begun = Instant::now();
    let mut frames = FrameBuffer::new(4096);
    rig.queue.put(vec![1]).unwrap();
    next(&mut peer, &mut frames).await;
    let mut ack = Vec::new();
    put_ack(&mut ack, 7);
    peer.write_all(&ack).await.unwrap();
    timeout(Duration::from_secs(70), task).await.unwrap().unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(59), "{:?}", begun.elapsed());
    assert_eq!(rig.queue.put(vec![2]), Err(vec![2]), "whoever has more to say begins anew");
    assert_eq!((rig.dialled(), rig.counts()), (1, ControlCounts::default()));
}

#[tokio::test(start_paused = true)]
async fn it_is_dialled_no_more_often_than_once_a_second_in_the_long_run() {
    let rig = Rig::new();
    let _task = rig.start();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        rig.queue.put(vec![1]).unwrap();
        tokio::time::advance(Duration::from_millis(20)).await;
    }
    assert!((30..=130).contains(&rig.dialled()), "{}", rig.dialled());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_finished_says_what_it_has_and_goes() {
    let rig = Rig::new();
    let mut peer = rig.accepts().await;
    let task = rig.start();
    let mut frames = FrameBuffer::new(4096);
    rig.queue.put(vec![1]).unwrap();
    assert_eq!(next(&mut peer, &mut frames).await, [1]);
    rig.queue.put(vec![2]).unwrap();
    rig.queue.finish();
    assert_eq!(next(&mut peer, &mut frames).await, [2]);
    timeout(Duration::from_secs(1), task).await.unwrap().unwrap();
    let (alone, late) = (Rig::new(), Duration::from_secs(1));
    alone.queue.put(vec![1]).unwrap();
    alone.queue.finish();
    timeout(late, alone.start()).await.unwrap().unwrap();
    assert_eq!((alone.dialled(), alone.counts().dropped), (0, 1), "it makes no new connection");
}
