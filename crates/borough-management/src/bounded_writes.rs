//! A connection whose other side must take what it is sent.
//!
//! The library that speaks HTTP bounds how long a request may take to come in; nothing in it bounds how long an answer takes to go out. Promise:
//! a write of which nothing was taken for the given time fails, so who asks and does not read keeps no connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// See the module. Flushing and closing are not bounded: of a socket both are done at once.
pub(crate) struct BoundedWrites<S> {
    stream: S,
    time: Duration,
    /// While a write is pending: when it fails.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> BoundedWrites<S> {
    pub(crate) fn new(stream: S, time: Duration) -> Self {
        Self { stream, time, deadline: None }
    }

    /// What came of a write; an error if none has come to anything for too long.
    fn bounded(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let time = self.time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(time)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other side does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedWrites<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedWrites<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, interval_at};

    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_write_of_which_nothing_is_taken_fails_in_time() {
        let (near, _far) = duplex(16);
        let mut near = BoundedWrites::new(near, TIME);
        near.write_all(&[7; 16]).await.unwrap();
        let began = Instant::now();
        let error = near.write_all(&[7; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let took = began.elapsed();
        assert!(took >= TIME && took < TIME * 2, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_something_now_and_then_is_waited_for() {
        let (near, mut far) = duplex(16);
        let mut near = BoundedWrites::new(near, TIME);
        let slow = tokio::spawn(async move {
            let mut pace = interval_at(Instant::now() + TIME * 9 / 10, TIME * 9 / 10);
            let mut read = [0; 16];
            for _ in 0..8 {
                pace.tick().await;
                far.read_exact(&mut read).await.unwrap();
            }
        });
        near.write_all(&[7; 8 * 16]).await.unwrap();
        slow.await.unwrap();
    }
}
