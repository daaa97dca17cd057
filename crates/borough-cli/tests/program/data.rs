//! What a node keeps in its directory, shown and removed by the program.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use borough_cluster::stored::{
    CODEC, RECORD_CODEC, StoredEntry, StoredTable, encode_entry, encode_record, encode_table,
};
use borough_protocol::disk::{self, Bond};
use borough_protocol::formation::Memory;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log;
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind, KindId, ShardId, Step};
use borough_protocol::table::{Admission, Change, Cluster, Removal, Table};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;
use borough_sqlite::{
    DataDirectory, Entry, OpenOptions, Operation, Payload, Position, Record, RecordState, Snapshot,
};

use crate::folder::Folder;
use crate::run::{json, printed, run};

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

fn admit(number: u64, node: &str) -> log::Entry<Change> {
    let facts = Facts {
        id: NodeId::new(node),
        roles: Arc::from([]),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let incarnation = Incarnation { address: Address::new(format!("{node}:25520")), uid: uid(number) };
    log::Entry::Payload(Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) })))
}

fn declare(name: &str, shards: u32) -> log::Entry<Change> {
    let allocation = Allocation::External;
    let name = name.into();
    let kind = Kind { name, shards, hashing: Hashing::Xxh3, role: None, min_hosts: 1, allocation, codec: 1 };
    log::Entry::Payload(Change::Declare(Arc::new(kind)))
}

fn payload(bytes: Option<Vec<u8>>) -> Payload {
    Payload { codec: CODEC, bytes: bytes.unwrap() }
}

fn append(index: u64, entry: log::Entry<Change>) -> Operation {
    let stored = StoredEntry { entry, learners: [].into() };
    let position = Position { index, term: 3 };
    Operation::Append(Entry { position, payload: payload(encode_entry(&stored)) })
}

fn open(folder: &Folder) -> DataDirectory {
    DataDirectory::open(folder.text(), &OpenOptions::new("bank")).unwrap().0
}

/// What a node writes of the cluster of that table.
fn recorded(bond: Bond, state: RecordState, table: &Table) -> Record {
    let members = table.members().values().map(|member| member.incarnation.address.clone()).collect();
    let (memory, wait) = (Arc::new(Memory::of_table(table, true)), Some(Duration::from_millis(1660)));
    let record = disk::Record { bond, memory, members, wait };
    let payload = Payload { codec: RECORD_CODEC, ..payload(encode_record(&record)) };
    Record { state, era: table.cluster().era, payload }
}

/// A voter of two, with two entries in a snapshot and three behind it.
fn voter(folder: &Folder) -> DataDirectory {
    let voters = log::Entry::Voters {
        now: [0xa, 0xb].into_iter().filter_map(VoterId::new).collect(),
        next: [].into(),
    };
    let mut table = Table::new(Cluster { name: 1, era: 4, founder: uid(0xa) });
    for (index, entry) in [(1, &voters), (2, &admit(0xa, "north"))] {
        table.apply(Version { term: Term::new(2), index }, entry);
    }
    let (voters, learners) = (table.voters().clone(), [].into());
    let stored = StoredTable { table: Arc::new(table), voters, learners };
    let mut directory = open(folder);
    let position = Position { index: 2, term: 2 };
    let snapshot = Snapshot { position, payload: payload(encode_table(&stored)) };
    let record = recorded(Bond::Member, RecordState::Member, &stored.table);
    let host = log::Entry::Payload(Change::Host(uid(0xa), KindId(0)));
    directory
        .write(&[
            Operation::SetTermAndVote { term: 3, vote: Some(0xb) },
            Operation::SetSnapshot(snapshot),
            append(3, admit(0xb, "south")),
            append(4, declare("accounts", 64)),
            append(5, host),
            Operation::SetRecord(record),
        ])
        .unwrap();
    directory
}

fn said(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_a_voter_keeps_is_shown() {
    let folder = Folder::new("data-voter");
    voter(&folder).close().unwrap();
    let found = json(&["data", "inspect", folder.text(), "--json"]);
    assert_eq!(
        (&found["cluster"], &found["state"], &found["era"]),
        (&"bank".into(), &"member".into(), &4.into())
    );
    assert_eq!(found["in_use"], serde_json::Value::Null);
    let voter = &found["voter"];
    assert_eq!((&voter["term"], &voter["vote"]), (&3.into(), &"b".into()));
    assert_eq!((&voter["snapshot"], &voter["last"], &voter["entries"]), (&2.into(), &5.into(), &3.into()));
    let table = &found["table"];
    assert_eq!(table["voters"], serde_json::json!(["a", "b"]));
    assert_eq!(
        (&table["members"][0]["node"], &table["members"][1]["node"]),
        (&"north".into(), &"south".into())
    );
    let [accounts] = table["types"].as_array().unwrap().as_slice() else { panic!("{table}") };
    assert_eq!((&accounts["name"], &accounts["shards"]), (&"accounts".into(), &64.into()));
    assert_eq!((&accounts["owned"], &accounts["hosts"]), (&0.into(), &1.into()));

    let text = printed(&["data", "inspect", folder.text()]);
    for word in ["bank", "member", "north:25520", "south:25520", "accounts", "64", "5, of term 3", "voter"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Appends what gives shards of the type to both nodes: 0 to 2 to south, of which 2 moves to north, 5 to north, and 6 to a node that was removed since.
fn give_shards(first: u64) -> Vec<Operation> {
    let shard = |number| ShardId { kind: KindId(0), number };
    let (era, given) = (Epoch::first(4), Epoch::first(4).next());
    let own = |(number, owner)| (shard(number), Step::Own(uid(owner), era));
    let owned = [(0, 0xb), (1, 0xb), (2, 0xb), (5, 0xa), (6, 0xc)].map(own);
    let host = |node| Change::Host(uid(node), KindId(0));
    let changes = [
        host(0xb),
        host(0xc),
        Change::Shards(owned.into()),
        Change::Shards([(shard(2), Step::Move(uid(0xa), given))].into()),
        Change::Remove(uid(0xc), Removal::Operator),
    ];
    let at = (first..).zip(changes);
    at.map(|(index, change)| append(index, log::Entry::Payload(change))).collect()
}

/// What is shown of the shards of a directory to which those of [`give_shards`] were given.
fn shows_owners(folder: &Folder) {
    let found = json(&["data", "inspect", folder.text(), "--json"]);
    assert_eq!(found["undecoded"], serde_json::Value::Null);
    let accounts = &found["table"]["types"][0];
    assert_eq!((&accounts["owned"], &accounts["hosts"]), (&4.into(), &2.into()), "{found}");
    let (north, south, gone) = (uid(0xa).to_string(), uid(0xb).to_string(), uid(0xc).to_string());
    let expected = serde_json::json!([
        { "node": "north", "uid": north, "shards": 1, "moving": 0 },
        { "node": "south", "uid": south, "shards": 3, "moving": 1 },
        { "node": null, "uid": gone, "shards": 1, "moving": 0 },
    ]);
    assert_eq!(accounts["owners"], expected);
    let epoch = Epoch::first(4).get().to_string();
    let place = |shard: u32, owner: Option<&str>, uid: &str, moving_to: Option<&str>| serde_json::json!({ "shard": shard, "owner": owner, "owner_uid": uid, "epoch": epoch, "moving_to": moving_to });
    let expected = [
        place(0, Some("south"), &south, None),
        place(1, Some("south"), &south, None),
        place(2, Some("south"), &south, Some("north")),
        place(5, Some("north"), &north, None),
        place(6, None, &gone, None),
    ];
    assert_eq!(accounts["places"], serde_json::Value::from(expected.to_vec()));

    let text = printed(&["data", "inspect", folder.text()]);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<_> = text.lines().map(words).collect();
    for line in [
        "accounts north 1 0 5",
        "accounts south 3 1 0-2",
        &format!("accounts (removed) #{gone} 1 0 6"),
        "accounts (nobody yet) 59 0",
    ] {
        assert!(lines.iter().any(|shown| shown == line), "{line}: {text}");
    }
}

#[test]
fn the_owners_of_shards_are_shown() {
    let folder = Folder::new("data-owners");
    let mut directory = voter(&folder);
    directory.write(&[append(6, admit(0xc, "west"))]).unwrap();
    directory.write(&give_shards(7)).unwrap();
    directory.close().unwrap();
    shows_owners(&folder);
}

/// The era is in the record then: without it no epoch of the log would fit.
#[test]
fn the_owners_of_shards_are_shown_without_a_snapshot() {
    let folder = Folder::new("data-owners-log");
    let mut directory = open(&folder);
    let table = Table::new(Cluster { name: 1, era: 4, founder: uid(0xa) });
    let now = [0xa, 0xb].into_iter().filter_map(VoterId::new).collect();
    directory
        .write(&[
            Operation::SetTermAndVote { term: 3, vote: None },
            append(1, log::Entry::Voters { now, next: [].into() }),
            append(2, admit(0xa, "north")),
            append(3, admit(0xb, "south")),
            append(4, admit(0xc, "west")),
            append(5, declare("accounts", 64)),
            append(6, log::Entry::Payload(Change::Host(uid(0xa), KindId(0)))),
            Operation::SetRecord(recorded(Bond::Member, RecordState::Member, &table)),
        ])
        .unwrap();
    directory.write(&give_shards(7)).unwrap();
    directory.close().unwrap();
    shows_owners(&folder);
}

/// A node that is no voter, or that left, has neither log nor table: who was in its cluster is in the record alone.
#[test]
fn the_voters_and_members_of_a_record_are_shown_without_a_log() {
    let mut table = Table::new(Cluster { name: 1, era: 4, founder: uid(0xf) });
    let now = [0xa, 0xb].into_iter().filter_map(VoterId::new).collect();
    let voters = log::Entry::Voters { now, next: [].into() };
    for (index, entry) in [(1, &voters), (2, &admit(0xa, "north")), (3, &admit(0xc, "west"))] {
        table.apply(Version { term: Term::new(2), index }, entry);
    }
    for (bond, state, word) in
        [(Bond::Member, RecordState::Member, "member"), (Bond::Left, RecordState::Left, "left")]
    {
        let folder = Folder::new(&format!("data-record-{word}"));
        let mut directory = open(&folder);
        directory.write(&[Operation::SetRecord(recorded(bond, state, &table))]).unwrap();
        directory.close().unwrap();
        let found = json(&["data", "inspect", folder.text(), "--json"]);
        assert_eq!((&found["state"], &found["undecoded"]), (&word.into(), &serde_json::Value::Null));
        let record = &found["record"];
        assert_eq!((&record["era"], &record["founder"]), (&4.into(), &uid(0xf).to_string().into()));
        let expected = serde_json::json!([
            { "voter": "a", "address": "north:25520" },
            { "voter": "b", "address": null },
        ]);
        assert_eq!(record["voters"], expected);
        assert_eq!(record["members"], serde_json::json!(["north:25520", "west:25520"]));
        let text = printed(&["data", "inspect", folder.text()]);
        for words in ["a at north:25520, b", "north:25520, west:25520"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn a_directory_in_use_is_shown_and_not_removed() {
    let folder = Folder::new("data-in-use");
    let directory = voter(&folder);
    let process = format!("process {}", std::process::id());
    let found = json(&["data", "inspect", folder.text(), "--json"]);
    assert_eq!(found["in_use"], format!("by {process}"));
    for arguments in [&["data", "reset", folder.text()][..], &["data", "reset", folder.text(), "--dry-run"]] {
        let words = said(arguments);
        assert!(words.contains(&process) && words.contains(folder.text()), "{words}");
    }
    directory.close().unwrap();
    assert!(Path::new(&folder.file("borough.sqlite")).exists());
}

#[test]
fn a_fresh_node_and_what_cannot_be_decoded_are_shown() {
    let folder = Folder::new("data-fresh");
    let mut directory = open(&folder);
    let found = json(&["data", "inspect", folder.text(), "--json"]);
    assert_eq!((&found["state"], &found["voter"]), (&"fresh".into(), &serde_json::Value::Null));
    let position = Position { index: 1, term: 1 };
    let entry = Entry { position, payload: Payload { codec: 99, bytes: vec![1] } };
    let term = Operation::SetTermAndVote { term: 1, vote: None };
    directory.write(&[term, Operation::Append(entry)]).unwrap();
    let found = json(&["data", "inspect", folder.text(), "--json"]);
    assert_eq!((&found["voter"]["last"], &found["table"]), (&1.into(), &serde_json::Value::Null));
    assert!(found["undecoded"].as_str().unwrap().contains("codec 99"), "{found}");
    assert!(printed(&["data", "inspect", folder.text()]).contains("codec 99"));
}

#[test]
fn a_directory_that_is_not_borough_s_is_said_to_be_so() {
    let folder = Folder::new("data-none");
    assert!(said(&["data", "inspect", folder.text()]).contains("does not exist"));
    assert!(said(&["data", "reset", folder.text()]).contains("does not exist"));
    fs::create_dir_all(folder.text()).unwrap();
    assert!(said(&["data", "inspect", folder.text()]).contains("holds no data of a Borough node"));
    fs::write(folder.file("borough.sqlite"), "a letter").unwrap();
    assert!(said(&["data", "reset", folder.text()]).contains("is not a file of Borough"));
    assert!(Path::new(&folder.file("borough.sqlite")).exists());
}

#[test]
fn a_reset_removes_borough_s_files_alone_and_a_dry_run_nothing() {
    let folder = Folder::new("data-reset");
    voter(&folder).close().unwrap();
    fs::write(folder.file("photo.jpg"), "x").unwrap();
    let text = printed(&["data", "reset", folder.text(), "--dry-run"]);
    for word in ["borough.sqlite", "term, vote and log", "nothing was", "stays: photo.jpg"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(Path::new(&folder.file("borough.sqlite")).exists());
    let done = json(&["data", "reset", folder.text(), "--json"]);
    assert_eq!((&done["dry_run"], &done["kept"]), (&false.into(), &serde_json::json!(["photo.jpg"])));
    assert!(
        done["removed"].as_array().unwrap().iter().any(|file| file["name"] == "borough.sqlite"),
        "{done}"
    );
    let left: Vec<_> = fs::read_dir(folder.text()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["photo.jpg"]);
    assert!(printed(&["data", "reset", folder.text()]).contains("nothing of a Borough node"));
}
