//! What a node with a data directory has on its disk, and the writes that change it: plain values, for the caller to store.
//!
//! ```text
//! (no record) --founds, or is welcomed--> Member --leaves in order--> Left
//!      ^                                     |  `--------------------> Ended   the whole cluster was closed, or its last member left
//!      `--------- counts as fresh -----------+----- is told so ----------^
//! ```
//! A node writes that it is a member before it uses a welcome. A node that founds a cluster writes its identity, its record and the beginning of its log at
//! once ([`Write::Become`]): after a crash the disk is either that of the new cluster's voter, or what it was before, so an order to recover
//! has happened or has not. With a record a node looks for that cluster alone, and never founds one: so no restart of any set of nodes makes a second
//! cluster. One that left in order does not found either: others may have stayed. Only the end of the whole cluster makes its nodes fresh, and the eras of
//! the clusters that they found afterwards rise.
//!
//! A life that finds no log to go on with is another voter, and writes that first: what the directory holds may be a copy of a time before its log.
//!
//! A node without a cluster also keeps the promises that it gave ([`Pledge`]): one that had a promise may have founded a cluster that nobody has joined yet.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::formation::Memory;
use crate::incarnation::{Address, Uid};
use crate::log::raft;
use crate::table::{Change, Table};
use crate::voters::VoterId;

/// What a durable voter has written of its log.
pub type StoredLog = raft::Stored<Change, Arc<Table>>;

/// A change of what is on the disk. Each is made whole or not at all, and in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// The record of the cluster.
    Record(Record),
    /// The log goes, with term and vote, and the node is another voter from now on: lists of the former cluster may still name the one that it was, and a voter
    /// without its log must not vote again. What belongs to that is one write: a record that says why, and the first of another log.
    Become {
        /// The identity of the node as a voter.
        voter: VoterId,
        /// The record that goes with it; `None` if the record stays as it is.
        record: Option<Record>,
        /// The first writes of its log in a cluster that it founds.
        log: Vec<raft::Write<Change, Arc<Table>>>,
    },
    /// The promises that the node gave, all of them, in place of those that were there.
    Pledges(Arc<[Pledge]>),
    /// Something of the log.
    Log(raft::Write<Change, Arc<Table>>),
}

/// Which cluster a node belongs to, as its disk says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Record {
    /// How it stands to that cluster.
    pub bond: Bond,
    /// Which founding, and its voters.
    pub memory: Arc<Memory>,
    /// Where its members listened.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub members: Arc<[Address]>,
    /// For how long a lease may last that the node counted for, by the settings that it had; `None` in a record of a version that did not write it.
    pub wait: Option<Duration>,
}

impl Record {
    /// Whether the promises that the node gave before are of no account: it belongs to a cluster, whose founder had heard of them.
    pub fn voids_pledges(&self) -> bool {
        self.bond == Bond::Member
    }
}

/// A promise that this node gave to another which wanted to found a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pledge {
    /// Which directory it was given to.
    pub voter: VoterId,
    /// Where that node listens.
    pub address: Address,
    /// Which life of it.
    pub uid: Uid,
    /// For which attempt of that life.
    pub attempt: u32,
}

/// How a node stands to the cluster of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bond {
    /// It belongs to it: it is a member, or was one when its process ended.
    Member,
    /// It left in order. Others may have stayed.
    Left,
    /// The whole cluster has ended, and the node knows it.
    Ended,
}

/// Everything that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The identity of the node as a voter.
    pub voter: VoterId,
    /// The cluster that the node belongs to; `None` if it is fresh.
    pub record: Option<Record>,
    /// Its log in that cluster; `None` if it never had one.
    pub log: Option<StoredLog>,
    /// The promises that the node gave and did not get back. It has none once it is a member of a cluster.
    pub pledges: Arc<[Pledge]>,
}

impl Image {
    /// Of a directory that is new.
    pub fn new(voter: VoterId) -> Self {
        Self { voter, record: None, log: None, pledges: [].into() }
    }

    /// Makes one write.
    pub fn apply(&mut self, write: Write) {
        match write {
            Write::Record(record) => self.set_record(record),
            Write::Pledges(pledges) => self.pledges = pledges,
            Write::Become { voter, record, log } => {
                (self.voter, self.log) = (voter, None);
                if let Some(record) = record {
                    self.set_record(record);
                }
                for write in log {
                    self.apply(Write::Log(write));
                }
            }
            Write::Log(write) => self.log.get_or_insert_with(StoredLog::default).apply(write),
        }
    }

    fn set_record(&mut self, record: Record) {
        if record.voids_pledges() {
            self.pledges = [].into();
        }
        self.record = Some(record);
    }

    /// Whether the node goes on with its log: it belongs to the cluster, and the log says who votes there.
    pub(crate) fn resumes(&self) -> bool {
        let is_member = self.record.as_ref().is_some_and(|record| record.bond == Bond::Member);
        self.has_log() && is_member
    }

    /// A term and a vote without a list are no log: such a node was never counted as a voter, and knows no list of voters.
    fn has_log(&self) -> bool {
        let is_list = |item: &raft::Item<Change>| matches!(item, raft::Item::Lists { .. });
        self.log.as_ref().is_some_and(|log| log.snapshot.is_some() || log.entries.iter().any(is_list))
    }
}
