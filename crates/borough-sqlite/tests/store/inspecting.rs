//! A look at a directory, in use or not, changes nothing in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use borough_sqlite::{Holder, OpenError, Operation, RecordState, inspect};

use crate::sample::{append, entry, open, record, term};

fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(path).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

#[test]
fn a_closed_directory_is_read_and_stays_as_it_is() {
    // Of a name that has a meaning in a URI.
    let folder = tempfile::Builder::new().prefix("a?b#c%41 ").tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(2, Some(3)), append(1, 2)]).unwrap();
    directory.write(&[Operation::SetRecord(record(RecordState::Left, 6))]).unwrap();
    directory.close().unwrap();
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    let before = contents(folder.path());
    let found = inspect(folder.path()).unwrap();
    assert!(contents(folder.path()) == before, "the directory was changed");
    assert_eq!(found.holder, None);
    assert_eq!(found.foreign, ["notes.txt"]);
    assert_eq!(found.loaded.identity.opens, 1);
    assert_eq!(found.loaded.record, Some(record(RecordState::Left, 6)));
    let voter = found.loaded.voter.unwrap();
    assert_eq!((voter.term, voter.vote, voter.entries), (2, Some(3), vec![entry(1, 2)]));
}

#[test]
fn a_directory_in_use_is_read_with_the_process_that_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    let found = inspect(folder.path()).unwrap();
    assert_eq!(found.holder, Some(Holder { pid: Some(std::process::id()) }));
    assert_eq!(found.loaded.voter.unwrap().last().index, 1);
    directory.write(&[append(2, 1)]).unwrap();
    assert_eq!(inspect(folder.path()).unwrap().loaded.voter.unwrap().last().index, 2);
}

/// What a process that was killed leaves behind.
#[test]
fn changes_that_are_only_in_the_write_ahead_log_are_read() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    for name in ["borough.sqlite", "borough.sqlite-wal"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let before = contents(copy.path());
    assert_eq!(inspect(copy.path()).unwrap().loaded.voter.unwrap().last().index, 1);
    let mut after = contents(copy.path());
    // An index that SQLite makes for reading: it holds nothing that is not in the others.
    after.remove("borough.sqlite-shm");
    assert!(after == before, "the directory was changed");
}

#[test]
fn a_directory_without_data_is_said_to_have_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(inspect(folder.path()), Err(OpenError::NoData { .. })));
    assert!(matches!(inspect(folder.path().join("none")), Err(OpenError::Missing { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
