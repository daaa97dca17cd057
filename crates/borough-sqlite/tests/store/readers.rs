//! Programs that read the file of a node while it writes: they hold up nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use borough_sqlite::{DATABASE_FILE, DataDirectory, OpenError, OpenOptions};
use rusqlite::Connection;

use crate::sample::{CLUSTER, append, open, reopened, term};

/// SQLite would wait 5 s for the reader at each move of the write-ahead log.
const BOUND: Duration = Duration::from_secs(4);

/// Reads the file, and goes on reading the state of now until it is dropped.
fn reader(directory: &Path) -> Connection {
    let sql = Connection::open(directory.join(DATABASE_FILE)).unwrap();
    sql.execute_batch("BEGIN; SELECT opens FROM directory;").unwrap();
    sql.query_row("SELECT opens FROM directory", [], |_| Ok(())).unwrap();
    sql
}

#[test]
fn a_write_does_not_wait_for_a_reader_that_stays() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(CLUSTER).wal_bytes_max(0);
    let (mut directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    directory.write(&[term(1, None)]).unwrap();
    let reader = reader(folder.path());
    let begun = Instant::now();
    for index in 1..=3 {
        directory.write(&[append(index, 1)]).unwrap();
    }
    directory.close().unwrap();
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    drop(reader);
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 3);
}

#[test]
fn the_log_is_moved_once_the_reader_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(CLUSTER).wal_bytes_max(0);
    let (mut directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    let log = || std::fs::metadata(folder.path().join("borough.sqlite-wal")).unwrap().len();
    let reader = reader(folder.path());
    directory.write(&[term(1, None)]).unwrap();
    assert!(log() > 0, "it is read");
    drop(reader);
    directory.write(&[append(1, 1)]).unwrap();
    assert_eq!(log(), 0);
}

#[test]
fn a_reader_of_the_newest_state_does_not_hold_up_an_opening() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    let _reader = reader(folder.path());
    drop(directory);
    let begun = Instant::now();
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 1);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

/// What the last process wrote may be in the memory of the system alone, and cannot be written again while an older state is read.
#[test]
fn an_opening_while_an_older_state_is_read_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, None)]).unwrap();
    let reader = reader(folder.path());
    directory.write(&[append(1, 1)]).unwrap();
    drop(directory);
    let error = crate::sample::refused(folder.path());
    assert!(matches!(error, OpenError::Read { .. }), "{error}");
    assert!(error.to_string().contains(DATABASE_FILE), "{error}");
    drop(reader);
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 1);
}
