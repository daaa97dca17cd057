//! Neither a crowd at the door nor a listener that fails keeps those out who may come in.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::transport::Listener;

#[tokio::test(start_paused = true)]
async fn two_thousand_silent_ones_do_not_keep_a_node_out() {
    let network = MemoryNetwork::new(1);
    let mut open = Open::at(Maker::on(&network, B, 2)).await;
    let mut silent = Vec::new();
    for _ in 0..2000 {
        silent.push(stranger(&network, &open.address).await);
    }
    let start = Instant::now();
    let dialer = Maker::on(&network, A, 1).door();
    let mut here = dialer.dial(&open.address, None, Lane::Control, 0).await.unwrap();
    let mut there = open.entered().await;
    pass(&mut here, &mut there, 1).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    // 2000 and the node, of whom 1024 may wait at once.
    open.turned_away(Refusal::CrowdedOut, 2001 - 1024).await;
}

#[tokio::test(start_paused = true)]
async fn one_crowd_after_the_other_leaves_nothing_behind() {
    let network = MemoryNetwork::new(1);
    let limits = Limits { handshakes_at_once: 10, ..Limits::default() };
    let open = Open::at(Maker { limits, ..Maker::on(&network, B, 2) }).await;
    for _ in 0..3 {
        let mut silent = Vec::new();
        for _ in 0..10 {
            silent.push(stranger(&network, &open.address).await);
        }
        for mut stream in silent {
            last_words(&mut stream).await;
        }
    }
    open.turned_away(Refusal::Silent, 30).await;
    assert_eq!(network.connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_door_that_is_closed_lets_go_of_those_who_wait() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let mut stream = stranger(&network, &open.address).await;
    let start = Instant::now();
    drop(open);
    assert_eq!(last_words(&mut stream).await, b"");
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_speaks_at_once_leaves_others_their_turns() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let mut crowd = Vec::new();
    for _ in 0..1000 {
        crowd.push(stranger(&network, &open.address).await);
    }
    // Until each of them has had its first step.
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    for stream in &mut crowd {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    }
    assert_eq!(open.door.refusals().total(), 0);
    let (mut before, mut most) = (0, 0);
    while before < 1000 {
        tokio::task::yield_now().await;
        let now = open.door.refusals().total();
        most = most.max(now - before);
        before = now;
    }
    assert!((1..=2 * turns::AT_ONCE as u64).contains(&most), "{most}");
}

/// Fails a number of times before it accepts, as when file descriptors are short.
struct Failing {
    below: Box<dyn Listener>,
    failures: u32,
    tried: Arc<Mutex<Vec<Instant>>>,
}

impl Listener for Failing {
    fn accept(&mut self) -> Boxed<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            self.tried.lock().unwrap().push(Instant::now());
            if self.failures > 0 {
                self.failures -= 1;
                return Err(io::Error::other("too many open files"));
            }
            self.below.accept().await
        })
    }

    fn local_address(&self) -> io::Result<Address> {
        self.below.local_address()
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_is_tried_again_more_and_more_seldom() {
    let network = MemoryNetwork::new(1);
    let maker = Maker::on(&network, B, 2);
    let below = maker.transport.bind(&Address::new(B)).await.unwrap();
    let tried = Arc::default();
    let failing = Failing { below, failures: 12, tried: Arc::clone(&tried) };
    let (entered, mut kept) = mpsc::unbounded_channel();
    let task =
        tokio::spawn(maker.door().listen(Box::new(failing), Arc::new(Porter { resume: Ok(0), entered })));
    let start = Instant::now();
    let dialer = Maker {
        limits: Limits { handshake_time: Duration::from_secs(60), ..Limits::default() },
        ..Maker::on(&network, A, 1)
    };
    dialer.door().dial(&Address::new(B), None, Lane::Control, 0).await.unwrap();
    kept.recv().await.unwrap();
    task.abort();
    let tried = tried.lock().unwrap();
    let pauses: Vec<_> = tried.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    let grows = [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 1000, 1000];
    assert!(pauses.iter().zip(grows).all(|(pause, least)| (least..=least + 2).contains(pause)), "{pauses:?}");
    assert!(start.elapsed() < Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_takes_from_those_who_wait_first() {
    let network = MemoryNetwork::new(1);
    let maker = Maker::on(&network, B, 2);
    let below = maker.transport.bind(&Address::new(B)).await.unwrap();
    let (entered, _kept) = mpsc::unbounded_channel();
    let door = maker.door();
    let failing = Scarce { below, free: Arc::new(Semaphore::new(3)) };
    let task =
        tokio::spawn(door.clone().listen(Box::new(failing), Arc::new(Porter { resume: Ok(0), entered })));
    let mut silent = Vec::new();
    for _ in 0..10 {
        silent.push(stranger(&network, &Address::new(B)).await);
    }
    let start = Instant::now();
    let dialer = Maker::on(&network, A, 1).door();
    dialer.dial(&Address::new(B), None, Lane::Control, 0).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    // Eleven came, and this listener always wants a place for the next: two stay.
    assert_eq!(door.refusals().of(Refusal::CrowdedOut), 9);
    task.abort();
}

/// Has room for few connections at once, like a process with few file descriptors.
struct Scarce {
    below: Box<dyn Listener>,
    free: Arc<Semaphore>,
}

impl Listener for Scarce {
    fn accept(&mut self) -> Boxed<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let Ok(seat) = self.free.clone().try_acquire_owned() else {
                return Err(io::Error::other("too many open files"));
            };
            let (stream, from) = self.below.accept().await?;
            Ok((Box::new(seat::Seated { stream, _seat: seat }) as Box<dyn Stream>, from))
        })
    }

    fn local_address(&self) -> io::Result<Address> {
        self.below.local_address()
    }
}
