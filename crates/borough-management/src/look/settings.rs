//! What the node is set to.

use crate::bureau::Bureau;
use crate::view::{Setting, Settings};

/// Every setting with its origin.
pub(crate) fn settings(bureau: &Bureau) -> Settings {
    let rows = bureau.node.settings().into_iter();
    let settings =
        rows.map(|row| Setting { key: row.key, value: row.value, origin: row.origin.to_string() }).collect();
    Settings { seen_by: bureau.name(), settings }
}
