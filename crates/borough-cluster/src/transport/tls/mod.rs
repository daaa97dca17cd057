//! TLS 1.3 over any other transport, with certificates on both sides.
//!
//! Promise: whoever is let through holds the key of a certificate that our authority issued. Who dials knows that it is
//! valid for the host it dialled; who accepts can ask whether it is valid for the address that the other
//! claims, so that no node can pass for another.

#[cfg(test)]
pub(crate) mod authority;
mod door;
mod error;
mod material;
mod settings;
mod stream;
#[cfg(test)]
mod tests;
mod validity;
mod wardrobe;

use std::io;
use std::sync::Arc;

use borough_protocol::incarnation::Address;
use tokio_rustls::rustls;
use tokio_rustls::rustls::AlertDescription as Alert;
use tokio_rustls::rustls::pki_types::ServerName;

pub use self::door::TlsDoor;
pub use self::error::TlsError;
pub use self::settings::Tls;
use self::stream::TlsConnection;
use self::wardrobe::Wardrobe;
use super::host::HostPort;
use super::{Boxed, Listener, Stream, Transport};

/// TLS over another transport.
pub(crate) struct TlsTransport {
    below: Arc<dyn Transport>,
    wardrobe: Arc<Wardrobe>,
}

impl TlsTransport {
    /// Reads the certificates; fails if they cannot be used.
    pub(crate) fn new(below: Arc<dyn Transport>, tls: &Tls) -> Result<Self, TlsError> {
        Ok(Self { below, wardrobe: Arc::new(Wardrobe::new(tls)?) })
    }

    /// Whether this node's own certificate is valid now: with another it would be let in nowhere.
    pub(crate) fn check_dates(&self) -> Result<(), TlsError> {
        self.wardrobe.check_dates()
    }

    async fn connect(&self, address: &Address) -> io::Result<TlsConnection> {
        let name = server_name(address).ok_or_else(|| {
            let text = format!("{address} is no `host:port` with a host that a certificate can name");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?;
        let stream = self.below.dial(address).await?;
        let material = self.wardrobe.current().await;
        let secured = material.connector.connect(name, stream).await.map_err(told_apart)?;
        Ok(TlsConnection::new(secured))
    }

    async fn accept(&self, stream: Box<dyn Stream>) -> io::Result<TlsConnection> {
        let material = self.wardrobe.current().await;
        let secured = material.acceptor.accept(stream).await.map_err(told_apart)?;
        Ok(TlsConnection::new(secured))
    }
}

impl Transport for TlsTransport {
    fn bind(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Listener>>> {
        self.below.bind(address)
    }

    fn dial(&self, address: &Address) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        let address = address.clone();
        Box::pin(async move { Ok(Box::new(self.connect(&address).await?) as Box<dyn Stream>) })
    }

    fn secure(&self, stream: Box<dyn Stream>) -> Boxed<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = self.below.secure(stream).await?;
            Ok(Box::new(self.accept(stream).await?) as Box<dyn Stream>)
        })
    }
}

/// The name that a certificate for this address must carry.
fn server_name(address: &Address) -> Option<ServerName<'static>> {
    ServerName::try_from(HostPort::of(address)?.host.to_owned()).ok()
}

/// Says by its kind whether a certificate was not good enough (`PermissionDenied`), or whether this is no TLS as we
/// speak it (`InvalidData`).
fn told_apart(error: io::Error) -> io::Error {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    let Some(of_tls) = of_tls.filter(|of_tls| is_about_certificates(of_tls)) else { return error };
    match validity::outdated(of_tls) {
        Some(why) => io::Error::new(io::ErrorKind::PermissionDenied, format!("the peer's certificate {why}")),
        None => io::Error::new(io::ErrorKind::PermissionDenied, error),
    }
}

/// Whether a certificate was not good enough: ours for the other side, or theirs for us. Not for programs: it names a type of the library below.
#[doc(hidden)]
pub fn is_about_certificates(error: &rustls::Error) -> bool {
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => true,
        rustls::Error::AlertReceived(alert) => matches!(
            alert,
            Alert::AccessDenied
                | Alert::BadCertificate
                | Alert::CertificateExpired
                | Alert::CertificateRequired
                | Alert::CertificateRevoked
                | Alert::CertificateUnknown
                | Alert::DecryptError
                | Alert::NoCertificate
                | Alert::UnknownCA
                | Alert::UnsupportedCertificate
        ),
        _ => false,
    }
}
