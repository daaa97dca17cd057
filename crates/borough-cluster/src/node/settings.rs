//! What a node is set to, for those who look, and for what is started beside it.

use std::fmt;
use std::path::PathBuf;

use super::Node;
use crate::config::{SettingOrigin, SettingRow};
use crate::transport::tls::Tls;

impl Node {
    /// Every setting with its value and where that came from: a default, a line of a file, a variable, code. Types of entities are there once they were
    /// started, or as far as a file or a variable names them. Never a secret.
    pub fn settings(&self) -> Vec<SettingRow> {
        self.ledger.rows()
    }

    /// What files and the environment say of management.
    #[doc(hidden)]
    pub fn management_settings(&self) -> ManagementSettings {
        let said = &self.ledger.management;
        ManagementSettings {
            listen: said.listen.clone(),
            listen_origin: self.ledger.origin_of("management.listen"),
            advertise: said.advertise.clone(),
            token: said.token.as_ref().map(|token| token.0.clone()),
            token_file: said.token_file.clone(),
            tls: self.ledger.tls.clone().filter(|_| said.tls),
        }
    }

    /// Notes what code set of a part that is started beside the node, so that [`settings`](Self::settings) tells it.
    #[doc(hidden)]
    pub fn note_setting(&self, key: &str, value: &str) {
        self.ledger.note(key, value);
    }
}

/// What files and the environment say of management.
#[doc(hidden)]
pub struct ManagementSettings {
    /// Where it listens.
    pub listen: String,
    /// Where that was said.
    pub listen_origin: SettingOrigin,
    /// What others are told.
    pub advertise: Option<String>,
    /// What whoever asks must send.
    pub token: Option<String>,
    /// The file that has it.
    pub token_file: Option<PathBuf>,
    /// The node's certificates, if management shows them.
    pub tls: Option<Tls>,
}

/// Never shows the token.
impl fmt::Debug for ManagementSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagementSettings").field("listen", &self.listen).finish_non_exhaustive()
    }
}
