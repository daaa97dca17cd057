//! The replicated log: what is committed here is decided once and for all.
//!
//! The promise, whatever carries it: what one node was told is committed, at some version, every other is told too, at the
//! same version, or nothing there yet; entries are committed by one node a term; the voters' lists change only jointly.
//!
//! Two things carry it. Consensus is not ours: [`raft`] puts an existing implementation behind [`Log`]. Where a shared store is the
//! one voter, [`register`] follows what is in the store. A node has a [`Carrier`], which is one of them.

mod carrier;
pub mod raft;
pub mod register;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

pub use self::carrier::{Carrier, CarrierMessage};
use self::raft::Write;
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// What stands at one place of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Entry<P> {
    /// The first entry of a term, or a change of who catches up: nothing to do but count it.
    Nothing,
    /// The voters' lists from here on.
    Voters {
        /// Those who vote.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::somebody"))]
        now: BTreeSet<VoterId>,
        /// Those who are to vote; empty while no change is under way.
        next: BTreeSet<VoterId>,
    },
    /// Something of the table's.
    Payload(P),
}

/// A change of the voters' lists or of who catches up. One at a time, each committed before the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VotersChange {
    /// This node is to catch up.
    AddLearner(VoterId),
    /// This node no longer catches up.
    DropLearner(VoterId),
    /// These are to vote, first together with those who do. The joint phase ends by itself. Nothing changes if they vote
    /// already, or if nobody is named.
    Begin(BTreeSet<VoterId>),
}

/// Why the log did not take what it was given; nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// Somebody else may be in office.
    #[error("this node is not in office")]
    NotInOffice,
    /// The node leads a joint phase at whose end it is no voter: somebody else has to go on.
    #[error("this node is handing its office over")]
    HandingOver,
    /// An earlier change of the lists is not committed yet.
    #[error("a change of the voters is under way")]
    ChangeUnderWay,
}

/// A message whose shape no correct peer produces. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of the log from {from} is malformed: {what}")]
pub struct Malformed {
    /// Who sent it.
    pub from: VoterId,
    /// What is wrong with it.
    pub what: &'static str,
}

/// What a node newly knows to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed<P, S> {
    /// The next entry.
    Entry(Version, Entry<P>),
    /// Everything up to here at once: the state as somebody else had it, and the lists then.
    Snapshot {
        /// The last entry the state stands for.
        version: Version,
        /// The lists then.
        voters: Voters,
        /// The state.
        state: S,
    },
}

/// Messages to others, in order; who they are for, and what.
pub type Outbox<M> = Vec<(VoterId, M)>;

/// A replicated log of payloads `P`, with states `S` for those who are far behind.
///
/// Nothing in it waits; time comes in, and so does the news of what is on the disk. A log that is memory only has nothing to
/// write: there a restarted process is another node.
pub trait Log<P, S> {
    /// What it sends to its like.
    type Message;

    /// Takes a message of another node.
    fn handle(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Malformed>;

    /// Does what is due: appends at least that often while in office, leaves office without a quorum's answers.
    fn on_deadline(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>);

    /// When [`on_deadline`](Log::on_deadline) wants to be called next.
    fn next_deadline(&self) -> Timestamp;

    /// Stands for office: asks around first whether it would be elected, and only then begins a term.
    fn stand(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>);

    /// Appends a payload.
    fn propose(
        &mut self,
        now: Timestamp,
        payload: P,
        out: &mut Outbox<Self::Message>,
    ) -> Result<Version, NotTaken>;

    /// Appends a change of the lists.
    fn change_voters(
        &mut self,
        now: Timestamp,
        change: VotersChange,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), NotTaken>;

    /// Asks another voter to stand at once, if it has everything this node has; says whether it was asked.
    fn hand_over(&mut self, now: Timestamp, to: VoterId, out: &mut Outbox<Self::Message>) -> bool;

    /// What became committed since the last call, in order.
    fn take_committed(&mut self) -> Vec<Committed<P, S>>;

    /// Forgets the entries up to `version`, which the caller was told is committed; `state` stands for them. Nothing changes
    /// while the log cannot spare them: [`kept`](Log::kept) tells.
    fn compact(&mut self, version: Version, state: S);

    /// How many entries are kept above the last compaction.
    fn kept(&self) -> usize;

    /// Payloads appended here above what [`take_committed`](Log::take_committed) gave out: they may still vanish.
    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a P>
    where
        P: 'a;

    /// The newest lists in the log, committed or not, with the version of the entry that brought them.
    fn voters(&self) -> &Voters;

    /// Those who catch up.
    fn learners(&self) -> &BTreeSet<VoterId>;

    /// The term this node knows of.
    fn term(&self) -> Term;

    /// Whether this node was elected in its term and has heard of no newer one.
    fn in_office(&self) -> bool;

    /// Whether it is in office and an entry of its own term is committed: only then may it act on what it knows.
    fn may_act(&self) -> bool;

    /// Who is in office in this node's term, as far as it knows, and when it last heard of it; itself, if it is.
    fn coordinator(&self) -> Option<(VoterId, Timestamp)>;

    /// The newest place up to which that node is known to have this node's log; 0 if nothing is known, or not in office.
    fn matched(&self, uid: VoterId) -> u64;

    /// The newest place in this node's log, committed or not.
    fn last_index(&self) -> u64;

    /// What has to be on the disk, each with its number, since the last call; empty unless the log is durable. The caller writes
    /// them in order, each whole or not at all, and reports it by [`written`](Log::written). What depends on a write that is
    /// not reported waits: messages, commits, the right to act. If a write fails, nothing is to be reported: this node then
    /// falls silent.
    fn take_writes(&mut self) -> Vec<(u64, Write<P, S>)> {
        Vec::new()
    }

    /// Every write up to that number is on the disk. What waited for it leaves, and more may be committed.
    fn written(&mut self, _now: Timestamp, _up_to: u64, _out: &mut Outbox<Self::Message>) {}

    /// Nodes in the newest lists that had confirmed more than they have now: their disks came back shorter. Each is named until
    /// the lists no longer name it. Empty unless the log is durable.
    fn lost(&self) -> Vec<VoterId> {
        Vec::new()
    }

    /// This node has lost what it had confirmed: it neither votes nor stands until it knows of a commit up to that place, the
    /// last one of the coordinator that noticed. By then it has everything again that it may have confirmed, and a term in
    /// which the votes that it may have forgotten no longer count.
    fn stop_voting(&mut self, _until: u64) {}

    /// That is committed, as others have told. A durable log elects nobody whose log ends below it, this node included: what a quorum had was lost there.
    fn note_committed(&mut self, _version: Version) {}

    /// Whether its log ends below what is known to be committed.
    fn lacks_committed(&self) -> bool {
        false
    }

    /// Leaves office, if it is in office: it cannot write what it would decide.
    fn resign(&mut self) {}
}
