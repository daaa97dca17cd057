//! The members of a document, sorted by uid: a place in the list stands for a member in bitmaps and when one is drawn.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::member::Member;
use crate::incarnation::Uid;

#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    list: Vec<(Uid, Arc<Member>)>,
    hash: u64,
}

impl Members {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn place(&self, uid: Uid) -> Option<usize> {
        self.find(uid).ok()
    }

    pub(super) fn at(&self, place: usize) -> Option<&Arc<Member>> {
        self.list.get(place).map(|(_, member)| member)
    }

    pub(super) fn named(&self, uid: Uid) -> Option<&Arc<Member>> {
        self.at(self.place(uid)?)
    }

    pub(super) fn contains(&self, uid: Uid) -> bool {
        self.find(uid).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Member>> + '_ {
        self.list.iter().map(|(_, member)| member)
    }

    /// Their uids, without a look at the records: there are many, and each is somewhere else in memory.
    pub(super) fn uids(&self) -> impl Iterator<Item = Uid> + '_ {
        self.list.iter().map(|(uid, _)| *uid)
    }

    /// Adds the member, or replaces its record.
    pub(super) fn put(&mut self, member: Arc<Member>) {
        self.hash ^= member.hash();
        let uid = member.uid();
        match self.find(uid) {
            Ok(place) => {
                self.hash ^= self.list[place].1.hash();
                self.list[place].1 = member;
            }
            Err(place) => self.list.insert(place, (uid, member)),
        }
    }

    /// Adds members that are not there yet, each once.
    pub(super) fn append(&mut self, fresh: impl IntoIterator<Item = Arc<Member>>) {
        let before = self.list.len();
        for member in fresh {
            self.hash ^= member.hash();
            self.list.push((member.uid(), member));
        }
        if self.list.len() > before {
            self.list.sort_by_key(|entry| entry.0);
        }
    }

    pub(super) fn remove(&mut self, uid: Uid) -> Option<Arc<Member>> {
        let place = self.place(uid)?;
        let (_, member) = self.list.remove(place);
        self.hash ^= member.hash();
        Some(member)
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn assert_invariants(&self) {
        assert!(self.list.is_sorted_by(|a, b| a.0 < b.0), "members are sorted, each once");
        assert!(
            self.list.iter().all(|(uid, member)| *uid == member.uid()),
            "members are filed under their uid"
        );
        assert_eq!(
            self.hash,
            self.iter().fold(0, |hash, member| hash ^ member.hash()),
            "hash of the members"
        );
    }

    fn find(&self, uid: Uid) -> Result<usize, usize> {
        self.list.binary_search_by_key(&uid, |entry| entry.0)
    }
}
