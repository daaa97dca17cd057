//! The smallest client of HTTP/1.1 that will do: it sends what it is told, byte for byte.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything here takes.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn of<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The value of a header, in lower case; empty if there is none.
    pub(crate) fn header(&self, name: &str) -> String {
        let wanted = format!("{}:", name.to_lowercase());
        let line = self.head.lines().map(str::to_lowercase).find(|line| line.starts_with(&wanted));
        line.map_or_else(String::new, |line| line[wanted.len()..].trim().to_owned())
    }
}

/// Asks for that path.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, &[], "").await
}

/// Gives an order, as a program does.
pub(crate) async fn post(address: SocketAddr, path: &str, body: &str) -> Answer {
    request(address, "POST", path, &[("x-borough", "1")], body).await
}

/// One request on a connection of its own.
pub(crate) async fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        write!(text, "host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    write!(text, "content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
    let bytes = raw(address, text.as_bytes()).await;
    parse(&bytes).unwrap_or_else(|| panic!("{method} {path}: {:?}", String::from_utf8_lossy(&bytes)))
}

/// Sends those bytes, and reads until the other side closes.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut read, mut write) = stream.split();
        let mut answer = Vec::new();
        // Whoever has heard enough closes before all is sent: both at once.
        let (_, _) = tokio::join!(
            async {
                let sent = write.write_all(bytes).await;
                sent.and(write.flush().await)
            },
            read.read_to_end(&mut answer)
        );
        answer
    };
    timeout(BOUND, exchange).await.expect("the connection hangs")
}

/// The answer in those bytes, if they are one.
pub(crate) fn parse(bytes: &[u8]) -> Option<Answer> {
    let split = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..split].to_vec()).ok()?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let mut body = bytes[split + 4..].to_vec();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body)?;
    }
    Some(Answer { status, head, body: String::from_utf8(body).ok()? })
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).ok()?, 16).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(rest.get(end + 2..end + 2 + length)?);
        rest = rest.get(end + 4 + length..)?;
    }
}

/// A stream of server-sent events.
pub(crate) struct Listener {
    lines: BufReader<TcpStream>,
}

impl Listener {
    /// Listens there; says with which status it was answered.
    pub(crate) async fn open(address: SocketAddr, path: &str, last_id: Option<&str>) -> (u16, Self) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let last_id = last_id.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
        let text = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{last_id}\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut listener = Self { lines: BufReader::new(stream) };
        let first = listener.line().await.unwrap();
        while !listener.line().await.unwrap().is_empty() {}
        (first.split(' ').nth(1).unwrap().parse().unwrap(), listener)
    }

    /// The next event, its id first; `None` once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<(String, String)> {
        let mut id = None;
        loop {
            let line = self.line().await?;
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                // axum writes the data before the id, or after it.
                let data = text.to_owned();
                while id.is_none() {
                    let line = self.line().await?;
                    id = line.strip_prefix("id: ").map(str::to_owned);
                }
                return Some((id.unwrap(), data));
            }
        }
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(BOUND, self.lines.read_line(&mut line)).await.expect("nothing comes");
        match read {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }
}
