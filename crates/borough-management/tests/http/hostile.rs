//! Whatever comes in: an answer, or a closed connection. Nothing panics, hangs, or grows.

use std::net::SocketAddr;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{BOUND, get, parse, raw, request};
use crate::fleet::fleet;

/// Numbers that look like chance, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % bound as u64).unwrap()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.roll().to_le_bytes()[0]).collect()
    }
}

async fn is_well(address: SocketAddr) {
    assert_eq!(get(address, "/health/live").await.status, 200);
}

#[tokio::test]
async fn random_bytes_are_answered_or_cut_off() {
    let [a] = fleet(["a"]).await;
    let mut dice = Dice(7);
    for _ in 0..100 {
        let length = 1 + dice.below(2000);
        let mut bytes = dice.bytes(length);
        bytes.extend_from_slice(b"\r\n\r\n");
        let answer = raw(a.address(), &bytes).await;
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    is_well(a.address()).await;
}

#[tokio::test]
async fn requests_with_bytes_turned_over_are_answered_or_cut_off() {
    let [a] = fleet(["a"]).await;
    let whole = format!(
        "POST /api/move HTTP/1.1\r\nhost: {}\r\nx-borough: 1\r\ncontent-length: 45\r\nconnection: close\r\n\r\n{}\r\n\r\n",
        a.address(),
        r#"{"kind":"counters","shard":70000,"node":"b"}"#
    );
    let mut dice = Dice(11);
    for _ in 0..300 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=dice.below(4) {
            let place = dice.below(bytes.len());
            bytes[place] = dice.roll().to_le_bytes()[0];
        }
        // One that waits for more than is sent is told so by the end of what is sent.
        let answer = closing(a.address(), &bytes).await;
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1."),
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
        assert!(!answer.starts_with(b"HTTP/1.1 5"), "{:?}", String::from_utf8_lossy(&answer));
    }
    is_well(a.address()).await;
    assert_eq!(a.node.topology().current().up().count(), 1);
}

/// Nobody is ready for types that nobody knows; nothing else is the node's own fault.
fn is_fit(path: &str, status: u16) -> bool {
    status < 500 || status == 503 && path.starts_with("/health/ready")
}

/// Sends those bytes and says that nothing follows; reads what comes.
async fn closing(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut answer = Vec::new();
        if stream.write_all(bytes).await.is_ok() && stream.shutdown().await.is_ok() {
            let _ = stream.read_to_end(&mut answer).await;
        }
        answer
    };
    timeout(BOUND, exchange).await.expect("the connection hangs")
}

#[tokio::test]
async fn every_method_and_path_is_answered() {
    let [a] = fleet(["a"]).await;
    let methods = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "x"];
    let mut paths = vec![
        "/".to_owned(),
        "//".to_owned(),
        "/%00".to_owned(),
        "/%".to_owned(),
        "/api/%zz".to_owned(),
        "/api/explain/%/%".to_owned(),
        "/api/explain/counters/%F0%9F%8F%99".to_owned(),
        "/api/leave/".to_owned(),
        "/api/down/%00".to_owned(),
        "*".to_owned(),
        "http://127.0.0.1/api/members".to_owned(),
        "/health/ready?types=%FF".to_owned(),
        "/health/ready?types=,,,&types=x".to_owned(),
        "/health/ready?".to_owned(),
        "/assets/".to_owned(),
        "/assets/..".to_owned(),
        "/../../etc/passwd".to_owned(),
    ];
    paths.push(format!("/api/explain/counters/{}", "%41".repeat(3000)));
    for path in &paths {
        for method in methods {
            let bytes = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
            let answer = raw(a.address(), bytes.as_bytes()).await;
            let status = parse(&answer).map(|answer| answer.status);
            assert!(status.is_none_or(|status| is_fit(path, status)), "{method} {path}: {status:?}");
        }
        assert!(request(a.address(), "POST", path, &[("x-borough", "1")], "").await.status < 500, "{path}");
    }
    is_well(a.address()).await;
    assert_eq!(a.node.topology().current().up().count(), 1);
}

#[tokio::test]
async fn heads_and_bodies_without_end_are_cut_off() {
    let [a] = fleet(["a"]).await;
    let address = a.address();
    let huge = "x".repeat(200_000);
    for head in [
        format!("GET /{huge} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: {huge}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n{}\r\n", "a: b\r\n".repeat(1000)),
    ] {
        let answer = raw(address, head.as_bytes()).await;
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    let order = format!(r#"{{"kind":"{huge}","shard":0,"node":"a"}}"#);
    let head = "POST /api/move HTTP/1.1\r\nhost: 127.0.0.1\r\nx-borough: 1\r\nconnection: close\r\n";
    let sized = format!("{head}content-length: {}\r\n\r\n{order}", order.len());
    let chunked =
        format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{order}\r\n0\r\n\r\n", order.len());
    for request in [sized, chunked] {
        let answer = raw(address, request.as_bytes()).await;
        // Who is told while it still sends may be cut off before it reads the answer.
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 413"),
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    let deep = "[".repeat(10_000);
    assert_eq!(request(address, "POST", "/api/move", &[("x-borough", "1")], &deep).await.status, 400);
    is_well(address).await;
}

#[tokio::test]
async fn those_who_say_nothing_do_not_keep_others_out() {
    let [a] = fleet(["a"]).await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(a.address()).await.unwrap();
        stream.write_all(b"GET /api/members HTT").await.unwrap();
        silent.push(stream);
    }
    is_well(a.address()).await;
}

/// One who asks for much and reads nothing. Little of it can be on its way, so that little is enough.
async fn deaf(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    SockRef::from(&socket).set_tcp_mss(536).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let asked = b"GET /assets/map.js HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(64);
    stream.write_all(&asked).await.unwrap();
    stream
}

#[tokio::test]
async fn those_who_ask_and_do_not_read_keep_no_place() {
    let [a] = fleet(["a"]).await;
    let mut all = Vec::new();
    // As many as there are places.
    for _ in 0..256 {
        all.push(deaf(a.address()).await);
    }
    is_well(a.address()).await;
}

#[tokio::test]
async fn who_says_nothing_more_is_cut_off() {
    let [a] = fleet(["a"]).await;
    let silent = raw(a.address(), b"");
    let halfway = raw(a.address(), b"GET /health/live HTTP/1.1\r\nhost: loc");
    let idle = raw(a.address(), b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let waits = b"POST /api/move HTTP/1.1\r\nhost: localhost\r\nx-borough: 1\r\ncontent-length: 9\r\n\r\n{";
    let unfinished = raw(a.address(), waits);
    let (silent, halfway, idle, unfinished) = tokio::join!(silent, halfway, idle, unfinished);
    assert!(silent.is_empty() && !halfway.starts_with(b"HTTP/1.1 2"));
    assert!(idle.starts_with(b"HTTP/1.1 200"));
    assert!(unfinished.starts_with(b"HTTP/1.1 504"), "{:?}", String::from_utf8_lossy(&unfinished));
}

#[tokio::test]
async fn many_at_once_are_all_answered() {
    let [a, b] = fleet(["a", "b"]).await;
    let mut asked = JoinSet::new();
    for number in 0..200 {
        let address = if number % 2 == 0 { a.address() } else { b.address() };
        let path = ["/api/members", "/api/stats", "/api/entities", "/metrics", "/api/shards"][number % 5];
        asked.spawn(async move { get(address, path).await.status });
    }
    while let Some(status) = asked.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let [a] = fleet(["a"]).await;
    let mut stream = TcpStream::connect(a.address()).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut part = [0; 1024];
            let read = timeout(BOUND, stream.read(&mut part)).await.unwrap().unwrap();
            assert!(read > 0, "closed in the middle");
            answer.extend_from_slice(&part[..read]);
        }
        assert_eq!(parse(&answer).unwrap().status, 200);
    }
}
