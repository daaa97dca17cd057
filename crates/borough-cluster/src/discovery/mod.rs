//! Where a node looks for others when it begins a life.
//!
//! Promise: a discovery only proposes addresses. Whom a node joins, and whether it may found a cluster, is decided by the protocol.

mod dns;
mod file;
mod fixed;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use borough_protocol::incarnation::Address;

pub use self::dns::DnsSeeds;
pub use self::file::FileSeeds;
pub use self::fixed::StaticSeeds;

/// The future of [`Discovery::seeds`].
pub type Seeds<'a> = Pin<Box<dyn Future<Output = Result<Vec<Address>, DiscoveryError>> + Send + 'a>>;

/// Finds addresses of nodes of the cluster.
///
/// A node asks every second, so a discovery need not retry by itself. The node's own address may be among the seeds.
///
/// All nodes should find the same seeds. A node founds a cluster only if all seeds it found answer that they are in none. A discovery that may show only
/// a part of them, as DNS while pods start, is not [complete](Self::is_complete): then
/// [`NodeBuilder::expect`](crate::NodeBuilder::expect) says how many nodes there must be.
///
/// ```
/// use borough_cluster::{Address, Discovery, Seeds};
///
/// #[derive(Debug)]
/// struct Neighbours(u16);
///
/// impl Discovery for Neighbours {
///     fn seeds(&self) -> Seeds<'_> {
///         Box::pin(async move { Ok(vec![Address::new(format!("127.0.0.1:{}", self.0))]) })
///     }
/// }
/// ```
pub trait Discovery: Send + Sync + 'static {
    /// The addresses as `host:port`, the same order on all nodes if possible. It runs on the thread that renews the node's lease: it must not
    /// block that, and may be dropped at any await.
    fn seeds(&self) -> Seeds<'_>;

    /// Whether the list is always the whole one, as one that an operator wrote. Default: no.
    fn is_complete(&self) -> bool {
        false
    }
}

/// Why no seeds were found. The node goes on asking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The name could not be resolved.
    #[error(
        "the seeds' name {name:?} cannot be resolved: {source}; check the name, and that this host can ask DNS"
    )]
    Name {
        /// The name.
        name: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The file could not be read.
    #[error("the file of seeds {} cannot be read: {source}; check the path and who may read it", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the file is no address.
    #[error("line {line} of the file of seeds {} is {text:?}; write one address a line as host:port", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// What it says, cut after 100 characters.
        text: String,
    },
    /// Whatever else a discovery of the user's own fails with.
    #[error("the seeds cannot be found: {0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Whether a text has the form `host:port`.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let bare = !host.contains(':') || host.starts_with('[') && host.ends_with(']');
    bare && !host.is_empty()
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
        && port.parse::<u16>().is_ok_and(|port| port != 0)
}
