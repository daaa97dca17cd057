//! TLS for those who accept connections of another kind than nodes' own.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::error::TlsError;
use super::settings::Tls;
use super::told_apart;
use super::wardrobe::Wardrobe;

/// Accepts connections by certificates on both sides, as nodes do: for what a program serves beside its node.
///
/// Whoever is let through holds the key of a certificate that the authority issued. TLS 1.3 alone.
#[derive(Clone)]
pub struct TlsDoor {
    wardrobe: Arc<Wardrobe>,
}

impl TlsDoor {
    /// Reads the certificates; fails if they cannot be used, or its own is not valid now.
    pub fn new(tls: &Tls) -> Result<Self, TlsError> {
        let wardrobe = Wardrobe::new(tls)?;
        wardrobe.check_dates()?;
        Ok(Self { wardrobe: Arc::new(wardrobe) })
    }

    /// Lets one who connected prove itself. It takes as long as the other side likes: bound it. An error of kind `PermissionDenied` is about
    /// its certificate. Not cancel safe: the connection is lost.
    pub async fn accept<S: AsyncRead + AsyncWrite + Send + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<S>> {
        let material = self.wardrobe.current().await;
        material.acceptor.accept(stream).await.map_err(told_apart)
    }
}

impl fmt::Debug for TlsDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsDoor")
    }
}
