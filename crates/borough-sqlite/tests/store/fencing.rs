//! The lock was bypassed: its file was removed, or the file system does not keep locks. The second opening wins, the first writes nothing more.
#![cfg(unix)]

use std::fs;
use std::sync::mpsc::channel;
use std::time::Duration;

use borough_sqlite::{
    DATABASE_FILE, LOCK_FILE, OpenError, Operation, Report, Reset, WriteError, Writer, WriterOptions,
};

use crate::sample::{append, open, reopened, term};

#[test]
fn a_directory_that_was_opened_again_takes_no_write_of_the_opening_before() {
    let folder = tempfile::tempdir().unwrap();
    let (mut first, _) = open(folder.path());
    first.write(&[term(4, Some(1))]).unwrap();
    fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
    let (mut second, loaded) = open(folder.path());
    assert_eq!(loaded.voter.unwrap().term, 4);
    second.write(&[term(5, Some(9))]).unwrap();

    let error = first.write(&[term(4, Some(1)), append(1, 4)]).unwrap_err();
    assert!(matches!(error, WriteError::OpenedAgain { opening: 1, newest: 2, .. }), "{error}");
    let words = error.to_string();
    assert!(words.contains(DATABASE_FILE) && words.contains("one process"), "{words}");
    let next = first.write(&[Operation::RenewStamp]).unwrap_err();
    assert!(matches!(next, WriteError::Stopped { .. }), "{next}");
    drop(first);

    second.write(&[append(1, 5)]).unwrap();
    drop(second);
    let voter = reopened(folder.path()).voter.unwrap();
    assert_eq!((voter.term, voter.vote, voter.last().index), (5, Some(9), 1));
}

#[test]
fn what_was_written_until_the_moment_of_an_opening_is_loaded_by_it() {
    use std::sync::{Arc, Mutex};

    use borough_sqlite::failpoints::Step;
    use borough_sqlite::{DataDirectory, OpenOptions};

    let folder = tempfile::tempdir().unwrap();
    let (mut first, _) = open(folder.path());
    first.write(&[term(1, None)]).unwrap();
    fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
    let first = Mutex::new(first);
    let first_writes = move |_, step| {
        if step == Step::CountOpen {
            first.lock().unwrap().write(&[term(2, Some(7))]).unwrap();
        }
        Ok(())
    };
    let options = OpenOptions::new(crate::sample::CLUSTER).hook(Arc::new(first_writes));
    let (_second, loaded) = DataDirectory::open(folder.path(), &options).unwrap();
    let voter = loaded.voter.unwrap();
    assert_eq!((voter.term, voter.vote), (2, Some(7)));
}

#[test]
fn a_writer_whose_lock_file_is_gone_or_another_stops_at_its_next_stamp() {
    for is_replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (sender, reports) = channel();
        let options = WriterOptions { stamp_every: Duration::from_millis(1), ..WriterOptions::default() };
        let report = move |report| drop(sender.send(report));
        let _writer = Writer::start(open(folder.path()).0, options, report).unwrap();
        let lock = folder.path().join(LOCK_FILE);
        fs::remove_file(&lock).unwrap();
        if is_replaced {
            fs::write(&lock, "1\n").unwrap();
        }
        let error = loop {
            match reports.recv_timeout(Duration::from_secs(60)).unwrap() {
                Report::Failed(error) => break error,
                Report::Stamped(_) | Report::Written(_) | Report::Closed => {}
            }
        };
        assert!(matches!(&error, WriteError::LockLost { file } if *file == lock), "{error}");
        assert!(error.to_string().contains(LOCK_FILE), "{error}");
    }
}

#[test]
fn a_reset_without_a_lock_file_keeps_others_out_and_leaves_no_lock_behind() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let lock = folder.path().join(LOCK_FILE);
    fs::remove_file(&lock).unwrap();
    let reset = Reset::prepare(folder.path()).unwrap();
    assert!(reset.remove().iter().all(|file| file.name != LOCK_FILE), "{:?}", reset.remove());
    assert!(matches!(crate::sample::refused(folder.path()), OpenError::Locked { .. }));
    drop(reset);
    assert!(!lock.exists(), "it was only looked at");
    Reset::prepare(folder.path()).unwrap().carry_out().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_reset_puts_nothing_into_a_directory_that_is_not_a_node_s() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("photo.jpg"), "x").unwrap();
    let reset = Reset::prepare(folder.path()).unwrap();
    assert!(reset.remove().is_empty());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
