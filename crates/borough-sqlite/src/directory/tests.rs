//! The settings of the connection that writes: a loss of power cannot be tested here, so what holds against it is.

use super::{DataDirectory, OpenOptions};
use crate::error::WriteError;
use crate::voter::Operation;

#[test]
fn every_commit_is_synced_and_we_say_when_the_log_is_moved() {
    let folder = tempfile::tempdir().unwrap();
    for opening in ["new", "known"] {
        let (directory, _) = DataDirectory::open(folder.path(), &OpenOptions::new("bank")).unwrap();
        let text =
            |name| directory.sql.pragma_query_value(None, name, |row| row.get::<_, String>(0)).unwrap();
        let number = |name| directory.sql.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(text("journal_mode"), "wal", "{opening}");
        // 2 is FULL.
        assert_eq!((number("synchronous"), number("wal_autocheckpoint")), (2, 0), "{opening}");
        assert_eq!((number("fullfsync"), number("checkpoint_fullfsync")), (1, 1), "{opening}");
    }
}

/// As when the file system becomes one for reading alone while the file is open.
#[test]
fn a_file_that_can_only_be_read_any_more_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = DataDirectory::open(folder.path(), &OpenOptions::new("bank")).unwrap();
    directory.sql.pragma_update(None, "query_only", true).unwrap();
    let error = directory.write(&[Operation::RenewStamp]).unwrap_err();
    assert!(matches!(error, WriteError::ReadOnly { .. }), "{error}");
    let next = directory.write(&[Operation::RenewStamp]).unwrap_err();
    assert!(matches!(next, WriteError::Stopped { .. }), "{next}");
}
