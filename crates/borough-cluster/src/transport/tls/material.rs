//! From PEM text to something connections can be made with.

use std::sync::Arc;

use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::error::TlsError;
use super::settings::{Files, Pem};
use super::validity;

/// Both ends of a connection, ready to use.
pub(super) struct Material {
    pub(super) connector: TlsConnector,
    pub(super) acceptor: TlsAcceptor,
    verifier: Arc<dyn ClientCertVerifier>,
    /// The own certificate, and those between it and the authority.
    chain: Vec<CertificateDer<'static>>,
}

impl Pem {
    pub(super) fn read(files: &Files) -> Result<Self, TlsError> {
        let read = |path: &std::path::PathBuf| {
            std::fs::read(path).map_err(|source| TlsError::Unreadable { path: path.clone(), source })
        };
        Ok(Self {
            authority: read(&files.authority)?,
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
        })
    }
}

impl Material {
    pub(super) fn new(pem: &Pem) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for authority in certificates("the authority", &pem.authority)? {
            roots.add(authority)?;
        }
        let roots = Arc::new(roots);
        let chain = certificates("the certificate", &pem.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&pem.key)
            .map_err(|source| TlsError::NotPem { what: "the key", source })?;
        let provider = Arc::new(provider());

        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(roots.clone())
            .with_client_auth_cert(chain.clone(), key.clone_key())?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build()?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier.clone())
            .with_single_cert(chain.clone(), key)?;

        // A resumed session is not checked again: one whose certificate ran out or was replaced would stay welcome.
        client.resumption = Resumption::disabled();
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(Self { connector: Arc::new(client).into(), acceptor: Arc::new(server).into(), verifier, chain })
    }

    /// Whether the own certificate is valid now, as another node would see it. What else may be wrong with it the other node says.
    pub(super) fn check_dates(&self) -> Result<(), TlsError> {
        let Some((own, between)) = self.chain.split_first() else { return Ok(()) };
        let now = UnixTime::now();
        let error = self.verifier.verify_client_cert(own, between, now).err();
        match error.and_then(|error| validity::outdated(&error)) {
            Some(why) => Err(TlsError::Outdated { why, now: validity::date(now) }),
            None => Ok(()),
        }
    }
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|source| TlsError::NotPem { what, source })?;
    if found.is_empty() { Err(TlsError::Empty { what }) } else { Ok(found) }
}

#[cfg(feature = "aws-lc-rs")]
fn provider() -> CryptoProvider {
    tokio_rustls::rustls::crypto::aws_lc_rs::default_provider()
}

#[cfg(not(feature = "aws-lc-rs"))]
fn provider() -> CryptoProvider {
    tokio_rustls::rustls::crypto::ring::default_provider()
}
