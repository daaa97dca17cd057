//! A connection whose two ends have shown their certificates.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use borough_protocol::incarnation::Address;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsStream;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::server::ParsedCertificate;

use super::{server_name, told_apart};
use crate::transport::Stream;

pub(super) struct TlsConnection {
    inner: TlsStream<Box<dyn Stream>>,
}

impl TlsConnection {
    pub(super) fn new(inner: impl Into<TlsStream<Box<dyn Stream>>>) -> Self {
        Self { inner: inner.into() }
    }

    /// The certificate that the other side has shown and proved to hold the key of.
    pub(super) fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.inner.get_ref().1.peer_certificates()?.first()
    }

    fn is_certified_for(&self, address: &Address) -> Option<()> {
        let certificate = ParsedCertificate::try_from(self.peer_certificate()?).ok()?;
        verify_server_name(&certificate, &server_name(address)?).ok()
    }
}

impl Stream for TlsConnection {
    fn rehome(&mut self) -> io::Result<()> {
        match &mut self.inner {
            TlsStream::Client(stream) => stream.get_mut().0.rehome(),
            TlsStream::Server(stream) => stream.get_mut().0.rehome(),
        }
    }

    fn vouches_for(&self, address: &Address) -> Option<bool> {
        Some(self.is_certified_for(address).is_some())
    }
}

impl AsyncRead for TlsConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // A dialer hears only here that its certificate was not liked.
        Pin::new(&mut self.inner).poll_read(cx, buffer).map_err(told_apart)
    }
}

impl AsyncWrite for TlsConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
