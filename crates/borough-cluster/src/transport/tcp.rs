//! TCP: what nodes use, with TLS on top or without.
//!
//! Promise: small writes leave at once (`TCP_NODELAY`), and the error of a dial says which address it is about. Dead
//! peers are found by heartbeats; keepalive is for what lies between, and for halves of connections.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_protocol::incarnation::Address;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::time::timeout;

use super::{Boxed, Listener, Stream, Transport, Unresolved};

/// TCP without anything on top.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpTransport;

impl Transport for TcpTransport {
    fn bind(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Listener>>> {
        let address = address.clone();
        Box::pin(async move {
            // The error of the start says where.
            let listener = listen(address.as_str()).await?;
            Ok(Box::new(TcpDoor { listener }) as Box<dyn Listener>)
        })
    }

    fn dial(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        let address = address.clone();
        Box::pin(async move {
            let places = resolve(&address).await?;
            match TcpStream::connect(&*places).await {
                Ok(stream) => {
                    keep_alive(&stream);
                    Ok(Box::new(TcpConnection::new(stream)) as Box<dyn Stream>)
                }
                Err(error) => Err(about("cannot connect to", &address, &error)),
            }
        })
    }

    fn secure(&self, stream: Box<dyn Stream>) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move { Ok(stream) })
    }
}

/// Where that address is now. A resolver that does not answer in time does not resolve the name.
async fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let Ok(found) = timeout(RESOLVE_TIME, lookup_host(address.as_str())).await else {
        let why = format!("the resolver did not answer within {} s", RESOLVE_TIME.as_secs());
        return Err(Unresolved::error(address, &why));
    };
    match found.map(Iterator::collect) {
        Ok(places) => Ok(places),
        // Not of the form `host:port`: no name was looked up.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(about("cannot connect to", address, &error))
        }
        Err(error) => Err(Unresolved::error(address, &error)),
    }
}

/// Has the system look whether a silent connection still stands, so that what lies between forgets no idle one, and half of one does not
/// stay for ever. Without it nothing is wrong, only slower.
fn keep_alive(stream: &TcpStream) {
    let often = TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_EVERY);
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&often) {
        tracing::debug!(%error, "a connection is not kept alive");
    }
}

/// For so long the resolver is waited for: less than a handshake may take by default, so that a name that does not resolve is told apart from a node that does
/// not answer.
const RESOLVE_TIME: Duration = Duration::from_secs(4);

const KEEPALIVE_AFTER: Duration = Duration::from_secs(30);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(10);

/// How many may wait to be accepted; the system may allow fewer. With the usual 128 a burst makes others wait a second, which is
/// when they try again.
const BACKLOG: u32 = 4096;

/// Listens at the first of the addresses of that name that can be had.
async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut failed = None;
    for address in lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let listening = socket.and_then(|socket| {
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        });
        match listening {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the name has no address")))
}

fn about(what: &str, address: &Address, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {address}: {error}"))
}

struct TcpDoor {
    listener: TcpListener,
}

impl Listener for TcpDoor {
    fn accept(&mut self) -> Boxed<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            keep_alive(&stream);
            Ok((Box::new(TcpConnection::new(stream)) as Box<dyn Stream>, from.to_string()))
        })
    }

    fn local_address(&self) -> io::Result<Address> {
        Ok(Address::new(self.listener.local_addr()?.to_string()))
    }
}

/// A TCP connection that can change its runtime.
struct TcpConnection {
    /// None after a move between runtimes failed.
    stream: Option<TcpStream>,
}

impl TcpConnection {
    fn new(stream: TcpStream) -> Self {
        // It fails where the other side is already gone, and the first read says so.
        drop(stream.set_nodelay(true));
        Self { stream: Some(stream) }
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(lost)
    }
}

fn lost() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the connection was lost on its way to another runtime")
}

impl Stream for TcpConnection {
    fn rehome(&mut self) -> io::Result<()> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(io::Error::other("a connection can only be moved to a runtime from inside of it"));
        }
        let plain = self.stream.take().ok_or_else(lost)?.into_std()?;
        self.stream = Some(TcpStream::from_std(plain)?);
        Ok(())
    }

    fn vouches_for(&self, _address: &Address) -> Option<bool> {
        None
    }
}

impl AsyncRead for TcpConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(cx, buffer)
    }
}

impl AsyncWrite for TcpConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn pair() -> (Box<dyn Stream>, Box<dyn Stream>) {
        let mut listener = TcpTransport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
        let address = listener.local_address().unwrap();
        let (dialled, accepted) = tokio::join!(TcpTransport.dial(&address), listener.accept());
        (dialled.unwrap(), accepted.unwrap().0)
    }

    #[tokio::test]
    async fn an_open_port_is_chosen_and_told() {
        let listener = TcpTransport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
        let address = listener.local_address().unwrap();
        assert!(address.as_str().starts_with("127.0.0.1:"));
        assert!(!address.as_str().ends_with(":0"));
    }

    /// A part of a name has 63 letters at most: the system refuses the name by itself, and asks nobody.
    #[tokio::test]
    async fn a_name_that_does_not_resolve_is_told_apart_from_an_address_where_nobody_listens() {
        let name = Address::new(format!("{}.invalid:25520", "a".repeat(64)));
        let error = TcpTransport.dial(&name).await.err().unwrap();
        assert!(Unresolved::is_in(&error), "{error}");
        assert!(error.to_string().contains("does not resolve"), "{error}");
        let listener = TcpTransport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
        let address = listener.local_address().unwrap();
        drop(listener);
        let error = TcpTransport.dial(&address).await.err().unwrap();
        assert!(!Unresolved::is_in(&error), "{error}");
    }

    #[tokio::test]
    async fn an_address_where_nobody_listens_is_named_in_the_error() {
        let listener = TcpTransport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
        let address = listener.local_address().unwrap();
        drop(listener);
        let error = TcpTransport.dial(&address).await.err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(error.to_string().contains(address.as_str()), "{error}");
    }

    #[test]
    fn a_connection_goes_on_in_another_runtime() {
        let one = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut dialled, mut accepted) = one.block_on(pair());
        let two = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        two.block_on(async {
            dialled.rehome().unwrap();
            accepted.rehome().unwrap();
        });
        // Had it stayed at home, nothing would ever wake it again.
        drop(one);
        two.block_on(async {
            let mut read = [0; 5];
            let (written, filled) = tokio::join!(dialled.write_all(b"hello"), accepted.read_exact(&mut read));
            written.unwrap();
            filled.unwrap();
            assert_eq!(&read, b"hello");
        });
    }

    #[test]
    fn a_connection_cannot_be_moved_to_nowhere() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut dialled, _accepted) = runtime.block_on(pair());
        assert!(dialled.rehome().is_err());
    }
}
