//! What a voter must not forget: its term, its vote and its log; and what every node must not: the record of its cluster.
//!
//! ```text
//! snapshot at s | s+1 | s+2 | .. | last        Append: last+1 alone. CutAbove(i): s <= i. Snapshot at i: s <= i, drops entries up to i.
//! ```
//! Without a snapshot s is 0. Terms never fall along the log, and none is above the written term.

mod read;
mod write;

pub(crate) use self::read::{ReadError, read_pledges, read_record, read_voter, wrong};
pub(crate) use self::write::{NotApplied, apply};
use crate::directory::{DirectoryRow, Holds, Loaded};

/// Bytes whose meaning is the caller's, and the number of the codec that wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The number of the codec, as the caller counts them.
    pub codec: u16,
    /// What it wrote.
    pub bytes: Vec<u8>,
}

/// A place in the log, and the term of what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The place, counted from 1; 0 is before the first entry.
    pub index: u64,
    /// The term of the entry there.
    pub term: u64,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub position: Position,
    /// What it says.
    pub payload: Payload,
}

/// What stands for all entries up to its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last entry it stands for.
    pub position: Position,
    /// The state after that entry.
    pub payload: Payload,
}

/// What a voter resumes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoterState {
    /// The newest term it knew.
    pub term: u64,
    /// The node it voted for in that term.
    pub vote: Option<u64>,
    /// What stands for the beginning of the log.
    pub snapshot: Option<Snapshot>,
    /// The entries behind the snapshot, without a gap.
    pub entries: Vec<Entry>,
}

impl VoterState {
    /// Where the log ends.
    pub fn last(&self) -> Position {
        let snapshot = || self.snapshot.as_ref().map_or_else(Position::default, |snapshot| snapshot.position);
        self.entries.last().map_or_else(snapshot, |entry| entry.position)
    }
}

/// How a node stands to the cluster of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// It is a member, or was one when its process ended.
    Member,
    /// It left in order, and the cluster lived on.
    Left,
    /// The cluster ended, and this node knows it: it counts as fresh.
    Ended,
}

/// Which cluster a node belongs to. A node without a record is fresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How the node stands to it.
    pub state: RecordState,
    /// The newest era the node knew.
    pub era: u32,
    /// The rest, such as the addresses of the members.
    pub payload: Payload,
}

/// One change of what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new term, or a vote in the present one. The term never falls.
    SetTermAndVote {
        /// The term.
        term: u64,
        /// The node voted for.
        vote: Option<u64>,
    },
    /// Removes all entries above that place.
    CutAbove(u64),
    /// Appends an entry directly behind the last one.
    Append(Entry),
    /// Puts a state in the place of all entries up to its position. Entries above stay.
    SetSnapshot(Snapshot),
    /// Puts a state in the place of the whole log, whatever is there.
    ReplaceLog(Snapshot),
    /// Removes term, vote, log and snapshot: this node was a voter of another founding, or is to be taken in as a new one.
    ForgetVoter,
    /// The number of the node is that from now on: after [`ForgetVoter`](Self::ForgetVoter) it is another voter. Never 0.
    BecomeNode(u64),
    /// Sets the record of the cluster.
    SetRecord(Record),
    /// Sets the promises that the node gave while it was in no cluster.
    SetPledges(Payload),
    /// Removes these promises.
    ForgetPledges,
    /// Sets the stamp to the present time: the proof that this directory can be written.
    RenewStamp,
}

impl Operation {
    /// Whether it may change term, vote or log.
    fn is_of_voter(&self) -> bool {
        match self {
            Self::SetTermAndVote { .. }
            | Self::CutAbove(_)
            | Self::Append(_)
            | Self::SetSnapshot(_)
            | Self::ReplaceLog(_)
            | Self::ForgetVoter => true,
            Self::BecomeNode(_)
            | Self::SetRecord(_)
            | Self::SetPledges(_)
            | Self::ForgetPledges
            | Self::RenewStamp => false,
        }
    }
}

/// The outline of what is kept of a voter: against it operations are checked without reading the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) term: u64,
    pub(crate) vote: Option<u64>,
    pub(crate) snapshot: Position,
    pub(crate) last: Position,
}

/// What is kept, without its contents: what a batch changes of it is known without reading.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) directory: DirectoryRow,
    pub(crate) outline: Option<Outline>,
}

impl Kept {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let Loaded { identity, record, voter, pledges } = loaded;
        let holds = Holds { record: record.is_some(), voter: voter.is_some(), pledges: pledges.is_some() };
        let directory = DirectoryRow { identity: identity.clone(), holds };
        Self { directory, outline: voter.as_ref().map(Outline::of) }
    }
}

impl Outline {
    pub(crate) fn of(voter: &VoterState) -> Self {
        let snapshot = voter.snapshot.as_ref().map_or_else(Position::default, |snapshot| snapshot.position);
        Self { term: voter.term, vote: voter.vote, snapshot, last: voter.last() }
    }

    /// What the checksum of its row is over.
    pub(crate) fn numbers(&self) -> [u64; 6] {
        let Self { term, vote, snapshot, last } = *self;
        [term, u64::from(vote.is_some()), vote.unwrap_or_default(), snapshot.index, last.index, last.term]
    }
}
