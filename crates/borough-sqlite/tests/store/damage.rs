//! Damaged files: what is read is what was written, or the file is said to be damaged.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use borough_sqlite::{DATABASE_FILE, OpenError, Operation, RecordState, WriteError};
use rusqlite::Connection;

use crate::golden::copied;
use crate::sample::{append, open, payload, record, refused, snapshot, term};

/// As SQLite makes them here.
const PAGE: usize = 4096;

fn written() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    let begin = [term(3, Some(4)), append(1, 1), append(2, 1), append(3, 3), append(4, 3), append(5, 3)];
    directory.write(&begin).unwrap();
    let member = record(RecordState::Member, 2);
    directory.write(&[Operation::SetSnapshot(snapshot(2, 1)), Operation::SetRecord(member)]).unwrap();
    directory.write(&[Operation::SetPledges(payload("promises"))]).unwrap();
    directory.close().unwrap();
    folder
}

#[test]
fn every_changed_or_missing_record_is_found() {
    let changes = [
        ("UPDATE directory SET node = node + 1", "identity"),
        ("UPDATE directory SET cluster = 'Bank'", "identity"),
        ("UPDATE directory SET opens = 0", "identity"),
        ("UPDATE directory SET stamp = 0", "identity"),
        ("UPDATE directory SET stamped_at = 0", "identity"),
        ("UPDATE record SET era = 1", "record"),
        ("UPDATE record SET bytes = x'00'", "record"),
        ("UPDATE voter SET term = 2", "term and vote"),
        ("UPDATE voter SET vote = NULL", "term and vote"),
        ("UPDATE voter SET vote = 5", "term and vote"),
        ("UPDATE voter SET last_position = 4", "term and vote"),
        ("DELETE FROM record", "record of the cluster is missing"),
        ("UPDATE pledges SET bytes = x'00'", "promises"),
        ("DELETE FROM pledges", "promises of the node are missing"),
        ("PRAGMA user_version = 1", "promises of the node are missing"),
        ("DELETE FROM record; DELETE FROM pledges", "are missing"),
        ("DELETE FROM voter; DELETE FROM snapshot; DELETE FROM entries", "term and vote are missing"),
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

/// Where the pages of the tables begin.
fn root_pages(file: &Path) -> Vec<(String, usize)> {
    let sql = Connection::open(file).unwrap();
    let mut query = sql.prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, usize>(1)?))).unwrap();
    rows.map(|row| row.map(|(name, page)| (name, (page - 1) * PAGE)).unwrap()).collect()
}

#[test]
fn a_page_that_says_that_it_has_no_rows_is_found() {
    for folder in [written(), copied(1), copied(2)] {
        let file = folder.path().join(DATABASE_FILE);
        // What is in the write-ahead log goes into the file.
        Connection::open(&file).unwrap().execute_batch("PRAGMA journal_mode = DELETE").unwrap();
        let whole = fs::read(&file).unwrap();
        for (table, page) in root_pages(&file) {
            // The number of rows of the page, behind the kind of it and the place of its first free bytes.
            let rows = page + 3..page + 5;
            let mut bytes = whole.clone();
            bytes[rows.clone()].fill(0);
            if whole[rows] == [0; 2] {
                continue;
            }
            let damaged = tempfile::tempdir().unwrap();
            fs::write(damaged.path().join(DATABASE_FILE), bytes).unwrap();
            let found = borough_sqlite::inspect(damaged.path());
            assert!(matches!(found, Err(OpenError::Corrupt { .. })), "{table}: {found:?}");
        }
    }
}

/// A node that writes its log has written the record before: also a file of an earlier version, which does not say which rows it has, shows that by it.
#[test]
fn a_voter_without_a_record_is_found_in_a_file_of_an_earlier_version() {
    let folder = copied(1);
    let sql = Connection::open(folder.path().join(DATABASE_FILE)).unwrap();
    sql.execute_batch("DELETE FROM record").unwrap();
    drop(sql);
    let error = borough_sqlite::inspect(folder.path()).unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, OpenError::Corrupt { .. }) && words.contains("no record"), "{words}");
}

#[test]
fn a_file_of_an_earlier_version_says_from_its_first_opening_on_which_rows_it_has() {
    let folder = copied(2);
    let options = borough_sqlite::OpenOptions::new("gold");
    let open = || borough_sqlite::DataDirectory::open(folder.path(), &options);
    open().unwrap().0.close().unwrap();
    Connection::open(folder.path().join(DATABASE_FILE))
        .unwrap()
        .execute_batch("DELETE FROM pledges")
        .unwrap();
    let words = open().unwrap_err().to_string();
    assert!(words.contains("promises of the node are missing"), "{words}");
}

/// Puts these bytes at these places of a file.
fn put(file: &fs::File, bytes: impl IntoIterator<Item = (usize, u8)>) {
    let mut file = file;
    for (place, byte) in bytes {
        file.seek(SeekFrom::Start(u64::try_from(place).unwrap())).unwrap();
        file.write_all(&[byte]).unwrap();
    }
}

/// Every byte that is not zero, and the headers of the file and of its pages whole: nothing else is read.
#[test]
fn a_changed_byte_never_changes_what_is_read() {
    let folder = written();
    let path = folder.path().join(DATABASE_FILE);
    let whole = fs::read(&path).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let read = || borough_sqlite::inspect(folder.path()).map(|found| (found.format, found.loaded));
    let expected = read().unwrap();
    let is_header = |place: usize| place < 112 || place % PAGE < 16;
    let mut found_damaged = 0;
    let mut check = |changes: &[(usize, u8)]| {
        put(&file, changes.iter().copied());
        match read() {
            Ok(found) => assert_eq!(found, expected, "{changes:?}"),
            Err(_) => found_damaged += 1,
        }
        put(&file, changes.iter().map(|(place, _)| (*place, whole[*place])));
    };
    for (place, byte) in whole.iter().copied().enumerate() {
        if byte == 0 && !is_header(place) {
            continue;
        }
        for other in [byte ^ 0x5A, byte ^ 1, 0] {
            if other != byte {
                check(&[(place, other)]);
            }
        }
    }
    // All of a page is gone.
    for page in (0..whole.len()).step_by(PAGE) {
        let changes: Vec<_> = (page..page + PAGE).map(|place| (place, 0)).collect();
        check(&changes);
    }
    assert_eq!(read().unwrap(), expected);
    assert!(found_damaged > 1000, "{found_damaged}");
}

/// A node whose list of seeds is only itself would found a cluster of its own on the empty directory.
#[test]
fn who_is_told_to_begin_with_an_empty_directory_is_told_of_the_seeds_and_of_the_majority_first() {
    let (file, path) = (Path::new(DATABASE_FILE).to_owned(), Path::new("data").to_owned());
    let what = "a page is gone".to_owned();
    let said = [
        OpenError::Corrupt { file: file.clone(), what: what.clone() }.to_string(),
        OpenError::ForeignFile { file: path, what: what.clone() }.to_string(),
        WriteError::Corrupt { file, what }.to_string(),
    ];
    for words in said {
        let place = |part: &str| words.find(part).unwrap_or_else(|| panic!("{part}: {words}"));
        assert!(place("as seeds") < place("empty directory"), "{words}");
        assert!(place("majority of the voters runs") < place("empty directory"), "{words}");
    }
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
