//! A full disk, and one that does not write: said as it is, and nothing is taken any more.

use std::sync::Arc;

use borough_sqlite::failpoints::{Fault, Step};
use borough_sqlite::{DataDirectory, Entry, OpenError, OpenOptions, Operation, WriteError};

use crate::sample::{CLUSTER, append, entry, open, payload, reopened, term};

#[test]
fn a_full_disk_is_said_and_what_was_written_before_stays() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(CLUSTER).pages_max(40);
    let (mut directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    directory.write(&[term(1, None)]).unwrap();
    let mut written = 0;
    let error = loop {
        let large = Entry { payload: payload(vec![1; 10_000]), ..entry(written + 1, 1) };
        match directory.write(&[Operation::Append(large)]) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "the disk is never full");
    };
    assert!(matches!(error, WriteError::Full { .. }), "{error}");
    assert!(error.to_string().contains("borough.sqlite"), "{error}");
    let next = directory.write(&[Operation::RenewStamp]).unwrap_err();
    assert!(matches!(next, WriteError::Stopped { .. }), "{next}");
    drop(directory);
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, written);
}

#[test]
fn no_write_is_taken_after_one_that_failed_at_any_step() {
    for step in [Step::Begin, Step::Operation, Step::Commit, Step::Committed, Step::Checkpoint] {
        for (fault, is_full) in [(Fault::Full, true), (Fault::Io, false)] {
            let folder = tempfile::tempdir().unwrap();
            drop(open(folder.path()));
            let opened = std::sync::atomic::AtomicBool::new(false);
            let opened = Arc::new(opened);
            let seen = opened.clone();
            let fails = move |_, reached| {
                let is_writing = seen.load(std::sync::atomic::Ordering::SeqCst);
                if is_writing && reached == step { Err(fault) } else { Ok(()) }
            };
            let options = OpenOptions::new(CLUSTER).wal_bytes_max(0).hook(Arc::new(fails));
            let (mut directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
            opened.store(true, std::sync::atomic::Ordering::SeqCst);
            let error = directory.write(&[term(1, None), append(1, 1)]).unwrap_err();
            assert_eq!(matches!(error, WriteError::Full { .. }), is_full, "{step:?}: {error}");
            let next = directory.write(&[term(1, None)]).unwrap_err();
            assert!(matches!(next, WriteError::Stopped { .. }), "{step:?}: {next}");
        }
    }
}

#[test]
fn an_opening_that_fails_says_so_and_the_next_one_goes_on() {
    let steps = [
        Step::MakeDirectory,
        Step::Lock,
        Step::Format,
        Step::CommitFormat,
        Step::EnterWal,
        Step::CountOpen,
        Step::CommitOpen,
        Step::Checkpoint,
        Step::SyncDirectory,
    ];
    for step in steps {
        let folder = tempfile::tempdir().unwrap();
        let fails = move |_, reached| if reached == step { Err(Fault::Full) } else { Ok(()) };
        let options = OpenOptions::new(CLUSTER).hook(Arc::new(fails));
        let error = DataDirectory::open(folder.path(), &options).unwrap_err();
        assert!(matches!(error, OpenError::Full { .. }), "{step:?}: {error}");
        reopened(folder.path());
    }
}
