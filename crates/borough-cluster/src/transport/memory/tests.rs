//! Each fault does what it says, and nothing else.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::link::PIPE;
use super::*;

const LONG: Duration = Duration::from_secs(3600);

fn address(name: &str) -> Address {
    Address::new(name)
}

async fn pair(network: &MemoryNetwork) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let mut listener = network.transport(address("b")).bind(&address("b")).await.unwrap();
    let transport = network.transport(address("a"));
    let to = address("b");
    let (dialled, accepted) = tokio::join!(transport.dial(&to), listener.accept());
    let (accepted, from) = accepted.unwrap();
    assert_eq!(from, "a");
    (dialled.unwrap(), accepted)
}

#[tokio::test(start_paused = true)]
async fn bytes_go_both_ways_and_the_end_arrives_after_them() {
    let (mut dialled, mut accepted) = pair(&MemoryNetwork::new(1)).await;
    dialled.write_all(b"there").await.unwrap();
    accepted.write_all(b"back").await.unwrap();
    dialled.shutdown().await.unwrap();
    drop(accepted.write_all(b"!").await);
    let mut there = Vec::new();
    accepted.read_to_end(&mut there).await.unwrap();
    assert_eq!(there, b"there");
    drop(accepted);
    let mut back = Vec::new();
    dialled.read_to_end(&mut back).await.unwrap();
    assert_eq!(back, b"back!");
}

#[tokio::test(start_paused = true)]
async fn a_writer_waits_for_the_reader_when_the_pipe_is_full() {
    let (mut dialled, mut accepted) = pair(&MemoryNetwork::new(1)).await;
    let bytes: Vec<u8> = (0..3 * PIPE).map(|number| u8::try_from(number % 251).unwrap()).collect();
    assert!(timeout(LONG, dialled.write_all(&vec![7; PIPE + 1])).await.is_err());
    let mut skipped = vec![0; PIPE];
    accepted.read_exact(&mut skipped).await.unwrap();
    let mut read = vec![0; bytes.len()];
    let (written, filled) = tokio::join!(dialled.write_all(&bytes), accepted.read_exact(&mut read));
    written.unwrap();
    filled.unwrap();
    assert_eq!(read, bytes);
}

#[tokio::test(start_paused = true)]
async fn a_cut_holds_bytes_back_until_it_is_healed() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.cut(&address("a"), &address("b"));
    dialled.write_all(b"late").await.unwrap();
    let mut read = [0; 4];
    assert!(timeout(LONG, accepted.read_exact(&mut read)).await.is_err());
    assert!(
        timeout(LONG, dialled.write_all(&vec![0; PIPE])).await.is_err(),
        "a cut does not swallow bytes for ever"
    );
    network.heal(&address("a"), &address("b"));
    accepted.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"late");
}

#[tokio::test(start_paused = true)]
async fn a_cut_is_one_way() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.cut(&address("a"), &address("b"));
    accepted.write_all(b"back").await.unwrap();
    let mut read = [0; 4];
    dialled.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"back");
}

#[tokio::test(start_paused = true)]
async fn who_is_not_heard_back_from_stalls_when_the_pipe_is_full() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.cut(&address("b"), &address("a"));
    let mut read = vec![0; PIPE];
    let bytes = vec![1; PIPE];
    let (written, filled) = tokio::join!(dialled.write_all(&bytes), accepted.read_exact(&mut read));
    written.unwrap();
    filled.unwrap();
    assert!(timeout(LONG, dialled.write_all(b"x")).await.is_err());
    network.heal(&address("b"), &address("a"));
    dialled.write_all(b"x").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn behind_a_cut_nobody_hears_that_the_other_is_gone() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, accepted) = pair(&network).await;
    network.cut(&address("b"), &address("a"));
    drop(accepted);
    dialled.write_all(b"into the void").await.unwrap();
    assert!(timeout(LONG, dialled.read_u8()).await.is_err());
    network.heal(&address("b"), &address("a"));
    assert!(dialled.read_u8().await.is_err());
    assert!(dialled.write_all(b"x").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_dial_over_a_cut_waits_until_it_is_healed() {
    let network = MemoryNetwork::new(1);
    let _listener = network.transport(address("b")).bind(&address("b")).await.unwrap();
    let transport = network.transport(address("a"));
    for (from, to) in [("a", "b"), ("b", "a")] {
        network.cut(&address(from), &address(to));
        assert!(timeout(LONG, transport.dial(&address("b"))).await.is_err());
        let to_dial = address("b");
        let mut dial = transport.dial(&to_dial);
        assert!(timeout(LONG, &mut dial).await.is_err());
        network.heal_all();
        dial.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_fails_both_ends_and_new_connections_can_be_made() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, mut accepted) = pair(&network).await;
    dialled.write_all(b"lost").await.unwrap();
    network.reset(&address("b"), &address("a"));
    assert_eq!(accepted.read_u8().await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(dialled.read_u8().await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(dialled.write_u8(1).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    drop((dialled, accepted));
    assert_eq!(network.connections(), 0);
    let (mut dialled, mut accepted) = pair(&network).await;
    dialled.write_u8(1).await.unwrap();
    assert_eq!(accepted.read_u8().await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reset_wakes_one_who_reads() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, _accepted) = pair(&network).await;
    let reading = tokio::spawn(async move { dialled.read_u8().await });
    tokio::task::yield_now().await;
    network.reset(&address("a"), &address("b"));
    assert!(timeout(LONG, reading).await.unwrap().unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn dials_are_refused_where_nobody_listens_and_where_told_so() {
    let network = MemoryNetwork::new(1);
    let transport = network.transport(address("a"));
    let error = transport.dial(&address("b")).await.err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let listener = transport.bind(&address("b")).await.unwrap();
    network.refuse(&address("a"), &address("b"));
    assert!(transport.dial(&address("b")).await.is_err());
    network.heal(&address("a"), &address("b"));
    assert!(transport.dial(&address("b")).await.is_ok());
    drop(listener);
    assert!(transport.dial(&address("b")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_name_can_be_made_not_to_resolve() {
    let network = MemoryNetwork::new(1);
    let transport = network.transport(address("a"));
    let _listener = transport.bind(&address("b")).await.unwrap();
    network.unresolve(&address("b"));
    assert!(Unresolved::is_in(&transport.dial(&address("b")).await.err().unwrap()));
    network.resolve(&address("b"));
    assert!(transport.dial(&address("b")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_address_is_bound_once_at_a_time() {
    let network = MemoryNetwork::new(1);
    let transport = network.transport(address("b"));
    let first = transport.bind(&address("b")).await.unwrap();
    assert_eq!(transport.bind(&address("b")).await.err().unwrap().kind(), io::ErrorKind::AddrInUse);
    drop(first);
    assert!(transport.bind(&address("b")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_waits_at_a_listener_that_goes_hears_of_it() {
    let network = MemoryNetwork::new(1);
    let listener = network.transport(address("b")).bind(&address("b")).await.unwrap();
    let mut dialled = network.transport(address("a")).dial(&address("b")).await.unwrap();
    drop(listener);
    assert!(dialled.read_u8().await.is_err());
}

/// When each of twenty bytes arrives, in milliseconds after the first was written.
async fn arrivals(seed: u64) -> Vec<u128> {
    let network = MemoryNetwork::new(seed);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.delay(&address("a"), &address("b"), Duration::from_millis(5)..=Duration::from_millis(90));
    let start = Instant::now();
    let mut arrived = Vec::new();
    for number in 0..20 {
        dialled.write_u8(number).await.unwrap();
        assert_eq!(accepted.read_u8().await.unwrap(), number);
        arrived.push(start.elapsed().as_millis());
    }
    arrived
}

#[tokio::test(start_paused = true)]
async fn delays_follow_from_the_seed() {
    let first = arrivals(1).await;
    assert_eq!(first, arrivals(1).await);
    assert_ne!(first, arrivals(2).await);
    assert!(first.windows(2).all(|pair| (5..=92).contains(&(pair[1] - pair[0]))), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn delayed_chunks_keep_their_order() {
    let network = MemoryNetwork::new(3);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.delay(&address("a"), &address("b"), Duration::ZERO..=Duration::from_millis(50));
    for number in 0..100 {
        dialled.write_u8(number).await.unwrap();
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    dialled.shutdown().await.unwrap();
    let mut read = Vec::new();
    accepted.read_to_end(&mut read).await.unwrap();
    assert_eq!(read, (0..100).collect::<Vec<u8>>());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_takes_its_time() {
    let network = MemoryNetwork::new(1);
    let (mut dialled, mut accepted) = pair(&network).await;
    network.slow(&address("a"), &address("b"), 1000);
    dialled.write_all(&[0; 5000]).await.unwrap();
    dialled.shutdown().await.unwrap();
    let start = Instant::now();
    let mut read = Vec::new();
    accepted.read_to_end(&mut read).await.unwrap();
    assert_eq!(read.len(), 5000);
    let seconds = start.elapsed().as_secs_f64();
    assert!((4.8..=5.5).contains(&seconds), "{seconds}");
}
