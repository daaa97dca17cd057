//! What must be set before a node listens where strangers can reach it.
//!
//! Promise: nobody opens a node to a network by leaving something out. Elsewhere than on loopback a node needs
//! certificates, a secret, or a word that says that it shall have neither.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io};

use borough_protocol::incarnation::Address;
use borough_wire::handshake::{Secret, SecretTooShort};

use crate::transport::Transport;
use crate::transport::host::HostPort;
use crate::transport::tls::{Tls, TlsError, TlsTransport};

/// By what a node knows others: what `.tls(..)`, `.secret(..)` and `.insecure()` set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Security {
    /// Certificates on both sides, and everything encrypted.
    pub(crate) tls: Option<Tls>,
    /// A secret that all nodes know.
    pub(crate) secret: Option<Secret>,
    /// Neither, and it shall be so.
    pub(crate) insecure: bool,
}

impl Security {
    /// Whether a node so protected may listen there. Where it may only because it was told to be insecure, that is
    /// logged.
    pub(crate) fn check_listening(&self, listen: &Address) -> Result<(), SecurityError> {
        if HostPort::of(listen).is_none() {
            return Err(SecurityError::NoAddress { address: listen.clone() });
        }
        if is_loopback(listen) || self.tls.is_some() || self.secret.is_some() {
            return Ok(());
        }
        if !self.insecure {
            return Err(SecurityError::Open { address: listen.clone() });
        }
        tracing::warn!(address = %listen, "insecure: whoever reaches this address can join the cluster and send any message");
        Ok(())
    }

    /// What to connect with: TLS on top, if it is set.
    pub(crate) fn transport(&self, below: Arc<dyn Transport>) -> Result<Arc<dyn Transport>, TlsError> {
        match &self.tls {
            Some(tls) => {
                let transport = TlsTransport::new(below, tls)?;
                transport.check_dates()?;
                Ok(Arc::new(transport))
            }
            None => Ok(below),
        }
    }
}

/// Whether others can dial this address, as far as its text tells.
pub(crate) fn check_advertised(address: &Address) -> Result<(), SecurityError> {
    let parts = HostPort::of(address).ok_or_else(|| SecurityError::NoAddress { address: address.clone() })?;
    let is_unspecified = parts.host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_unspecified());
    if is_unspecified || parts.port == 0 {
        return Err(SecurityError::NotDialable { address: address.clone() });
    }
    Ok(())
}

/// Whether this machine alone reaches that address, as far as its text tells.
pub(crate) fn is_loopback(address: &Address) -> bool {
    HostPort::of(address).is_some_and(|HostPort { host, .. }| match host.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback(),
        // Other names may come to mean anything.
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    })
}

/// Why a node does not start to listen. Nothing was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// Anybody could join.
    #[error(
        "{address} can be reached from other machines, and anybody who reaches it could join the cluster: set `.tls(..)` or \
         `.secret(..)`, or `.insecure()` if everybody on that network may"
    )]
    Open {
        /// Where the node was to listen.
        address: Address,
    },
    /// Others are told an address that nobody can dial.
    #[error(
        "others cannot dial {address}: set `.advertise(\"host:port\")` to an address of this machine that they can reach"
    )]
    NotDialable {
        /// What was to be advertised.
        address: Address,
    },
    /// It is no address at all.
    #[error("{address:?} is no address: write `host:port`, with an IPv6 host in brackets")]
    NoAddress {
        /// What was given.
        address: Address,
    },
}

/// The secret in a file, without the line break at its end.
///
/// # Errors
/// If the file cannot be read, or holds fewer than 16 bytes.
pub fn secret_from_file(path: impl AsRef<Path>) -> Result<Secret, SecretError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| SecretError::Unreadable { path: path.to_owned(), source })?;
    let place = || path.display().to_string();
    secret(&bytes).map_err(|source| SecretError::TooShort { place: place(), source })
}

/// The secret in an environment variable, without the line break at its end.
///
/// # Errors
/// If the variable is not set, or holds fewer than 16 bytes.
pub fn secret_from_env(variable: &str) -> Result<Secret, SecretError> {
    let Some(value) = env::var_os(variable) else {
        return Err(SecretError::NotSet { variable: variable.to_owned() });
    };
    let place = || format!("the environment variable {variable}");
    secret(value.as_encoded_bytes()).map_err(|source| SecretError::TooShort { place: place(), source })
}

fn secret(bytes: &[u8]) -> Result<Secret, SecretTooShort> {
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
    Secret::new(&bytes[..end])
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read.
    #[error("cannot read the secret from {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no such variable.
    #[error("the environment variable {variable} is not set: put the secret there")]
    NotSet {
        /// Its name.
        variable: String,
    },
    /// It could be guessed.
    #[error("the secret in {place} is too short: {source}")]
    TooShort {
        /// Where it was found.
        place: String,
        /// How short.
        source: SecretTooShort,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(security: &Security, listen: &str) -> Result<(), SecurityError> {
        security.check_listening(&Address::new(listen))
    }

    #[test]
    fn on_loopback_nothing_needs_to_be_set() {
        for listen in ["127.0.0.1:0", "127.8.8.8:1", "[::1]:4000", "[::ffff:127.0.0.1]:1", "localhost:1"] {
            assert_eq!(check(&Security::default(), listen), Ok(()), "{listen}");
        }
    }

    #[test]
    fn elsewhere_the_error_says_what_to_set() {
        for listen in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[2001:db8::1]:1", "node.example:1"] {
            let error = check(&Security::default(), listen).unwrap_err();
            assert_eq!(error, SecurityError::Open { address: Address::new(listen) });
            for setting in [".tls(..)", ".secret(..)", ".insecure()", listen] {
                assert!(error.to_string().contains(setting), "{error}");
            }
        }
    }

    #[test]
    fn each_of_the_three_settings_opens_the_door() {
        let secret = Some(Secret::new(b"0123456789abcdef").unwrap());
        let tls = Some(Tls::from_pem("", "", ""));
        for security in [
            Security { secret, ..Security::default() },
            Security { tls, ..Security::default() },
            Security { insecure: true, ..Security::default() },
        ] {
            assert_eq!(check(&security, "0.0.0.0:1"), Ok(()));
        }
    }

    #[test]
    fn what_is_advertised_can_be_dialled() {
        for address in ["0.0.0.0:1", "[::]:1", "[::ffff:0.0.0.0]:1", "10.0.0.1:0"] {
            let error = check_advertised(&Address::new(address)).unwrap_err();
            assert!(error.to_string().contains(".advertise("), "{error}");
        }
        for address in ["10.0.0.1:1", "node.example:1", "[::1]:1"] {
            assert_eq!(check_advertised(&Address::new(address)), Ok(()));
        }
    }

    #[test]
    fn what_is_no_address_is_told_so() {
        for address in ["", "node.example", "::1:1"] {
            assert!(matches!(check(&Security::default(), address), Err(SecurityError::NoAddress { .. })));
            assert!(matches!(check_advertised(&Address::new(address)), Err(SecurityError::NoAddress { .. })));
        }
    }

    /// Whether two secrets are the same, as far as a handshake shows.
    fn proves(secret: Secret, text: &str) -> bool {
        use borough_wire::handshake::{Acceptor, Call, Dialer, Identity, Lane, SPOKEN};
        let identity = |uid| Identity {
            cluster: "shop".to_owned(),
            address: "a:1".to_owned(),
            uid,
            codecs: borough_wire::codec::Codecs::built_in(),
            versions: SPOKEN,
        };
        let (mut hello, mut challenge, mut proof) = (Vec::new(), Vec::new(), Vec::new());
        let call = Call { lane: Lane::Control, session: 0, expected: None };
        let mut dialer = Dialer::new(identity(1), call, Some(secret), [1; 32], &mut hello).unwrap();
        let known = Some(Secret::new(text).unwrap());
        let mut acceptor = Acceptor::new(identity(2), known, [2; 32]).unwrap();
        acceptor.step(&hello, &mut challenge).unwrap();
        dialer.step(&challenge, &mut proof).unwrap();
        acceptor.step(&proof, &mut Vec::new()).is_ok()
    }

    #[test]
    fn a_secret_in_a_file_is_read_without_its_line_break() {
        let path = env::temp_dir().join(format!("borough-secret-{}", std::process::id()));
        fs::write(&path, "0123456789abcdef\r\n").unwrap();
        let secret = secret_from_file(&path).unwrap();
        assert!(!proves(secret.clone(), "0123456789abcdef\r\n"));
        assert!(proves(secret, "0123456789abcdef"));
        fs::write(&path, "0123456789abcde\n").unwrap();
        let error = secret_from_file(&path).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert!(matches!(error, SecretError::TooShort { .. }), "{error}");
        fs::remove_file(&path).unwrap();
        let error = secret_from_file(&path).unwrap_err();
        assert!(matches!(error, SecretError::Unreadable { .. }), "{error}");
    }

    #[test]
    fn a_secret_in_the_environment_is_read_by_its_name() {
        // Setting one would race with other tests; some are always there.
        let is_fit = |text: &str| text.len() >= 16 && !text.ends_with(['\r', '\n']);
        let (name, text) = env::vars().find(|(_, text)| is_fit(text)).unwrap();
        assert!(proves(secret_from_env(&name).unwrap(), &text));
        let error = secret_from_env("BOROUGH_SECRET_OF_NOBODY").unwrap_err();
        assert!(error.to_string().contains("BOROUGH_SECRET_OF_NOBODY"), "{error}");
    }
}
