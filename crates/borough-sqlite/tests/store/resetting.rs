//! A reset removes a node's data, and nothing else.

use std::fs;

use borough_sqlite::{DATABASE_FILE, OpenError, Reset};
use rusqlite::Connection;

use crate::sample::{append, open, reopened, term};

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let files = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_borough_s_files_are_removed_and_the_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, loaded) = open(folder.path());
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    drop(directory);
    fs::write(folder.path().join("photo.jpg"), "x").unwrap();
    fs::create_dir(folder.path().join("borough.sqlite-backup")).unwrap();
    let reset = Reset::prepare(folder.path()).unwrap();
    assert!(reset.remove().iter().any(|file| file.name == DATABASE_FILE && file.size > 0));
    assert_eq!(reset.keep(), ["borough.sqlite-backup", "photo.jpg"]);
    reset.carry_out().unwrap();
    assert_eq!(names(&folder), ["borough.sqlite-backup", "photo.jpg"]);
    fs::remove_file(folder.path().join("photo.jpg")).unwrap();
    fs::remove_dir(folder.path().join("borough.sqlite-backup")).unwrap();
    assert_ne!(reopened(folder.path()).identity.node, loaded.identity.node);
}

#[test]
fn nothing_is_removed_while_it_is_only_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let before = names(&folder);
    drop(Reset::prepare(folder.path()).unwrap());
    assert_eq!(names(&folder), before);
    reopened(folder.path());
}

#[test]
fn a_directory_in_use_is_not_reset_and_one_that_is_reset_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, _) = open(folder.path());
    let error = Reset::prepare(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Locked { pid: Some(_), .. }), "{error}");
    drop(directory);
    let reset = Reset::prepare(folder.path()).unwrap();
    assert!(matches!(crate::sample::refused(folder.path()), OpenError::Locked { .. }));
    reset.carry_out().unwrap();
    reopened(folder.path());
}

#[test]
fn a_damaged_file_is_removed_and_one_of_another_program_is_not() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let file = folder.path().join(DATABASE_FILE);
    let mut bytes = fs::read(&file).unwrap();
    bytes[200..].fill(0xFF);
    fs::write(&file, bytes).unwrap();
    crate::sample::refused(folder.path());
    Reset::prepare(folder.path()).unwrap().carry_out().unwrap();
    assert_eq!(names(&folder), [""; 0]);

    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = Reset::prepare(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::ForeignFile { .. }), "{error}");
    assert_eq!(names(&folder), [DATABASE_FILE]);
}

#[test]
fn a_reset_that_was_broken_off_is_finished_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("borough.sqlite-wal"), "left").unwrap();
    Reset::prepare(folder.path()).unwrap().carry_out().unwrap();
    reopened(folder.path());
}
