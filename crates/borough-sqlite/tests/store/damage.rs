//! Damaged files: what is read is what was written, or the file is said to be damaged.

use std::fs;

use borough_sqlite::{DATABASE_FILE, OpenError, Operation, RecordState};
use rusqlite::Connection;

use crate::sample::{append, open, record, refused, snapshot, term};

fn written() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    let begin = [term(3, Some(4)), append(1, 1), append(2, 1), append(3, 3), append(4, 3), append(5, 3)];
    directory.write(&begin).unwrap();
    let member = record(RecordState::Member, 2);
    directory.write(&[Operation::SetSnapshot(snapshot(2, 1)), Operation::SetRecord(member)]).unwrap();
    directory.close().unwrap();
    folder
}

#[test]
fn every_changed_or_missing_record_is_found() {
    let changes = [
        ("UPDATE directory SET node = node + 1", "identity"),
        ("UPDATE directory SET cluster = 'Bank'", "identity"),
        ("UPDATE record SET era = 1", "record"),
        ("UPDATE record SET bytes = x'00'", "record"),
        ("UPDATE voter SET term = 2", "term and vote"),
        ("UPDATE voter SET vote = NULL", "term and vote"),
        ("UPDATE voter SET vote = 5", "term and vote"),
        ("UPDATE voter SET last_position = 4", "term and vote"),
        ("DELETE FROM voter", "no term and vote"),
        ("UPDATE snapshot SET bytes = x'00'", "snapshot at 2"),
        ("DELETE FROM snapshot", "snapshot is at 0"),
        ("UPDATE entries SET bytes = x'00' WHERE position = 4", "entry at 4"),
        ("UPDATE entries SET codec = 8 WHERE position = 4", "entry at 4"),
        ("UPDATE entries SET term = 2 WHERE position = 3", "entry at 3"),
        ("DELETE FROM entries WHERE position = 4", "from 3 to 5"),
        ("DELETE FROM entries WHERE position = 3", "from 2 to 4"),
        ("DELETE FROM entries WHERE position = 5", "ends at 4"),
        ("DROP TABLE entries", "entries"),
        ("DELETE FROM directory", "no rows"),
    ];
    for (change, expected) in changes {
        let folder = written();
        Connection::open(folder.path().join(DATABASE_FILE)).unwrap().execute_batch(change).unwrap();
        let error = refused(folder.path());
        let words = error.to_string();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{change}: {words}");
        assert!(words.contains(expected) && words.contains(DATABASE_FILE), "{change}: {words}");
    }
}

/// Every byte of the file in turn would take long: one of each 97 reaches every page and every kind of field.
#[test]
fn a_changed_byte_never_changes_what_is_read() {
    let folder = written();
    let file = folder.path().join(DATABASE_FILE);
    let whole = fs::read(&file).unwrap();
    let expected = open(folder.path()).1;
    let mut found_damaged = 0;
    for place in (0..whole.len()).step_by(97) {
        let damaged = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        bytes[place] ^= 0x5A;
        fs::write(damaged.path().join(DATABASE_FILE), bytes).unwrap();
        match borough_sqlite::inspect(damaged.path()) {
            Ok(found) => {
                let (found, expected) = (&found.loaded, &expected);
                assert_eq!(
                    (&found.record, &found.voter),
                    (&expected.record, &expected.voter),
                    "byte {place}"
                );
                assert_eq!(found.identity.node, expected.identity.node, "byte {place}");
            }
            Err(_) => found_damaged += 1,
        }
    }
    assert!(found_damaged > 0);
}

#[test]
fn a_file_that_was_cut_off_is_found() {
    let folder = written();
    let file = folder.path().join(DATABASE_FILE);
    let length = fs::metadata(&file).unwrap().len();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(length - 4096).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}
