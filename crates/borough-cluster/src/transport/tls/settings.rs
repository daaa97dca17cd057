//! Where certificates come from.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The certificates by which nodes know each other, for `.tls(..)`.
///
/// Every node shows one, issued by the authority that all of them trust, and valid for the host of the address that
/// the node advertises. Both sides of every connection check the other's. TLS 1.3 is spoken, nothing older.
#[derive(Clone)]
pub struct Tls {
    pub(super) source: Source,
}

#[derive(Clone)]
pub(super) enum Source {
    Files(Files),
    Pem(Arc<Pem>),
}

/// Three files in PEM form.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) authority: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// What stands in them.
pub(super) struct Pem {
    pub(super) authority: Vec<u8>,
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

impl Tls {
    /// Certificates from PEM files: the authorities to trust, this node's certificate followed by those between it
    /// and the authority, and its private key.
    ///
    /// The files are looked at again when a connection is made or accepted, at most once a second: replace them
    /// and the next connection uses the new ones, without a restart. While the new ones cannot be used the old ones
    /// stay, and the reason is logged once. Connections that stand are not touched.
    pub fn from_files(
        authority: impl Into<PathBuf>,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        let (authority, certificate, key) = (authority.into(), certificate.into(), key.into());
        Self { source: Source::Files(Files { authority, certificate, key }) }
    }

    /// The same from PEM text that is already in memory. It never changes.
    pub fn from_pem(
        authority: impl Into<Vec<u8>>,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        let (authority, certificate, key) = (authority.into(), certificate.into(), key.into());
        Self { source: Source::Pem(Arc::new(Pem { authority, certificate, key })) }
    }
}

/// Shows where they come from, never what is in them.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Files(files) => f.debug_tuple("Tls").field(files).finish(),
            Source::Pem(_) => f.write_str("Tls(from memory)"),
        }
    }
}
