//! What a node says about itself.

use super::{HandshakeError, Versions};
use crate::codec::Codecs;
use crate::limits::TEXT_MAX;

/// 32 bytes that are random and used once. Where they come from is the caller's business.
pub type Nonce = [u8; 32];

/// A node, as it introduces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What the cluster is called, at most [`TEXT_MAX`] bytes.
    pub cluster: String,
    /// Where it is reached, at most [`TEXT_MAX`] bytes.
    pub address: String,
    /// The number of this life of the node, not 0.
    pub uid: u64,
    /// Which codecs it can read.
    pub codecs: Codecs,
    /// Which versions it speaks: [`SPOKEN`](super::SPOKEN).
    pub versions: Versions,
}

impl Identity {
    pub(super) fn check(&self) -> Result<(), HandshakeError> {
        for (field, text) in [("cluster name", &self.cluster), ("address", &self.address)] {
            let length = text.len();
            if length > TEXT_MAX {
                return Err(HandshakeError::OurText { field, length });
            }
        }
        if self.uid == 0 { Err(HandshakeError::OurUid) } else { Ok(()) }
    }
}
