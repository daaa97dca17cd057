//! What is set before management starts.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use borough_cluster::{
    DEFAULT_MANAGEMENT_LISTEN, ManagementSettings, Node, NodeHandle, SettingOrigin, Tls, TlsDoor,
};
use tokio::net::{TcpListener, lookup_host};

use crate::error::ManagementError;
use crate::guard::{Guard, Token};
use crate::management::Management;

/// Where management listens unless it is said otherwise: this machine alone reaches it.
pub const DEFAULT_LISTEN: &str = DEFAULT_MANAGEMENT_LISTEN;

/// Settings of a [`Management`] to be. It begins with what the node's [`Config`](borough_cluster::Config) says in `[management]`; what is called here wins.
#[must_use = "management is started by `start`"]
pub struct ManagementBuilder {
    node: NodeHandle,
    listen: String,
    listen_origin: SettingOrigin,
    advertise: Option<String>,
    token: Option<String>,
    token_file: Option<PathBuf>,
    tls: Option<Tls>,
    /// What was called here, for the node's list of settings.
    said: Vec<(&'static str, String)>,
}

/// How whoever connects is known.
pub(crate) struct Entrance {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<TlsDoor>,
    pub(crate) guard: Guard,
}

impl ManagementBuilder {
    pub(crate) fn new(node: &Node) -> Self {
        let ManagementSettings { listen, listen_origin, advertise, token, token_file, tls } =
            node.management_settings();
        let (node, said) = (node.node_handle(), Vec::new());
        Self { node, listen, listen_origin, advertise, token, token_file, tls, said }
    }

    /// Where to listen, as `host:port`; port 0 takes a free one. Default [`DEFAULT_LISTEN`].
    ///
    /// Elsewhere than on loopback it needs a [`token`](Self::token) or [`tls`](Self::tls).
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        (self.listen, self.listen_origin) = (address.into(), SettingOrigin::Code);
        self.said.push(("management.listen", self.listen.clone()));
        self
    }

    /// What the other members are told, for people who follow links, as `host:port`. Default: where it listens; if that is all addresses
    /// (`0.0.0.0`), the host of the node's own address.
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        let address = address.into();
        self.said.push(("management.advertise", address.clone()));
        self.advertise = Some(address);
        self
    }

    /// What whoever asks must know and send, as `authorization: Bearer <token>`: 16 to 512 visible ASCII characters. Default none.
    ///
    /// It is sent as it is: without [`tls`](Self::tls) whoever reads the network learns it. Given without it are `/health/live` and `/health/ready`, which tell
    /// what the node is called, how it stands and whether types that are named are known, and the dashboard's page, which holds no data.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        (self.token, self.token_file) = (Some(token.into()), None);
        self.said.push(("management.token", "(hidden)".to_owned()));
        self
    }

    /// HTTPS, with certificates on both sides: whoever asks shows one of the same authority. Default none.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self.said.push(("management.tls", true.to_string()));
        self
    }

    /// Starts to listen. Nothing of it is left if it fails, or if the future is dropped before it is ready.
    pub async fn start(self) -> Result<Management, ManagementError> {
        let Self { node, listen, listen_origin, advertise, token, token_file, tls, said } = self;
        let token = token.map_or_else(|| token_file.map(read_token).transpose(), |token| Ok(Some(token)))?;
        let token = token.map(Token::new).transpose()?;
        let tls = tls.as_ref().map(TlsDoor::new).transpose()?;
        let bad = |source| ManagementError::Address { address: listen.clone(), source };
        let addresses: Vec<SocketAddr> = lookup_host(&listen).await.map_err(bad)?.collect();
        let is_loopback = addresses.iter().all(|address| address.ip().to_canonical().is_loopback());
        if !is_loopback && token.is_none() && tls.is_none() {
            return Err(ManagementError::Open { address: listen, origin: listen_origin });
        }
        let busy = |source| ManagementError::Listen { address: listen.clone(), source };
        let listener = TcpListener::bind(&*addresses).await.map_err(busy)?;
        let address = listener.local_addr().map_err(busy)?;
        let told = advertise.unwrap_or_else(|| dialable(address, &node));
        let guard = Guard { token, is_loopback };
        let management = Management::start(node.clone(), Entrance { listener, address, tls, guard }, told)?;
        // Only now: what was not started has set nothing.
        for (key, value) in said {
            node.note_setting(key, &value);
        }
        Ok(management)
    }
}

/// The token in a file, without the line break at its end.
fn read_token(path: PathBuf) -> Result<String, ManagementError> {
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim_end_matches(['\r', '\n']).to_owned()),
        Err(source) => Err(ManagementError::TokenFile { path, source }),
    }
}

/// Where others reach what listens there.
fn dialable(address: SocketAddr, node: &Node) -> String {
    if !address.ip().to_canonical().is_unspecified() {
        return address.to_string();
    }
    let own = node.address();
    let host = own.as_str().rsplit_once(':').map_or(own.as_str(), |(host, _)| host);
    format!("{host}:{}", address.port())
}

/// Never shows the token.
impl fmt::Debug for ManagementBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagementBuilder")
            .field("node", &self.node)
            .field("listen", &self.listen)
            .field("has_token", &self.token.is_some())
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
