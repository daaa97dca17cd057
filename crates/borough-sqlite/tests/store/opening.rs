//! Opening: fresh and known directories, and every one that must be refused, each by what is wrong with it.

use std::fs;

use borough_sqlite::{DATABASE_FILE, DataDirectory, FORMAT, LOCK_FILE, OpenError, OpenOptions};
use rusqlite::Connection;

use crate::sample::{CLUSTER, append, open, refused, reopened, term};

#[test]
fn an_empty_directory_becomes_that_of_a_fresh_node() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, loaded) = open(folder.path());
    assert_eq!((loaded.record, loaded.voter), (None, None));
    assert_eq!(loaded.identity.cluster, CLUSTER);
    assert_ne!(loaded.identity.node, 0);
    assert_eq!(loaded.identity.opens, 1);
    assert_eq!(directory.path(), folder.path());
}

#[test]
fn a_missing_directory_is_made_with_those_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("var/lib/node");
    let made = reopened(&path).identity.node;
    assert_eq!(reopened(&path).identity.node, made);
}

#[test]
fn the_identity_stays_and_every_opening_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = [(); 2].map(|()| reopened(folder.path()).identity);
    assert_eq!(first.node, second.node);
    assert_eq!((first.opens, second.opens), (1, 2));
    assert!(second.stamp.count > first.stamp.count);
    let other = tempfile::tempdir().unwrap();
    assert_ne!(reopened(other.path()).identity.node, first.node);
}

#[test]
fn the_sqlite_that_is_built_in_is_sound() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

#[test]
fn a_directory_in_use_is_refused_with_the_process_that_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, _) = open(folder.path());
    let error = refused(folder.path());
    assert!(
        matches!(error, OpenError::Locked { pid: Some(pid), .. } if pid == std::process::id()),
        "{error}"
    );
    assert!(error.to_string().contains(&format!("this process ({})", std::process::id())), "{error}");
    directory.close().unwrap();
    reopened(folder.path());
}

#[test]
fn a_lock_file_of_a_process_that_is_gone_locks_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(LOCK_FILE), "4194304\n").unwrap();
    reopened(folder.path());
}

#[test]
fn a_file_in_the_place_of_the_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "text").unwrap();
    assert!(matches!(refused(&path), OpenError::NotADirectory { .. }));
    assert!(matches!(refused(&path.join("below")), OpenError::NotADirectory { .. }));
}

#[test]
fn a_directory_with_files_of_others_is_refused_and_nothing_is_put_into_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("photo.jpg"), "x").unwrap();
    let error = refused(folder.path());
    assert!(
        matches!(&error, OpenError::ForeignDirectory { found, .. } if found == &["photo.jpg"]),
        "{error}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_root_of_a_volume_is_taken_as_empty() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lost+found")).unwrap();
    fs::write(folder.path().join(".mounted"), "").unwrap();
    reopened(folder.path());
}

#[test]
fn a_database_of_another_program_is_refused_and_not_changed() {
    for id in [0, 0x4242_4242] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(DATABASE_FILE);
        let sql = Connection::open(&file).unwrap();
        sql.pragma_update(None, "application_id", id).unwrap();
        sql.execute_batch("CREATE TABLE theirs (a)").unwrap();
        drop(sql);
        let before = fs::read(&file).unwrap();
        let error = refused(folder.path());
        assert!(matches!(error, OpenError::ForeignFile { .. }), "{error}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(DATABASE_FILE), "a letter\n".repeat(1000)).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::ForeignFile { .. }), "{error}");
}

#[test]
fn a_directory_of_another_cluster_is_refused_with_both_names() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let error = DataDirectory::open(folder.path(), &OpenOptions::new("shop")).unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, OpenError::OtherCluster { .. }), "{words}");
    assert!(
        words.contains("\"bank\"") && words.contains("\"shop\"") && words.contains(DATABASE_FILE),
        "{words}"
    );
    assert_eq!(reopened(folder.path()).identity.opens, 2, "the refused opening was not counted");
}

#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let sql = Connection::open(folder.path().join(DATABASE_FILE)).unwrap();
    sql.pragma_update(None, "user_version", FORMAT + 1).unwrap();
    drop(sql);
    let error = refused(folder.path());
    let known = FORMAT;
    assert!(
        matches!(error, OpenError::Newer { found, known: k, .. } if found == known + 1 && k == known),
        "{error}"
    );
}

#[test]
fn newest_changes_without_their_file_do_not_make_a_fresh_node() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    fs::copy(folder.path().join("borough.sqlite-wal"), copy.path().join("borough.sqlite-wal")).unwrap();
    let error = refused(copy.path());
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

#[test]
fn a_creation_that_was_broken_off_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(DATABASE_FILE), "").unwrap();
    assert_eq!(reopened(folder.path()).identity.opens, 1);
}
