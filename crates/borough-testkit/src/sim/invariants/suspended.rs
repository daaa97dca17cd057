//! A suspended node runs nothing: from the word that its lease is over to the word that it has one again.

use crate::sim::life::Life;
use crate::sim::violation::Violation;

/// A node begins a turn.
pub(super) fn turn_begins(life: &Life) -> Result<(), Violation> {
    if life.watch.is_suspended() {
        let text = format!("{:?} begins a turn although it said that it is suspended", life.uid());
        return Err(Violation::Safety("suspended", text));
    }
    Ok(())
}
