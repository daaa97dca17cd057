//! Writes operations into a transaction, each checked against the outline of what is there.

use rusqlite::{Transaction, params};

use super::read::{placed_checksum, pledges_checksum, record_checksum};
use super::{Entry, Kept, Operation, Outline, Payload, Position, Record, Snapshot};
use crate::checksum::{Of, checksum};
use crate::directory::DirectoryRow;
use crate::error::Refusal;
use crate::sqlite::NUMBER_MAX;

/// Why an operation was not written.
#[derive(Debug)]
pub(crate) enum NotApplied {
    Refused(Refusal),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for NotApplied {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Refusal> for NotApplied {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Writes one operation, but for the row of the directory. What is kept is the caller's copy: the caller takes it over if the transaction is committed.
pub(crate) fn apply(sql: &Transaction<'_>, kept: &mut Kept, operation: &Operation) -> Result<(), NotApplied> {
    let Kept { directory: DirectoryRow { identity, holds }, outline } = kept;
    match operation {
        Operation::SetTermAndVote { term, vote } => set_term_and_vote(outline, *term, *vote)?,
        Operation::CutAbove(index) => cut_above(sql, outline.as_mut(), *index)?,
        Operation::Append(entry) => append(sql, outline.as_mut(), entry)?,
        Operation::SetSnapshot(snapshot) => set_snapshot(sql, outline.as_mut(), snapshot)?,
        Operation::ReplaceLog(snapshot) => {
            if let Some(outline) = outline.as_mut() {
                sql.execute_batch("DELETE FROM entries;")?;
                outline.last = outline.snapshot;
            }
            set_snapshot(sql, outline.as_mut(), snapshot)?;
        }
        Operation::ForgetVoter => {
            sql.execute_batch("DELETE FROM entries; DELETE FROM snapshot; DELETE FROM voter;")?;
            *outline = None;
        }
        Operation::SetRecord(record) => {
            set_record(sql, record)?;
            holds.record = true;
        }
        Operation::SetPledges(pledges) => {
            set_pledges(sql, pledges)?;
            holds.pledges = true;
        }
        Operation::ForgetPledges => {
            sql.execute_batch("DELETE FROM pledges;")?;
            holds.pledges = false;
        }
        Operation::BecomeNode(node) => identity.node = *node,
        Operation::RenewStamp => identity.stamp.renew(),
    }
    holds.voter = outline.is_some();
    match outline {
        Some(outline) if operation.is_of_voter() => Ok(write_outline(sql, outline)?),
        Some(_) | None => Ok(()),
    }
}

fn set_term_and_vote(outline: &mut Option<Outline>, term: u64, vote: Option<u64>) -> Result<(), Refusal> {
    in_range(term)?;
    match outline {
        Some(outline) if term < outline.term => Err(Refusal::TermGoesBack { term, written: outline.term }),
        Some(outline) => {
            (outline.term, outline.vote) = (term, vote);
            Ok(())
        }
        None => {
            let none = Position::default();
            *outline = Some(Outline { term, vote, snapshot: none, last: none });
            Ok(())
        }
    }
}

fn cut_above(sql: &Transaction<'_>, outline: Option<&mut Outline>, above: u64) -> Result<(), NotApplied> {
    let Some(outline) = outline else { return Ok(()) };
    let snapshot = outline.snapshot;
    if above < snapshot.index {
        return Err(Refusal::CutsSnapshot { above, snapshot: snapshot.index }.into());
    }
    if above >= outline.last.index {
        return Ok(());
    }
    sql.execute("DELETE FROM entries WHERE position > ?1", params![above])?;
    outline.last = if above == snapshot.index {
        snapshot
    } else {
        Position { index: above, term: term_at(sql, above)? }
    };
    Ok(())
}

fn append(sql: &Transaction<'_>, outline: Option<&mut Outline>, entry: &Entry) -> Result<(), NotApplied> {
    let Entry { position, payload } = entry;
    let Position { index, term } = *position;
    let outline = written_term(outline, term)?;
    let expected = outline.last.index + 1;
    if index != expected {
        return Err(Refusal::NotNext { index, expected }.into());
    }
    in_range(index)?;
    if term < outline.last.term {
        return Err(Refusal::TermFalls { term, last: outline.last.term }.into());
    }
    let query = "INSERT INTO entries (position, term, codec, bytes, checksum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let sum = placed_checksum(Of::Entry, *position, payload);
    sql.execute(query, params![index, term, payload.codec, payload.bytes, sum])?;
    outline.last = *position;
    Ok(())
}

fn set_snapshot(
    sql: &Transaction<'_>,
    outline: Option<&mut Outline>,
    snapshot: &Snapshot,
) -> Result<(), NotApplied> {
    let Snapshot { position, payload } = snapshot;
    let Position { index, term } = *position;
    let outline = written_term(outline, term)?;
    in_range(index)?;
    if index < outline.snapshot.index {
        return Err(Refusal::SnapshotGoesBack { index, written: outline.snapshot.index }.into());
    }
    if index <= outline.last.index {
        let in_log =
            if index == outline.snapshot.index { outline.snapshot.term } else { term_at(sql, index)? };
        if in_log != term {
            return Err(Refusal::SnapshotDisagrees { index, term, in_log }.into());
        }
    } else if term < outline.last.term {
        return Err(Refusal::TermFalls { term, last: outline.last.term }.into());
    } else {
        outline.last = *position;
    }
    sql.execute("DELETE FROM entries WHERE position <= ?1", params![index])?;
    let query =
        "REPLACE INTO snapshot (only, position, term, codec, bytes, checksum) VALUES (1, ?1, ?2, ?3, ?4, ?5)";
    let Payload { codec, bytes } = payload;
    let sum = placed_checksum(Of::Snapshot, *position, payload);
    sql.execute(query, params![index, term, codec, bytes, sum])?;
    outline.snapshot = *position;
    Ok(())
}

fn set_record(sql: &Transaction<'_>, record: &Record) -> rusqlite::Result<()> {
    let Record { state, era, payload } = record;
    let query =
        "REPLACE INTO record (only, state, era, codec, bytes, checksum) VALUES (1, ?1, ?2, ?3, ?4, ?5)";
    let sum = record_checksum(state.number(), *era, payload);
    sql.execute(query, params![state.number(), era, payload.codec, payload.bytes, sum])?;
    Ok(())
}

fn set_pledges(sql: &Transaction<'_>, pledges: &Payload) -> rusqlite::Result<()> {
    let query = "REPLACE INTO pledges (only, codec, bytes, checksum) VALUES (1, ?1, ?2, ?3)";
    sql.execute(query, params![pledges.codec, pledges.bytes, pledges_checksum(pledges)])?;
    Ok(())
}

fn write_outline(sql: &Transaction<'_>, outline: &Outline) -> rusqlite::Result<()> {
    let query = "REPLACE INTO voter (only, term, vote, snapshot_position, last_position, last_term, checksum)
                 VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)";
    let Outline { term, vote, snapshot, last } = *outline;
    let sum = checksum(Of::Voter, &outline.numbers(), &[]);
    let vote = vote.map(u64::cast_signed);
    sql.execute(query, params![term, vote, snapshot.index, last.index, last.term, sum])?;
    Ok(())
}

/// The term of the entry at that place, which is in the log.
fn term_at(sql: &Transaction<'_>, index: u64) -> rusqlite::Result<u64> {
    sql.query_row("SELECT term FROM entries WHERE position = ?1", params![index], |row| row.get(0))
}

/// The outline, if the term that something is of was written before it.
fn written_term(outline: Option<&mut Outline>, term: u64) -> Result<&mut Outline, Refusal> {
    match outline {
        Some(outline) if term <= outline.term => Ok(outline),
        other => Err(Refusal::TermNotWritten { term, written: other.map(|outline| outline.term) }),
    }
}

fn in_range(number: u64) -> Result<(), Refusal> {
    if number < NUMBER_MAX { Ok(()) } else { Err(Refusal::OutOfRange { number }) }
}
