//! One end of a connection inside the process.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use borough_protocol::incarnation::Address;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::MemoryNetwork;
use super::link::Step;
use crate::transport::Stream;

pub(super) struct MemoryStream {
    network: MemoryNetwork,
    link: u64,
    end: usize,
    /// Until bytes that are under way arrive. Made where it is polled.
    timer: Option<Pin<Box<Sleep>>>,
}

impl MemoryStream {
    pub(super) fn new(network: MemoryNetwork, link: u64, end: usize) -> Self {
        Self { network, link, end, timer: None }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if timer.deadline() != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(cx)
    }
}

impl Stream for MemoryStream {
    fn rehome(&mut self) -> io::Result<()> {
        self.timer = None;
        Ok(())
    }

    fn vouches_for(&self, _address: &Address) -> Option<bool> {
        None
    }
}

impl AsyncRead for MemoryStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut wakers = Vec::new();
            let step = match self.network.lock().links.get_mut(&self.link) {
                Some(link) => link.read(self.end, cx, buffer, &mut wakers)?,
                None => return Poll::Ready(Ok(())),
            };
            wakers.into_iter().for_each(Waker::wake);
            match step {
                Step::Done => return Poll::Ready(Ok(())),
                Step::Pending => return Poll::Pending,
                Step::At(at) => std::task::ready!(self.poll_timer(cx, at)),
            }
        }
    }
}

impl AsyncWrite for MemoryStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut wakers = Vec::new();
        let written = {
            let state = &mut *self.network.lock();
            match state.links.get_mut(&self.link) {
                Some(link) => link.write(self.end, cx, bytes, &mut state.random, &mut wakers),
                None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
        };
        wakers.into_iter().for_each(Waker::wake);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut wakers = Vec::new();
        {
            let state = &mut *self.network.lock();
            if let Some(link) = state.links.get_mut(&self.link) {
                link.end(self.end, &mut state.random, &mut wakers);
            }
        }
        wakers.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryStream {
    fn drop(&mut self) {
        let mut wakers = Vec::new();
        self.network.lock().let_go(self.link, self.end, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }
}
