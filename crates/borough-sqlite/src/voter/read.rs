//! Reads what is kept of a voter, and believes none of it unchecked.

use rusqlite::{Connection, OptionalExtension, Row};

use super::{Entry, Outline, Payload, Position, Record, RecordState, Snapshot, VoterState};
use crate::checksum::{Of, checksum};

/// What reading fails with: SQLite's error, or what is wrong with a record.
#[derive(Debug)]
pub(crate) enum ReadError {
    Sqlite(rusqlite::Error),
    Wrong(String),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

pub(crate) fn read_record(connection: &Connection) -> Result<Option<Record>, ReadError> {
    let query = "SELECT state, era, codec, bytes, checksum FROM record";
    let row = connection.query_row(query, [], |row| {
        let (state, era): (u8, u32) = (row.get(0)?, row.get(1)?);
        Ok((state, era, Payload { codec: row.get(2)?, bytes: row.get(3)? }, row.get(4)?))
    });
    let Some((state, era, payload, sum)) = row.optional()? else { return Ok(None) };
    if record_checksum(state, era, &payload) != sum {
        return Err(wrong("the record of the cluster has a wrong checksum"));
    }
    let state =
        RecordState::of(state).ok_or_else(|| wrong("the record of the cluster has no known state"))?;
    Ok(Some(Record { state, era, payload }))
}

pub(crate) fn read_pledges(connection: &Connection) -> Result<Option<Payload>, ReadError> {
    let row = connection.query_row("SELECT codec, bytes, checksum FROM pledges", [], |row| {
        Ok((Payload { codec: row.get(0)?, bytes: row.get(1)? }, row.get(2)?))
    });
    let Some((payload, sum)) = row.optional()? else { return Ok(None) };
    if pledges_checksum(&payload) != sum {
        return Err(wrong("the promises of the node have a wrong checksum"));
    }
    Ok(Some(payload))
}

pub(crate) fn read_voter(connection: &Connection) -> Result<Option<VoterState>, ReadError> {
    let query = "SELECT term, vote, snapshot_position, last_position, last_term, checksum FROM voter";
    let row = connection.query_row(query, [], |row| {
        let vote: Option<i64> = row.get(1)?;
        // The row does not repeat the snapshot's term: the snapshot's own checksum covers it.
        let snapshot = Position { index: row.get(2)?, term: 0 };
        let last = Position { index: row.get(3)?, term: row.get(4)? };
        Ok((Outline { term: row.get(0)?, vote: vote.map(i64::cast_unsigned), snapshot, last }, row.get(5)?))
    });
    let (snapshot, entries) = (read_snapshot(connection)?, read_entries(connection)?);
    let Some((outline, sum)) = row.optional()? else {
        let is_empty = snapshot.is_none() && entries.is_empty();
        return if is_empty { Ok(None) } else { Err(wrong("there is a log, and no term and vote")) };
    };
    if checksum(Of::Voter, &outline.numbers(), &[]) != sum {
        return Err(wrong("term and vote have a wrong checksum"));
    }
    let voter = VoterState { term: outline.term, vote: outline.vote, snapshot, entries };
    check(&voter, &outline)?;
    Ok(Some(voter))
}

/// Whether the log is the one whose ends were written: without a gap, and with nothing missing at either end.
fn check(voter: &VoterState, outline: &Outline) -> Result<(), ReadError> {
    let found = Outline::of(voter);
    if found.snapshot.index != outline.snapshot.index {
        let (found, written) = (found.snapshot.index, outline.snapshot.index);
        return Err(wrong(format!("the snapshot is at {found}, and was written at {written}")));
    }
    let mut last = found.snapshot;
    for Entry { position, .. } in &voter.entries {
        if position.index != last.index + 1 {
            return Err(wrong(format!("the log goes from {} to {}", last.index, position.index)));
        }
        if position.term < last.term {
            return Err(wrong(format!("term {} follows term {} in the log", position.term, last.term)));
        }
        last = *position;
    }
    if last != outline.last {
        return Err(wrong(format!(
            "the log ends at {}, and was written up to {}",
            last.index, outline.last.index
        )));
    }
    Ok(())
}

fn read_snapshot(connection: &Connection) -> Result<Option<Snapshot>, ReadError> {
    let query = "SELECT position, term, codec, bytes, checksum FROM snapshot";
    let Some((position, payload, sum)) = connection.query_row(query, [], placed).optional()? else {
        return Ok(None);
    };
    if placed_checksum(Of::Snapshot, position, &payload) != sum {
        return Err(wrong(format!("the snapshot at {} has a wrong checksum", position.index)));
    }
    Ok(Some(Snapshot { position, payload }))
}

fn read_entries(connection: &Connection) -> Result<Vec<Entry>, ReadError> {
    let query = "SELECT position, term, codec, bytes, checksum FROM entries ORDER BY position";
    let mut statement = connection.prepare(query)?;
    let mut entries = Vec::new();
    for row in statement.query_map([], placed)? {
        let (position, payload, sum) = row?;
        if placed_checksum(Of::Entry, position, &payload) != sum {
            return Err(wrong(format!("the entry at {} has a wrong checksum", position.index)));
        }
        entries.push(Entry { position, payload });
    }
    Ok(entries)
}

fn placed(row: &Row<'_>) -> rusqlite::Result<(Position, Payload, u32)> {
    let position = Position { index: row.get(0)?, term: row.get(1)? };
    Ok((position, Payload { codec: row.get(2)?, bytes: row.get(3)? }, row.get(4)?))
}

pub(super) fn placed_checksum(of: Of, position: Position, payload: &Payload) -> u32 {
    checksum(of, &[position.index, position.term, u64::from(payload.codec)], &payload.bytes)
}

pub(super) fn record_checksum(state: u8, era: u32, payload: &Payload) -> u32 {
    checksum(Of::Record, &[u64::from(state), u64::from(era), u64::from(payload.codec)], &payload.bytes)
}

pub(super) fn pledges_checksum(payload: &Payload) -> u32 {
    checksum(Of::Pledges, &[u64::from(payload.codec)], &payload.bytes)
}

pub(crate) fn wrong(what: impl Into<String>) -> ReadError {
    ReadError::Wrong(what.into())
}

impl RecordState {
    fn of(number: u8) -> Option<Self> {
        [Self::Member, Self::Left, Self::Ended].into_iter().find(|state| state.number() == number)
    }

    /// As it is written: never changed.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Member => 1,
            Self::Left => 2,
            Self::Ended => 3,
        }
    }
}
