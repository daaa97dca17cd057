//! What is no handshake is turned away, told apart, counted once and logged once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_wire::handshake::{Call, Dialer};
use tokio::time::Instant;
use tracing::span;

use super::*;

/// Says it to a door, and hears what the door says.
async fn say(words: &[u8], why: Refusal) -> Vec<u8> {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let mut stream = stranger(&network, &open.address).await;
    stream.write_all(words).await.unwrap();
    let answer = last_words(&mut stream).await;
    open.turned_away(why, 1).await;
    answer
}

/// The first message of a node that may come in.
fn hello() -> Vec<u8> {
    let network = MemoryNetwork::new(1);
    let mut out = Vec::new();
    let door = Maker::on(&network, A, 1).door();
    let call = Call { lane: Lane::Control, session: 0, expected: None };
    Dialer::new(door.identity(), call, None, [7; 32], &mut out).unwrap();
    out
}

#[tokio::test(start_paused = true)]
async fn what_speaks_something_else_is_not_answered() {
    let start = Instant::now();
    for words in [
        b"GET / HTTP/1.1\r\nHost: b\r\n\r\n".as_slice(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        &[0xff; 100],
        &[0; 100],
    ] {
        assert_eq!(say(words, Refusal::NotBorough).await, b"");
    }
    assert_eq!(start.elapsed(), Duration::ZERO, "it is noticed at once");
}

#[tokio::test(start_paused = true)]
async fn a_length_beyond_the_limit_is_noticed_at_once() {
    let start = Instant::now();
    say(b"\x01\x10BORO", Refusal::NotBorough).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_broken_greeting_is_malformed() {
    let mut words = hello();
    let length = words.len();
    words.truncate(length - 4);
    words[..2].copy_from_slice(&u16::try_from(length - 6).unwrap().to_le_bytes());
    assert_ne!(say(&words, Refusal::Malformed).await, b"");
}

#[tokio::test(start_paused = true)]
async fn a_guessed_proof_is_not_taken() {
    let mut words = hello();
    words.extend_from_slice(b"\x25\x00BORO\x03");
    words.extend_from_slice(&[0; 32]);
    say(&words, Refusal::NotAuthenticated).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_says_nothing_is_gone_after_the_time_of_a_handshake() {
    let start = Instant::now();
    say(b"", Refusal::Silent).await;
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn half_a_greeting_and_half_a_handshake_are_over_in_time() {
    let start = Instant::now();
    say(&hello()[..20], Refusal::TimedOut).await;
    assert_eq!(start.elapsed().as_secs(), 5);
    say(&hello(), Refusal::TimedOut).await;
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn dripping_bytes_does_not_buy_time() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let mut stream = stranger(&network, &open.address).await;
    network.slow(&Address::new("stranger"), &open.address, 1);
    stream.write_all(&hello()).await.unwrap();
    let start = Instant::now();
    last_words(&mut stream).await;
    assert_eq!(start.elapsed().as_secs(), 5);
    open.turned_away(Refusal::TimedOut, 1).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_goes_away_early_is_counted() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    drop(stranger(&network, &open.address).await);
    open.turned_away(Refusal::ClosedEarly, 1).await;
}

/// Counts what is logged.
struct Logged {
    lines: Arc<AtomicUsize>,
}

impl tracing::Subscriber for Logged {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN && metadata.target().starts_with("borough_cluster::door")
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, _event: &tracing::Event<'_>) {
        self.lines.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

/// Counts the lines of this thread from now on, as long as the rest is kept.
///
/// Whether a line is wanted at all is found out once, by the thread that first comes to it: while there is one listener, that
/// thread asks its own alone. Hence a second one; and hence the wait until such a thread must be done.
fn count_lines() -> (Arc<AtomicUsize>, impl Sized) {
    let lines = Arc::new(AtomicUsize::new(0));
    let second = tracing::Dispatch::new(Logged { lines: Arc::default() });
    let guard = tracing::subscriber::set_default(Logged { lines: lines.clone() });
    for enough in 0..100 {
        while lines.load(Ordering::Relaxed) <= enough {
            tracing::callsite::rebuild_interest_cache();
            Refusals::default().add(Refusal::NotBorough, "nobody", "");
            std::thread::yield_now();
        }
    }
    lines.store(0, Ordering::Relaxed);
    (lines, (second, guard))
}

#[tokio::test(start_paused = true)]
async fn a_thousand_refusals_are_a_thousand_counts_and_one_line() {
    let (lines, _guard) = count_lines();
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    for _ in 0..1000 {
        let mut stream = stranger(&network, &open.address).await;
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        last_words(&mut stream).await;
    }
    open.turned_away(Refusal::NotBorough, 1000).await;
    assert_eq!(lines.load(Ordering::Relaxed), 1);
    tokio::time::advance(seldom::LOG_EVERY).await;
    let mut stream = stranger(&network, &open.address).await;
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    last_words(&mut stream).await;
    open.turned_away(Refusal::NotBorough, 1001).await;
    assert_eq!(lines.load(Ordering::Relaxed), 2);
}
