//! Directories that earlier formats, and this one, wrote: every later version opens them and reads the same. `examples/golden_directory.rs` made them.

use std::fs;
use std::path::{Path, PathBuf};

use borough_sqlite::{
    DataDirectory, Entry, FORMAT, OpenOptions, Operation, Payload, Position, Record, RecordState, Snapshot,
    VoterState, inspect,
};

const FILES: [&str; 2] = ["borough.sqlite", "borough.sqlite-wal"];
const NODE: u64 = 0xc901_03b0_e5ed_f18a;

fn golden(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{format}"))
}

/// A copy that may be written.
pub(crate) fn copied(format: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in FILES {
        fs::copy(golden(format).join(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn payload(codec: u16, text: &str) -> Payload {
    Payload { codec, bytes: text.as_bytes().to_vec() }
}

fn entry(index: u64, term: u64, text: &str) -> Entry {
    Entry { position: Position { index, term }, payload: payload(1, text) }
}

fn record() -> Record {
    Record { state: RecordState::Member, era: 3, payload: payload(2, "10.0.0.1:25520, 10.0.0.2:25520") }
}

fn snapshot() -> Snapshot {
    Snapshot { position: Position { index: 2, term: 4 }, payload: payload(1, "the table at 2") }
}

fn voter() -> VoterState {
    let entries = vec![entry(3, 4, "third"), entry(4, 6, "fourth"), entry(5, 6, "")];
    VoterState { term: 6, vote: Some(u64::MAX - 1), snapshot: Some(snapshot()), entries }
}

#[test]
fn a_directory_of_the_first_format_is_read_as_it_was_written() {
    let folder = copied(1);
    let seen = inspect(folder.path()).unwrap();
    let (mut directory, loaded) = DataDirectory::open(folder.path(), &OpenOptions::new("gold")).unwrap();
    assert_eq!((loaded.identity.cluster.as_str(), loaded.identity.node), ("gold", NODE));
    assert_eq!((seen.loaded.identity.opens, loaded.identity.opens), (2, 3));
    assert_eq!(loaded.record, Some(record()));
    assert_eq!(loaded.voter, Some(voter()));
    assert_eq!((&seen.loaded.record, &seen.loaded.voter), (&loaded.record, &loaded.voter));
    directory.write(&[Operation::Append(entry(6, 6, "sixth"))]).unwrap();
    // The first format has no promises. It is brought to the newest one, which has.
    assert_eq!((seen.format, seen.loaded.pledges, loaded.pledges), (1, None, None));
    let pledges = payload(3, "10.0.0.3:25520");
    directory.write(&[Operation::SetPledges(pledges.clone())]).unwrap();
    directory.close().unwrap();
    let seen = inspect(folder.path()).unwrap();
    assert_eq!((seen.format, seen.loaded.pledges), (FORMAT, Some(pledges)));
}

#[test]
fn a_directory_of_the_second_format_is_read_as_it_was_written() {
    let folder = copied(2);
    let (directory, loaded) = DataDirectory::open(folder.path(), &OpenOptions::new("gold")).unwrap();
    assert_eq!((loaded.record, loaded.voter), (None, None));
    assert_eq!(loaded.pledges, Some(payload(3, "10.0.0.3:25520")));
    directory.close().unwrap();
}
