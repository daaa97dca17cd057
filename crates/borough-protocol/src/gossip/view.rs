//! The document as people are shown it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::document::Document;
use super::member::{Member, Status};
use super::tombstones::Gone;
use crate::incarnation::Uid;

/// The state of a member as it is shown.
///
/// ```text
/// Joining <-> WeaklyUp     while there is no coordinator to admit it
///    |           |
///    +-----+-----+
///          v
///          Up -> Leaving -> Exiting -> Removed
///          any of them -> Down -> Removed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shown {
    /// It wants to join.
    Joining,
    /// All know it, and there is nobody to admit it.
    WeaklyUp,
    /// Admitted.
    Up,
    /// It drains.
    Leaving,
    /// It has drained, and goes.
    Exiting,
    /// Removed without its doing, and not all have heard.
    Down,
    /// Gone; not listed any more.
    Removed,
}

/// A line of the list of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The member.
    pub member: Arc<Member>,
    /// Its state.
    pub shown: Shown,
    /// Whether somebody cannot reach it.
    pub unreachable: bool,
}

impl Document {
    /// The members as they are shown, in the order of uids, and after them those who went down and of whom not all have
    /// heard. Those removed are not listed.
    pub fn view(&self, has_coordinator: bool) -> Vec<Listed> {
        let weakly = !has_coordinator && self.is_converged();
        let members = self.members().map(|member| Listed {
            member: member.clone(),
            shown: shown_status(member.status, weakly),
            unreachable: self.is_unreachable(member.uid()),
        });
        let fallen = self.fallen.values().map(|member| Listed {
            member: member.clone(),
            shown: Shown::Down,
            unreachable: true,
        });
        members.chain(fallen).collect()
    }

    /// How the node is shown; `None` if nothing is known of it, or not any more.
    pub fn shown(&self, uid: Uid, has_coordinator: bool) -> Option<Shown> {
        if let Some(member) = self.member(uid) {
            let weakly = !has_coordinator && self.is_converged();
            return Some(shown_status(member.status, weakly));
        }
        let stone = self.tombstone(uid)?;
        let down = stone.how == Gone::Down && self.fallen.contains_key(&uid);
        Some(if down { Shown::Down } else { Shown::Removed })
    }

    /// Ends the showing of those who went down if all have heard of it; true if there were any.
    pub fn settle(&mut self) -> bool {
        let settled = !self.fallen.is_empty() && self.is_converged();
        if settled {
            self.fallen.clear();
        }
        settled
    }
}

fn shown_status(status: Status, weakly: bool) -> Shown {
    match status {
        Status::Joining if weakly => Shown::WeaklyUp,
        Status::Joining => Shown::Joining,
        Status::Up => Shown::Up,
        Status::Leaving => Shown::Leaving,
        Status::Exiting => Shown::Exiting,
    }
}
