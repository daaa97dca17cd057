//! What a node is set to, as data: the fields that settings and calls of the builder both write.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::formation::FoundWith;
use borough_protocol::incarnation::Address;
use borough_protocol::settings::Settings;
use borough_wire::codec::CodecId;
use borough_wire::handshake::Secret;
use borough_wire::limits::Limits;

use super::table::NODE;
use super::value::Hidden;
use crate::discovery::{Discovery, DnsSeeds, FileSeeds};
use crate::node::{DEFAULT_LEAVE_TIMEOUT, DEFAULT_LISTEN};
use crate::security::{SecretError, secret_from_env, secret_from_file};
use crate::transport::host::HostPort;
use crate::transport::tls::Tls;

/// Where management listens unless it is said otherwise: this machine alone reaches it.
pub const DEFAULT_MANAGEMENT_LISTEN: &str = "127.0.0.1:25580";

/// See the module. Its default is the documented one.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct NodeOptions {
    pub(crate) listen: String,
    pub(crate) advertise: Option<String>,
    pub(crate) seeds: Vec<String>,
    pub(crate) seeds_dns: Option<String>,
    pub(crate) seeds_file: Option<PathBuf>,
    pub(crate) found_with: FoundWith,
    pub(crate) expect: Option<usize>,
    pub(crate) found_alone: bool,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) volatile: bool,
    pub(crate) id: Option<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) app_version: String,
    pub(crate) zone: String,
    pub(crate) rejoin: bool,
    pub(crate) wedged_after: Option<Duration>,
    pub(crate) ask_timeout: Duration,
    pub(crate) leave_timeout: Duration,
    pub(crate) drop_after: Option<Duration>,
    pub(crate) codec: CodecId,
    pub(crate) cluster: Settings,
    pub(crate) limits: Limits,
    pub(crate) tls_authority: Option<PathBuf>,
    pub(crate) tls_certificate: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) secret_env: Option<String>,
    pub(crate) insecure: bool,
    pub(crate) management: ManagementOptions,
}

/// What management is set to, if it is started.
#[derive(Clone, Debug)]
pub(crate) struct ManagementOptions {
    pub(crate) listen: String,
    pub(crate) advertise: Option<String>,
    pub(crate) token: Option<Hidden>,
    pub(crate) token_file: Option<PathBuf>,
    /// Whether it shows the node's certificate and asks for one.
    pub(crate) tls: bool,
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            listen: DEFAULT_LISTEN.to_owned(),
            advertise: None,
            seeds: Vec::new(),
            seeds_dns: None,
            seeds_file: None,
            found_with: FoundWith::default(),
            expect: None,
            found_alone: false,
            data_dir: None,
            volatile: false,
            id: None,
            roles: Vec::new(),
            app_version: String::new(),
            zone: String::new(),
            rejoin: true,
            wedged_after: None,
            ask_timeout: borough_actor::DEFAULT_ASK_TIMEOUT,
            leave_timeout: DEFAULT_LEAVE_TIMEOUT,
            drop_after: None,
            codec: CodecId::Postcard,
            cluster: Settings::default(),
            limits: Limits::default(),
            tls_authority: None,
            tls_certificate: None,
            tls_key: None,
            secret_file: None,
            secret_env: None,
            insecure: false,
            management: ManagementOptions {
                listen: DEFAULT_MANAGEMENT_LISTEN.to_owned(),
                advertise: None,
                token: None,
                token_file: None,
                tls: false,
            },
        }
    }
}

impl NodeOptions {
    /// The settings in which two differ.
    pub(crate) fn differing(&self, other: &Self) -> impl Iterator<Item = &'static str> {
        NODE.iter().filter(|setting| setting.shown(self) != setting.shown(other)).map(|setting| setting.key)
    }

    /// Certificates from the files that are named.
    pub(crate) fn tls(&self) -> Option<Tls> {
        let (authority, certificate) = (self.tls_authority.clone()?, self.tls_certificate.clone()?);
        Some(Tls::from_files(authority, certificate, self.tls_key.clone()?))
    }

    /// The secret from the file or the variable that is named.
    pub(crate) fn secret(&self) -> Result<Option<Secret>, SecretError> {
        match (&self.secret_file, &self.secret_env) {
            (Some(path), _) => secret_from_file(path).map(Some),
            (None, Some(variable)) => secret_from_env(variable).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Where seeds come from, if they are not a list.
    pub(crate) fn discovery(&self) -> Option<Arc<dyn Discovery>> {
        if let Some(path) = self.seeds_file.clone() {
            return Some(Arc::new(FileSeeds { path }));
        }
        let address = Address::new(self.seeds_dns.as_deref()?);
        let HostPort { host, port } = HostPort::of(&address)?;
        Some(Arc::new(DnsSeeds { name: host.to_owned(), port }))
    }
}
