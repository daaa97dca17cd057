//! What is set before management starts.

use std::fmt;
use std::net::SocketAddr;

use borough_cluster::{Node, NodeHandle, Tls, TlsDoor};
use tokio::net::{TcpListener, lookup_host};

use crate::error::ManagementError;
use crate::guard::{Guard, Token};
use crate::management::Management;

/// Where management listens unless it is said otherwise: this machine alone reaches it.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:25580";

/// Settings of a [`Management`] to be.
#[must_use = "management is started by `start`"]
pub struct ManagementBuilder {
    node: NodeHandle,
    listen: String,
    advertise: Option<String>,
    token: Option<String>,
    tls: Option<Tls>,
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
        Self {
            node: node.node_handle(),
            listen: DEFAULT_LISTEN.to_owned(),
            advertise: None,
            token: None,
            tls: None,
        }
    }

    /// Where to listen, as `host:port`; port 0 takes a free one. Default [`DEFAULT_LISTEN`].
    ///
    /// Elsewhere than on loopback it needs a [`token`](Self::token) or [`tls`](Self::tls).
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// What the other members are told, for people who follow links, as `host:port`. Default: where it listens; if that is all addresses
    /// (`0.0.0.0`), the host of the node's own address.
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.advertise = Some(address.into());
        self
    }

    /// What whoever asks must know and send, as `authorization: Bearer <token>`: 16 to 512 visible ASCII characters. Default none.
    ///
    /// It is sent as it is: without [`tls`](Self::tls) whoever reads the network learns it. `/health/live`, `/health/ready` and the dashboard's
    /// page, which hold no data of the cluster, are given without it.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// HTTPS, with certificates on both sides: whoever asks shows one of the same authority. Default none.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Starts to listen. Nothing of it is left if it fails, or if the future is dropped before it is ready.
    pub async fn start(self) -> Result<Management, ManagementError> {
        let Self { node, listen, advertise, token, tls } = self;
        let token = token.map(Token::new).transpose()?;
        let tls = tls.as_ref().map(TlsDoor::new).transpose()?;
        let bad = |source| ManagementError::Address { address: listen.clone(), source };
        let addresses: Vec<SocketAddr> = lookup_host(&listen).await.map_err(bad)?.collect();
        let is_loopback = addresses.iter().all(|address| address.ip().to_canonical().is_loopback());
        if !is_loopback && token.is_none() && tls.is_none() {
            return Err(ManagementError::Open { address: listen });
        }
        let busy = |source| ManagementError::Listen { address: listen.clone(), source };
        let listener = TcpListener::bind(&*addresses).await.map_err(busy)?;
        let address = listener.local_addr().map_err(busy)?;
        let told = advertise.unwrap_or_else(|| dialable(address, &node));
        let guard = Guard { token, is_loopback };
        Management::start(node, Entrance { listener, address, tls, guard }, told)
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
