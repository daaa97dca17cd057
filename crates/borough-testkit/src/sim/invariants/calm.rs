//! Nobody that lives is removed while everything stays within what a healthy cluster must bear.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Removal;

use crate::sim::life::Life;
use crate::sim::violation::Violation;

/// The rule of calm runs.
#[derive(Debug, Default)]
pub(super) struct Calm;

impl Calm {
    /// Somebody was removed; `life` is its life, if it is not over.
    #[expect(clippy::unused_self, reason = "it is asked only in runs that have the rule")]
    pub(super) fn removed(&self, uid: Uid, why: Removal, life: Option<&Life>) -> Result<(), Violation> {
        match life {
            Some(_) if why != Removal::Goodbye => Err(Violation::Safety(
                "calm",
                format!("{uid:?} was removed as {why:?} and did nothing wrong"),
            )),
            _ => Ok(()),
        }
    }
}
