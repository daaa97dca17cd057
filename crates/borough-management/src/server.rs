//! Connections: who is let in, how many at once, and for how long.
//!
//! Promise: whatever comes in by a connection costs a bounded piece of memory, and no other connection notices it; one whose other side neither sends
//! nor reads is closed, so nobody keeps a place by doing nothing.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use borough_cluster::TlsDoor;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::bounded_writes::BoundedWrites;

/// How many connections there are at once; more wait to be let in.
const CONNECTIONS: usize = 256;
/// How long a head may take to come in, and a certificate to be shown; also how long a connection may be idle, or take nothing of an answer.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How large a head may be, in bytes.
const HEAD_MAX: usize = 32 * 1024;
/// How many headers it may have.
const HEADERS_MAX: usize = 64;
/// How long requests under way have when management ends.
const LAST_TIME: Duration = Duration::from_secs(1);
/// How long nobody is let in after the system would not.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until it is told to close.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsDoor>,
    router: Router,
    closing: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut closed = closing.clone();
    loop {
        let stream = tokio::select! {
            biased;
            _ = closed.wait_for(|closing| *closing) => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        let Ok((stream, place)) = stream else {
            // The process has too many files open, as a rule: some will be closed.
            sleep(PAUSE).await;
            continue;
        };
        let (tls, router, closing) = (tls.clone(), router.clone(), closing.clone());
        connections.spawn(async move {
            // How a connection ended is its own matter.
            let _ = attend(stream, tls, router, closing).await;
            drop(place);
        });
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    // Whoever is left is cut off as the set is dropped.
    let _ = timeout(LAST_TIME, all).await;
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

async fn attend(
    stream: TcpStream,
    tls: Option<TlsDoor>,
    router: Router,
    closing: watch::Receiver<bool>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = BoundedWrites::new(stream, HEAD_TIME);
    let Some(tls) = tls else { return talk(stream, router, closing).await };
    let stream = timeout(HEAD_TIME, tls.accept(stream)).await??;
    talk(stream, router, closing).await
}

async fn talk<S: AsyncRead + AsyncWrite + Send + Unpin>(
    stream: S,
    router: Router,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended.map_err(io::Error::other),
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    connection.await.map_err(io::Error::other)
}
