//! What a voter keeps on disk, as bytes: tables and entries of their log.
//!
//! For nodes, which write it, and for the program, which shows it. No part of the interface that is kept stable; the bytes are: what a version wrote, every
//! later one reads, or it counts the codec up.

use std::collections::BTreeSet;
use std::sync::Arc;

use borough_protocol::disk::{Bond, Pledge, Record};
use borough_protocol::formation::Memory;
use borough_protocol::incarnation::Address;
use borough_protocol::log;
use borough_protocol::table::{Change, Table};
use borough_protocol::voters::{VoterId, Voters};
use borough_sqlite::REPLACE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The number of the codec: postcard, of the types as they are in this version.
pub const CODEC: u16 = 1;

/// The number of the codec of records. In 1 they did not say for how long leases may last.
pub const RECORD_CODEC: u16 = 2;

/// An entry of the log, and the nodes that catch up from there on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEntry {
    /// What the table applies.
    pub entry: log::Entry<Change>,
    /// The nodes that catch up.
    pub learners: BTreeSet<VoterId>,
}

/// Bytes on disk that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// Another version wrote them.
    #[error(
        "{what} has codec {codec}, and this version of Borough reads up to {known}: use the version that wrote it, or a later one"
    )]
    Codec {
        /// Of what.
        what: &'static str,
        /// Its codec.
        codec: u16,
        /// The newest codec of it that is known here.
        known: u16,
    },
    /// The number of the node is 0, which nobody has.
    #[error("the identity of the node is 0, which no version writes: {REPLACE}")]
    Identity,
    /// There is a log, and no record of the cluster that it is of.
    #[error(
        "there are term, vote and log of a voter, and no record of their cluster, which no version writes: {REPLACE}"
    )]
    NoRecord,
    /// They are not what their codec writes.
    #[error(
        "{what} of {length} bytes cannot be read: {source}. If another version of Borough wrote it, use that version. Else the directory is damaged: {REPLACE}"
    )]
    Bytes {
        /// Of what.
        what: &'static str,
        /// How many there are.
        length: usize,
        /// What is wrong.
        source: postcard::Error,
    },
}

/// A table, as it stands for the beginning of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTable {
    /// The table.
    pub table: Arc<Table>,
    /// The lists of voters, as the log has them.
    pub voters: Voters,
    /// The nodes that catch up.
    pub learners: BTreeSet<VoterId>,
}

/// The bytes of a table; `None` if it cannot be written, which no table of ours is.
pub fn encode_table(table: &StoredTable) -> Option<Vec<u8>> {
    postcard::to_allocvec(table).ok()
}

/// The table of these bytes.
pub fn decode_table(codec: u16, bytes: &[u8]) -> Result<StoredTable, Undecodable> {
    decode("a snapshot", codec, CODEC, bytes)
}

/// The bytes of a record; `None` if it cannot be written, which no record of ours is.
pub fn encode_record(record: &Record) -> Option<Vec<u8>> {
    postcard::to_allocvec(record).ok()
}

/// The record of these bytes.
pub fn decode_record(codec: u16, bytes: &[u8]) -> Result<Record, Undecodable> {
    let what = "the record";
    if codec == CODEC {
        let RecordWithoutWait { bond, memory, members } = decode(what, codec, CODEC, bytes)?;
        return Ok(Record { bond, memory, members, wait: None });
    }
    decode(what, codec, RECORD_CODEC, bytes)
}

/// A record as codec 1 has it.
#[derive(Deserialize)]
struct RecordWithoutWait {
    bond: Bond,
    memory: Arc<Memory>,
    members: Arc<[Address]>,
}

/// The bytes of the promises of a node; `None` if they cannot be written, which none of ours are.
pub fn encode_pledges(pledges: &[Pledge]) -> Option<Vec<u8>> {
    postcard::to_allocvec(pledges).ok()
}

/// The promises of these bytes.
pub fn decode_pledges(codec: u16, bytes: &[u8]) -> Result<Vec<Pledge>, Undecodable> {
    decode("the list of promises", codec, CODEC, bytes)
}

/// The bytes of an entry; `None` if it cannot be written, which no entry of ours is.
pub fn encode_entry(entry: &StoredEntry) -> Option<Vec<u8>> {
    postcard::to_allocvec(entry).ok()
}

/// The entry of these bytes.
pub fn decode_entry(codec: u16, bytes: &[u8]) -> Result<StoredEntry, Undecodable> {
    decode("an entry", codec, CODEC, bytes)
}

fn decode<T: DeserializeOwned>(
    what: &'static str,
    codec: u16,
    known: u16,
    bytes: &[u8],
) -> Result<T, Undecodable> {
    if codec != known {
        return Err(Undecodable::Codec { what, codec, known });
    }
    let unreadable = |source| Undecodable::Bytes { what, length: bytes.len(), source };
    let (value, left) = postcard::take_from_bytes(bytes).map_err(unreadable)?;
    if left.is_empty() { Ok(value) } else { Err(unreadable(postcard::Error::SerdeDeCustom)) }
}
