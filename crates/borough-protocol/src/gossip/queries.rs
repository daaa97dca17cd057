//! Questions about the document that others than gossip ask.

use alloc::sync::Arc;

use super::document::Document;
use super::member::{Member, Status};
use crate::incarnation::{Address, Uid};

impl Document {
    /// The members' uids.
    pub fn uids(&self) -> impl Iterator<Item = Uid> + '_ {
        self.members.uids()
    }

    /// Those that are not admitted yet.
    pub fn joining(&self) -> impl Iterator<Item = &Arc<Member>> + '_ {
        self.members().filter(|member| member.status == Status::Joining)
    }

    /// Whether that member has said that nothing lives there any more and that it waits to be let go.
    pub fn is_exiting(&self, uid: Uid) -> bool {
        self.member(uid).is_some_and(|member| member.status == Status::Exiting)
    }

    /// Those that nobody calls unreachable.
    pub fn reachable(&self) -> impl Iterator<Item = Uid> + '_ {
        self.uids().filter(|uid| !self.is_unreachable(*uid))
    }

    /// Who cannot reach whom.
    pub fn accusations(&self) -> impl Iterator<Item = (Uid, Uid)> + '_ {
        self.reports()
            .flat_map(|(observer, report)| report.unreachable.iter().map(move |subject| (observer, *subject)))
    }

    /// Where that node listens, or listened before it fell.
    pub fn address_of(&self, uid: Uid) -> Option<&Address> {
        let member = self.member(uid).or_else(|| self.fallen.get(&uid))?;
        Some(&member.incarnation.address)
    }

    /// Whether a member listens there.
    pub fn has_address(&self, address: &Address) -> bool {
        self.members().any(|member| member.incarnation.address == *address)
    }

    /// Those at that address that are not admitted yet.
    pub fn guests_at<'a>(&'a self, address: &'a Address) -> impl Iterator<Item = Uid> + 'a {
        self.joining().filter(move |member| member.incarnation.address == *address).map(|member| member.uid())
    }
}
