//! Data directories that earlier formats, and this one, wrote: a voter with a full table and every change in its log, a node that left, one whose cluster ended,
//! and one that ended and gave promises since. Every later version reads the same from them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use borough_cluster::stored::{
    CODEC, RECORD_CODEC, StoredEntry, StoredTable, decode_entry, decode_pledges, decode_record, decode_table,
    encode_entry, encode_pledges, encode_record, encode_table,
};
use borough_protocol::disk::{self, Bond};
use borough_protocol::log;
use borough_protocol::table::Table;
use borough_sqlite::{
    DataDirectory, Entry, FORMAT, Loaded, OpenOptions, Operation, Payload, Position, Record, RecordState,
    Snapshot, inspect,
};
use tempfile::TempDir;

use crate::history::{CHANGES, TERM, cluster, newest, number, pledges, record, second, table, voter, voters};

const CLUSTER: &str = "golden";

/// The states of a record, and the directory of each: of the first format.
const FIRST: [(Bond, RecordState, &str); 3] = [
    (Bond::Member, RecordState::Member, "voter-v1"),
    (Bond::Left, RecordState::Left, "left-v1"),
    (Bond::Ended, RecordState::Ended, "ended-v1"),
];

/// Of the second format, which has promises: a node whose cluster ended gives them before it founds another one.
const SECOND: [(Bond, RecordState, &str); 2] =
    [(Bond::Member, RecordState::Member, "voter-v2"), (Bond::Ended, RecordState::Ended, "pledged-v2")];

/// The same with the second codec of records: they say for how long leases may last.
const PRESENT: [(Bond, RecordState, &str); 2] =
    [(Bond::Member, RecordState::Member, "voter-v3"), (Bond::Ended, RecordState::Ended, "pledged-v3")];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn payload(bytes: Vec<u8>) -> Payload {
    Payload { codec: CODEC, bytes }
}

fn stored_record(bond: Bond, state: RecordState) -> Record {
    let payload = Payload { codec: RECORD_CODEC, bytes: encode_record(&record(bond)).unwrap() };
    Record { state, era: cluster().era, payload }
}

fn stored_table() -> StoredTable {
    let table = table();
    let voters_there = table.voters().clone();
    StoredTable { table: Arc::new(table), voters: voters_there, learners: voters([9]) }
}

fn stored_entries() -> Vec<StoredEntry> {
    let learners = |entry: &log::Entry<_>| match entry {
        log::Entry::Voters { .. } => voters([9]),
        log::Entry::Nothing | log::Entry::Payload(_) => BTreeSet::new(),
    };
    second().into_iter().map(|entry| StoredEntry { learners: learners(&entry), entry }).collect()
}

fn snapshot() -> Snapshot {
    let version = table().version();
    let position = Position { index: version.index, term: version.term.get() };
    Snapshot { position, payload: payload(encode_table(&stored_table()).unwrap()) }
}

fn entries() -> Vec<Entry> {
    let behind = snapshot().position.index + 1..;
    stored_entries()
        .into_iter()
        .zip(behind)
        .map(|(entry, index)| Entry {
            position: Position { index, term: TERM },
            payload: payload(encode_entry(&entry).unwrap()),
        })
        .collect()
}

/// What a directory has besides its record: that of a member has a log.
fn log_of(bond: Bond) -> Vec<Operation> {
    if bond != Bond::Member {
        return Vec::new();
    }
    let mut all = vec![
        Operation::SetTermAndVote { term: TERM, vote: Some(voter(2).get()) },
        Operation::SetSnapshot(snapshot()),
    ];
    all.extend(entries().into_iter().map(Operation::Append));
    all
}

fn stored_pledges(bond: Bond) -> Option<Payload> {
    (bond == Bond::Ended).then(|| payload(encode_pledges(&pledges()).unwrap()))
}

/// Writes the golden directories of the present format, if it is told to.
#[test]
fn directories_of_this_version_are_written_on_demand() {
    if std::env::var("BOROUGH_GOLDEN").is_ok_and(|value| value == "write") {
        for (bond, state, name) in PRESENT {
            fs::remove_dir_all(golden(name)).ok();
            let options = OpenOptions::new(CLUSTER);
            let (mut directory, _) = DataDirectory::open(golden(name), &options).unwrap();
            let mut all = vec![Operation::BecomeNode(voter(1).get())];
            all.push(Operation::SetRecord(stored_record(bond, state)));
            all.extend(log_of(bond));
            all.extend(stored_pledges(bond).map(Operation::SetPledges));
            directory.write(&all).unwrap();
            directory.close().unwrap();
            for file in fs::read_dir(golden(name)).unwrap().map(|file| file.unwrap().path()) {
                if file.extension().is_none_or(|extension| extension != "sqlite") {
                    fs::remove_file(file).unwrap();
                }
            }
        }
    }
}

/// What a copy of that directory holds, as it is opened.
fn opened(name: &str) -> Loaded {
    let folder = TempDir::new().unwrap();
    for file in fs::read_dir(golden(name)).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    DataDirectory::open(folder.path(), &OpenOptions::new(CLUSTER)).unwrap().1
}

#[test]
fn records_are_read_as_they_were_written() {
    for (bond, state, name) in FIRST.into_iter().chain(SECOND).chain(PRESENT) {
        let loaded = opened(name);
        assert_eq!(loaded.identity.node, voter(1).get(), "{name}");
        let found = loaded.record.unwrap();
        assert_eq!(found.state, state, "{name}");
        let is_present = name.ends_with("-v3");
        let wait = record(bond).wait.filter(|_| is_present);
        let read = decode_record(found.payload.codec, &found.payload.bytes).unwrap();
        assert_eq!(read, disk::Record { wait, ..record(bond) }, "{name}");
        assert_eq!(record(bond).memory.ancestors.count(), 2);
        assert_eq!(
            found == stored_record(bond, state),
            is_present,
            "{name}: this version writes other bytes"
        );
        assert_eq!(loaded.voter.is_some(), bond == Bond::Member, "{name}");
    }
}

#[test]
fn promises_are_read_as_they_were_written() {
    for name in ["pledged-v2", "pledged-v3"] {
        let found = opened(name).pledges.unwrap();
        assert_eq!(decode_pledges(found.codec, &found.bytes).unwrap(), pledges(), "{name}");
        assert_eq!(Some(found), stored_pledges(Bond::Ended), "{name}: this version writes other bytes");
    }
    for (_, _, name) in FIRST {
        assert_eq!(opened(name).pledges, None, "{name}");
    }
}

#[test]
fn the_newest_directories_are_of_the_present_format() {
    for (bond, _, name) in PRESENT {
        let found = inspect(golden(name)).unwrap();
        assert_eq!(found.format, FORMAT, "{name}");
        assert_eq!(found.loaded.pledges, stored_pledges(bond), "{name}");
    }
}

#[test]
fn a_full_table_is_read_as_it_was_written() {
    for name in ["voter-v1", "voter-v2", "voter-v3"] {
        full_table(name);
    }
}

fn full_table(name: &str) {
    let voter_state = opened(name).voter.unwrap();
    assert_eq!((voter_state.term, voter_state.vote), (TERM, Some(voter(2).get())));
    let found = voter_state.snapshot.unwrap();
    let read = decode_table(found.payload.codec, &found.payload.bytes).unwrap();
    assert_eq!(read, stored_table());
    assert!(found == snapshot(), "this version writes other bytes");

    let table = &read.table;
    let names =
        |table: &Table| table.kinds().iter().map(|kind| kind.kind().name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(table), ["accounts", "carts", "sensors"]);
    assert_eq!((table.members().len(), table.removed().len(), table.ancestors().count()), (3, 5, 2));
    assert_eq!(table.kinds()[0].shards().len(), 4);
    assert!(table.kinds()[0].shards().values().any(|entry| entry.moving.is_some()));
    assert!(table.voters().is_joint());
}

#[test]
fn every_change_is_read_as_it_was_written() {
    for name in ["voter-v1", "voter-v2", "voter-v3"] {
        every_change(name);
    }
}

fn every_change(name: &str) {
    let voter_state = opened(name).voter.unwrap();
    let read: Vec<StoredEntry> = voter_state
        .entries
        .iter()
        .map(|entry| decode_entry(entry.payload.codec, &entry.payload.bytes).unwrap())
        .collect();
    assert_eq!(read, stored_entries());
    assert!(voter_state.entries == entries(), "this version writes other bytes");
    let changes = read.iter().filter_map(|read| match &read.entry {
        log::Entry::Payload(change) => Some(number(change)),
        log::Entry::Nothing | log::Entry::Voters { .. } => None,
    });
    assert_eq!(changes.collect::<BTreeSet<_>>(), (0..CHANGES).collect());

    let table = newest(table(), &read.into_iter().map(|read| read.entry).collect::<Vec<_>>());
    assert_eq!(table, newest(crate::history::table(), &second()));
    assert!(table.is_closing());
    assert_eq!(table.kinds().len(), 4);
    assert_eq!(table.kinds()[0].shards().len(), 5);
    assert_eq!((table.members().len(), table.removed().len()), (3, 4));
}
