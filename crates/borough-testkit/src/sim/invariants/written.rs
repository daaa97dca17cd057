//! What a node with a disk says and decides is on its disk.
//!
//! What a voter answers is there before the answer leaves: otherwise a crash takes back what another node counted. A node belongs to a cluster by its
//! record before it uses anything of it, and a coordinator decides by what it has written.

use borough_protocol::disk::Bond;
use borough_protocol::log::Log;
use borough_protocol::log::raft;
use borough_protocol::node::{Message, Word};
use borough_protocol::table::Table;
use borough_protocol::version::Term;
use borough_protocol::voters::VoterId;

use crate::sim::disk::Disk;
use crate::sim::life::Life;
use crate::sim::violation::Violation;

/// A life with that disk says something to that voter.
pub(super) fn says(life: &Life, disk: &Disk, to: VoterId, message: &Message) -> Result<(), Violation> {
    let Message::Word { word: Word::Log(word), .. } = message else { return Ok(()) };
    let log = disk.image.log.as_ref();
    let term = log.map_or(Term::ZERO, |log| log.term);
    let is_kept = match word {
        // Nothing changes by them.
        raft::Message::PreVote { .. } | raft::Message::PreVoteReply { .. } => true,
        raft::Message::VoteReply { term: voted, granted: true } => {
            term > *voted || term == *voted && disk.has_voted(*voted, to)
        }
        raft::Message::AppendReply { term: said, last } => term >= *said && last.index <= disk.synced_end(),
        raft::Message::Vote { .. }
        | raft::Message::VoteReply { .. }
        | raft::Message::Append { .. }
        | raft::Message::StandNow { .. }
        | raft::Message::Snapshot(_) => term >= word.term(),
    };
    if is_kept {
        return Ok(());
    }
    let end = disk.synced_end();
    let text =
        format!("{:?} says {word:?} to {to:?}, and its disk has {term:?} and a log up to {end}", life.uid());
    Err(Violation::Safety("written", text))
}

/// The table of a life with that disk has another version.
pub(super) fn moves(life: &Life, disk: &Disk, table: &Table) -> Result<(), Violation> {
    let (uid, cluster, version) = (life.uid(), table.cluster(), table.version());
    // Before it has a member nothing is decided, and nobody but the founder knows of it.
    if version.index == 0 || table.members().is_empty() {
        return Ok(());
    }
    let record = disk.image.record.as_ref();
    let is_recorded =
        record.is_some_and(|record| record.bond == Bond::Member && record.memory.cluster == cluster);
    if !is_recorded {
        let text = format!("{uid:?} has {version:?} of {cluster:?}, and its disk says {record:?}");
        return Err(Violation::Safety("recorded", text));
    }
    // One that does not know yet that it is replaced may be told of what the next one decided.
    let decides = life.node.log().is_some_and(|log| log.may_act() && log.term() == version.term);
    if decides && version.index > disk.synced_end() {
        let end = disk.synced_end();
        let text = format!("{uid:?} decided {version:?}, and its disk has a log up to {end}");
        return Err(Violation::Safety("written", text));
    }
    Ok(())
}
