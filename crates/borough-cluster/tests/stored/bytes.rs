//! Bytes of the first version.

use std::collections::BTreeSet;
use std::sync::Arc;

use borough_cluster::stored::{
    CODEC, StoredEntry, StoredTable, Undecodable, decode_entry, decode_table, encode_entry, encode_table,
};
use borough_protocol::incarnation::Uid;
use borough_protocol::log;
use borough_protocol::table::{Cluster, Table};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;

// As the first version wrote them.
const ENTRY: &str = "01020100000000000000020000000000000000010300000000000000";
const TABLE: &str = "0700000000000000020100000000000000000301030102010000000000000002000000000000000002000000000301020100000000000000020000000000000000010300000000000000";

fn uids<const N: usize>(numbers: [u64; N]) -> BTreeSet<VoterId> {
    numbers.into_iter().filter_map(VoterId::new).collect()
}

fn voters() -> StoredEntry {
    StoredEntry { entry: log::Entry::Voters { now: uids([1, 2]), next: uids([]) }, learners: uids([3]) }
}

fn table() -> StoredTable {
    let mut table = Table::new(Cluster { name: 7, era: 2, founder: Uid::new(1).unwrap() });
    table.apply(Version { term: Term::new(3), index: 1 }, &voters().entry);
    let voters = table.voters().clone();
    StoredTable { table: Arc::new(table), voters, learners: uids([3]) }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

#[test]
fn the_bytes_of_the_first_version_are_read() {
    assert_eq!(encode_entry(&voters()).unwrap(), bytes(ENTRY));
    assert_eq!(encode_table(&table()).unwrap(), bytes(TABLE));
    assert_eq!(decode_entry(CODEC, &bytes(ENTRY)), Ok(voters()));
    assert_eq!(decode_table(CODEC, &bytes(TABLE)), Ok(table()));
}

#[test]
fn what_cannot_be_read_is_said() {
    let bytes = encode_entry(&voters()).unwrap();
    let codec = CODEC + 1;
    assert_eq!(
        decode_entry(codec, &bytes),
        Err(Undecodable::Codec { what: "an entry", codec, known: CODEC })
    );
    let longer = [&bytes[..], &[0]].concat();
    for wrong in [&longer[..], &bytes[..bytes.len() - 1], &[]] {
        assert!(matches!(decode_entry(CODEC, wrong), Err(Undecodable::Bytes { .. })), "{wrong:?}");
        assert!(matches!(decode_table(CODEC, wrong), Err(Undecodable::Bytes { .. })), "{wrong:?}");
    }
}
