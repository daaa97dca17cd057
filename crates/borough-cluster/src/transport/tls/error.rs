//! What can be wrong with certificates before anybody connects.

use std::io;
use std::path::PathBuf;

use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}; name a PEM file that this process may read", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something is not in PEM form.
    #[error("{what} cannot be read as PEM: {source}")]
    NotPem {
        /// Which of the three.
        what: &'static str,
        /// Where it went wrong.
        source: pem::Error,
    },
    /// There is no certificate where one must be.
    #[error("{what} holds no certificate; a PEM file with `-----BEGIN CERTIFICATE-----` is needed")]
    Empty {
        /// Which of the three.
        what: &'static str,
    },
    /// Key and certificate do not go together, or one of them is of a kind that is not supported.
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    /// Nobody would accept it now.
    #[error(
        "the certificate {why}, and this machine's clock says {now}: issue a new certificate, or correct the clock"
    )]
    Outdated {
        /// What is wrong with its dates.
        why: String,
        /// The time now.
        now: String,
    },
    /// No authority can be trusted.
    #[error("the authority cannot be used: {0}")]
    Authority(#[from] rustls::server::VerifierBuilderError),
}
