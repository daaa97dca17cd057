//! Why a node is not managed.

use std::io;
use std::path::PathBuf;

use borough_cluster::{SettingOrigin, TlsError};

/// Why management was not started. Nothing is left of it, and the node goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagementError {
    /// An address that is none, or a name that leads nowhere.
    #[error("management cannot listen at {address:?}: {source}; write host:port, as 127.0.0.1:25580")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        source: io::Error,
    },
    /// Whoever reaches it could order the node to leave.
    #[error(
        "{address} ({origin}) can be reached from other machines, and anybody who reaches it could order nodes to leave: set `.token(..)` or `.tls(..)`, \
         or `management.token_file` where the settings are, or listen at 127.0.0.1"
    )]
    Open {
        /// Where it was to listen.
        address: String,
        /// Who said so: a line of a file, a variable, or code.
        origin: SettingOrigin,
    },
    /// The token could be guessed, or cannot stand in a header.
    #[error(
        "a token must have from 16 to 512 visible ASCII characters; this one has {length} bytes, or others among them"
    )]
    Token {
        /// How many bytes it has.
        length: usize,
    },
    /// The file that has the token cannot be read.
    #[error("cannot read the token from {}: {source}; check `management.token_file`", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address is taken, or not this machine's.
    #[error(
        "management cannot listen at {address}: {source}; choose another address, or stop the process that uses it"
    )]
    Listen {
        /// Where.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The node is managed already, or has ended.
    #[error("{node} cannot be managed: {why}; a node has one management at a time")]
    Node {
        /// The node.
        node: String,
        /// What is wrong.
        why: String,
    },
}
