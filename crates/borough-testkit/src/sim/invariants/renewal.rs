//! A voter that has appended a removal, committed or not, counts no more for the lease of the one removed.
//!
//! That is why a lease ends in time: once the removal is committed, every quorum has a voter that refuses.

use borough_protocol::incarnation::Uid;
use borough_protocol::lease::Verdict;
use borough_protocol::log::Log;
use borough_protocol::node::{Message, Word};
use borough_protocol::office::TableLog;
use borough_protocol::table::Change;

use crate::sim::life::Life;
use crate::sim::violation::Violation;

/// The removals that a life has in its log and does not know to be committed: before its last input, and after it.
///
/// Who answers first and appends then is right, so what came with the same input does not count.
#[derive(Debug, Default)]
pub(super) struct Removals {
    before: Vec<Uid>,
    after: Vec<Uid>,
}

impl Removals {
    /// The life handled an input, and this is the end of its log.
    pub(super) fn look(&mut self, log: &TableLog) {
        std::mem::swap(&mut self.before, &mut self.after);
        self.after.clear();
        self.after.extend(log.tail().filter_map(removed));
    }

    fn contains(&self, uid: Uid) -> bool {
        self.before.contains(&uid) && self.after.contains(&uid)
    }
}

/// A life says something to that node.
pub(super) fn says(life: &Life, removals: &Removals, to: Uid, message: &Message) -> Result<(), Violation> {
    let Message::Word { word: Word::Renewed(renewed), .. } = message else { return Ok(()) };
    if renewed.verdict != Verdict::Acked || !removals.contains(to) {
        return Ok(());
    }
    let text = format!("{:?} counts for the lease of {to:?}, whose removal it has appended", life.uid());
    Err(Violation::Safety("renewal", text))
}

fn removed(change: &Change) -> Option<Uid> {
    match change {
        Change::Remove(uid, _) => Some(*uid),
        Change::Admit(_)
        | Change::Drain(_)
        | Change::Free(_)
        | Change::Forget(_)
        | Change::Close
        | Change::Declare(_)
        | Change::Host(..)
        | Change::EndHosting(..)
        | Change::Shards(_) => None,
    }
}
