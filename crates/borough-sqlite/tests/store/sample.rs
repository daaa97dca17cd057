//! What the tests write.

use std::path::Path;

use borough_sqlite::{
    DataDirectory, Entry, Loaded, OpenError, OpenOptions, Operation, Payload, Position, Record, RecordState,
    Snapshot,
};

pub(crate) const CLUSTER: &str = "bank";

pub(crate) fn open(path: &Path) -> (DataDirectory, Loaded) {
    DataDirectory::open(path, &OpenOptions::new(CLUSTER)).unwrap()
}

pub(crate) fn refused(path: &Path) -> OpenError {
    DataDirectory::open(path, &OpenOptions::new(CLUSTER)).map(|(_, loaded)| loaded).unwrap_err()
}

/// What it holds after everybody has closed it.
pub(crate) fn reopened(path: &Path) -> Loaded {
    open(path).1
}

pub(crate) fn payload(text: impl AsRef<[u8]>) -> Payload {
    Payload { codec: 7, bytes: text.as_ref().to_vec() }
}

pub(crate) fn entry(index: u64, term: u64) -> Entry {
    Entry { position: Position { index, term }, payload: payload(format!("entry {index} of {term}")) }
}

pub(crate) fn append(index: u64, term: u64) -> Operation {
    Operation::Append(entry(index, term))
}

pub(crate) fn snapshot(index: u64, term: u64) -> Snapshot {
    Snapshot { position: Position { index, term }, payload: payload(format!("state at {index} of {term}")) }
}

pub(crate) fn term(term: u64, vote: Option<u64>) -> Operation {
    Operation::SetTermAndVote { term, vote }
}

pub(crate) fn record(state: RecordState, era: u32) -> Record {
    Record { state, era, payload: payload("members") }
}
