//! How bytes get from one process to another. Everything above sees these traits alone.
//!
//! Promise: a stream carries bytes in order or ends with an error; it knows nothing of frames.

pub(crate) mod host;
pub(crate) mod memory;
pub(crate) mod tcp;
pub(crate) mod tls;
mod unresolved;

use std::future::Future;
use std::io;
use std::pin::Pin;

use borough_protocol::incarnation::Address;
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use self::unresolved::Unresolved;

/// A future in a box, as traits that are used through `dyn` return it.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A kind of network.
pub(crate) trait Transport: Send + Sync {
    /// Listens at that address.
    fn bind(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Listener>>>;

    /// Connects to that address, and lets the other side prove itself as far as this kind of network can. Fails with [`Unresolved`] inside of the error if its
    /// host is a name without an address.
    fn dial(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Stream>>>;

    /// Lets one who connected prove itself as far as this kind of network can. It may take as long as the other side likes: the
    /// caller bounds it.
    fn secure(&self, stream: Box<dyn Stream>) -> Boxed<'_, io::Result<Box<dyn Stream>>>;
}

/// Where others connect to.
pub(crate) trait Listener: Send {
    /// The next one who connects, and from where. Cancel safe.
    fn accept(&mut self) -> Boxed<'_, io::Result<(Box<dyn Stream>, String)>>;

    /// Where it listens indeed, as `host:port`; the port is known if it was left open.
    fn local_address(&self) -> io::Result<Address>;
}

/// A connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {
    /// Moves it to the runtime this is called in: a connection is accepted on the control thread, and used elsewhere.
    fn rehome(&mut self) -> io::Result<()>;

    /// Whether the other side has proved that it may speak for this address: `None` if this kind of network proves nothing.
    fn vouches_for(&self, address: &Address) -> Option<bool>;
}
