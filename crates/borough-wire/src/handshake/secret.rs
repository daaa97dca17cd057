//! What the nodes of a cluster know and strangers do not.

use core::fmt;
use std::sync::Arc;

use crate::limits::SECRET_MIN;

/// The shared secret of a cluster. It is never sent, and never shown.
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

impl Secret {
    /// A secret of these bytes, which should be random: whoever sees a handshake can try secrets at leisure.
    ///
    /// # Errors
    /// [`SecretTooShort`] below [`SECRET_MIN`] bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, SecretTooShort> {
        let bytes = bytes.as_ref();
        if bytes.len() < SECRET_MIN {
            Err(SecretTooShort { length: bytes.len() })
        } else {
            Ok(Self(bytes.into()))
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A secret that could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret has {length} bytes and needs {SECRET_MIN} or more: use random ones, such as those of `openssl rand -hex 32`"
)]
pub struct SecretTooShort {
    /// Its bytes.
    pub length: usize,
}
