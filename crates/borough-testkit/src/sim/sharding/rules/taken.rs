//! Nothing that a removed node sent is taken by one that knows of the removal.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Table;

use crate::sim::violation::Violation;

/// A node takes something of another.
pub(in crate::sim) fn is_taken(by: Uid, from: Uid, table: &Table) -> Result<(), Violation> {
    if table.is_removed(from) {
        return Err(Violation::Safety(
            "taken",
            format!("{by:?} took something of {from:?}, which was removed"),
        ));
    }
    Ok(())
}
