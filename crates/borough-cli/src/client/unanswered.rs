//! What it means to a person that no answer came.
//!
//! Whether a management takes a certificate is known only after this side takes the connection for made (so it is in TLS 1.3), and its word on
//! that can be lost behind the end of the connection. So a connection that ends without an answer is explained as well.

use std::io::ErrorKind;

use borough::cluster::is_about_certificates;
use rustls::AlertDescription as Alert;
use rustls::CertificateError as Flaw;

use super::credentials::Credentials;
use super::endpoint::Endpoint;

/// What to do where a certificate is wanted and none was shown.
const NAME_ONE: &str = "name one that its authority issued with --tls-certificate, and its key with --tls-key \
                        (`borough certs` makes them for development)";

/// What was tried, what came of it, what to do. Over HTTPS with the certificates that were used.
pub(super) fn explain(
    endpoint: &Endpoint,
    credentials: Option<&Credentials>,
    error: &ureq::Error,
) -> anyhow::Error {
    let words = match credentials {
        Some(credentials) => behind_certificates(endpoint, credentials, error),
        None => in_the_open(endpoint, error),
    };
    anyhow::Error::msg(words.unwrap_or_else(|| {
        format!(
            "no node answers at {endpoint}: {error}; name the management of a node that runs with \
             --address HOST:PORT or BOROUGH_MANAGEMENT (`borough demo` prints the one of its cluster)"
        )
    }))
}

fn in_the_open(endpoint: &Endpoint, error: &ureq::Error) -> Option<String> {
    let is_other = matches!(error, ureq::Error::Protocol(_)) || was_cut_off(error);
    is_other.then(|| {
        format!(
            "{endpoint} gives no answer in HTTP ({error}): if its management is behind certificates, ask \
             --address {} with --tls-authority, --tls-certificate and --tls-key; if not, its node may be \
             ending, or another program is there",
            endpoint.otherwise()
        )
    })
}

fn behind_certificates(
    endpoint: &Endpoint,
    credentials: &Credentials,
    error: &ureq::Error,
) -> Option<String> {
    match of_tls(error) {
        Some(rustls::Error::InvalidCertificate(flaw)) => Some(mistrusted(endpoint, credentials, flaw)),
        Some(error @ rustls::Error::AlertReceived(alert)) if is_about_certificates(error) => {
            Some(refused(endpoint, credentials, *alert))
        }
        Some(rustls::Error::InvalidMessage(_)) => Some(format!(
            "{endpoint} does not speak TLS: if its management is not behind certificates, ask --address {}",
            endpoint.otherwise()
        )),
        Some(error) => Some(format!("{endpoint} and this program do not agree on TLS: {error}")),
        None => was_cut_off(error).then(|| cut_off(endpoint, credentials, error)),
    }
}

/// What TLS has to say, wherever it stands in the error.
fn of_tls(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// The certificate of the management is not good enough for us.
fn mistrusted(endpoint: &Endpoint, credentials: &Credentials, flaw: &Flaw) -> String {
    match flaw {
        Flaw::NotValidForName | Flaw::NotValidForNameContext { .. } => {
            format!("{endpoint} shows a certificate of other hosts ({flaw}); ask it by a host that it names")
        }
        Flaw::Expired | Flaw::ExpiredContext { .. } | Flaw::NotValidYet | Flaw::NotValidYetContext { .. } => {
            format!(
                "{endpoint} shows a certificate that is not valid now ({flaw}); give its node a new one, or set \
                 the clock here"
            )
        }
        _ => format!(
            "{endpoint} shows a certificate that the authority in {} does not vouch for ({flaw}); name the one \
             that issued it with --tls-authority",
            credentials.authority().display()
        ),
    }
}

/// Ours is not good enough for the management.
fn refused(endpoint: &Endpoint, credentials: &Credentials, alert: Alert) -> String {
    match credentials.certificate() {
        Some(certificate) => format!(
            "{endpoint} does not take the certificate in {} ({alert:?}); name one with --tls-certificate that \
             its authority issued, that is made for clients and has not run out",
            certificate.display()
        ),
        None => format!("{endpoint} wants to be shown a certificate ({alert:?}); {NAME_ONE}"),
    }
}

fn cut_off(endpoint: &Endpoint, credentials: &Credentials, error: &ureq::Error) -> String {
    match credentials.certificate() {
        Some(certificate) => format!(
            "{endpoint} ends the connection without an answer ({error}): its management may not take the \
             certificate in {}, its node may be ending, or another program is there",
            certificate.display()
        ),
        None => format!(
            "{endpoint} ends the connection without an answer ({error}), as a management does that wants to be \
             shown a certificate; {NAME_ONE}"
        ),
    }
}

/// Whether the other side ended the connection without a word that we understand.
fn was_cut_off(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::UnexpectedEof
    )
}
