//! The certificates by which this program and a management know each other.
//!
//! Promise: what cannot be used is said with its option and file before anybody is asked. Only the authority that is named is trusted, none
//! that the machine or the world trusts otherwise.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::endpoint::Endpoint;
use crate::arguments::Target;

/// Whom to trust, and what to show.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    authority: PathBuf,
    certificate: Option<PathBuf>,
    settings: TlsConfig,
}

impl Credentials {
    /// Reads the files that are named. A certificate to show may be left out: a management wants one, what stands before it may not.
    pub(super) fn read(target: &Target, endpoint: &Endpoint) -> Result<Self> {
        let Some(authority) = target.tls_authority.clone() else {
            bail!(
                "{endpoint} is asked over HTTPS, and it is not said whom to trust there: name the authority \
                 that issued its certificate with --tls-authority or BOROUGH_MANAGEMENT_TLS_AUTHORITY"
            );
        };
        let provider = Arc::new(ring::default_provider());
        let shown = match (&target.tls_certificate, &target.tls_key) {
            (Some(certificate), Some(key)) => Some(pair(certificate, key, &provider)?),
            (Some(_), None) => bail!(
                "--tls-certificate is given without its key: name that with --tls-key or \
                 BOROUGH_MANAGEMENT_TLS_KEY"
            ),
            (None, Some(_)) => bail!(
                "--tls-key is given without its certificate: name that with --tls-certificate or \
                 BOROUGH_MANAGEMENT_TLS_CERTIFICATE"
            ),
            (None, None) => None,
        };
        let settings = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(provider)
            .root_certs(trusted(&authority)?)
            .client_cert(shown)
            .build();
        Ok(Self { authority, certificate: target.tls_certificate.clone(), settings })
    }

    /// For the HTTP client.
    pub(super) fn settings(&self) -> TlsConfig {
        self.settings.clone()
    }

    /// The file of the authority.
    pub(super) fn authority(&self) -> &Path {
        &self.authority
    }

    /// The file of the certificate that is shown.
    pub(super) fn certificate(&self) -> Option<&Path> {
        self.certificate.as_deref()
    }
}

fn trusted(path: &Path) -> Result<RootCerts> {
    let authorities = certificates("--tls-authority", path)?;
    // The HTTP client would pass over one that cannot be used, and trust nobody.
    let mut roots = RootCertStore::empty();
    for authority in &authorities {
        let unusable = || format!("--tls-authority {} holds what cannot be an authority", path.display());
        roots.add(authority.clone()).with_context(unusable)?;
    }
    Ok(RootCerts::from(authorities.iter().map(given).collect::<Vec<_>>()))
}

fn pair(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<ClientCert> {
    let chain = certificates("--tls-certificate", certificate)?;
    let text = contents("--tls-key", key)?;
    let no_key = || {
        let name = key.display();
        format!("--tls-key {name} holds no private key; give a PEM file with `-----BEGIN PRIVATE KEY-----`")
    };
    let private = PrivateKeyDer::from_pem_slice(&text).with_context(no_key)?;
    // The HTTP client would panic over a key of another certificate.
    CertifiedKey::from_der(chain.clone(), private, provider).with_context(|| {
        let (certificate, key) = (certificate.display(), key.display());
        format!("{certificate} cannot be used with the key in {key}; name two that were made together")
    })?;
    let chain: Vec<_> = chain.iter().map(given).collect();
    Ok(ClientCert::new_with_certs(&chain, PrivateKey::from_pem(&text).with_context(no_key)?))
}

/// All certificates of a file; one at least.
fn certificates(option: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = contents(option, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let name = path.display();
    let found = found.with_context(|| format!("{option} {name} cannot be read as PEM"))?;
    if found.is_empty() {
        bail!("{option} {name} holds no certificate; give a PEM file with `-----BEGIN CERTIFICATE-----`");
    }
    Ok(found)
}

fn contents(option: &str, path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    fs::read(path).map_err(|error| {
        anyhow!("{option} {name} cannot be read: {error}; name a PEM file that this program may read")
    })
}

/// As the HTTP client takes it.
fn given(certificate: &CertificateDer<'static>) -> Certificate<'static> {
    Certificate::from_der(certificate).to_owned()
}
