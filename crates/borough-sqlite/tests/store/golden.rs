//! A directory that the first version of the format wrote: every later version opens it and reads the same. `examples/golden_directory.rs` made it.

use std::fs;
use std::path::{Path, PathBuf};

use borough_sqlite::{
    DataDirectory, Entry, OpenOptions, Operation, Payload, Position, Record, RecordState, Snapshot,
    VoterState, inspect,
};

const FILES: [&str; 2] = ["borough.sqlite", "borough.sqlite-wal"];
const NODE: u64 = 0xc901_03b0_e5ed_f18a;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1")
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
    let folder = tempfile::tempdir().unwrap();
    for name in FILES {
        fs::copy(golden().join(name), folder.path().join(name)).unwrap();
    }
    let seen = inspect(folder.path()).unwrap();
    let (mut directory, loaded) = DataDirectory::open(folder.path(), &OpenOptions::new("gold")).unwrap();
    assert_eq!((loaded.identity.cluster.as_str(), loaded.identity.node), ("gold", NODE));
    assert_eq!((seen.loaded.identity.opens, loaded.identity.opens), (2, 3));
    assert_eq!(loaded.record, Some(record()));
    assert_eq!(loaded.voter, Some(voter()));
    assert_eq!((&seen.loaded.record, &seen.loaded.voter), (&loaded.record, &loaded.voter));
    directory.write(&[Operation::Append(entry(6, 6, "sixth"))]).unwrap();
}
