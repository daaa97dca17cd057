//! A loss of power cuts the write-ahead log off at any byte: what was synced before is there, and no half of a batch.
//!
//! A killed process loses nothing that the system has in memory; this test loses it.

use std::fs;

use borough_sqlite::{DATABASE_FILE, DataDirectory, OpenOptions};

use crate::sample::{CLUSTER, reopened};
use crate::workload::{Model, batches, states};

const WAL: &str = "borough.sqlite-wal";

#[test]
fn a_write_ahead_log_that_was_cut_off_anywhere_holds_whole_batches_alone() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(CLUSTER).wal_bytes_max(u64::MAX);
    let (mut directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    let batches = batches();
    let states = states(&batches);
    let length = || usize::try_from(fs::metadata(folder.path().join(WAL)).unwrap().len()).unwrap();
    // Where the log ended when each batch was confirmed.
    let mut ends = Vec::new();
    for batch in &batches {
        directory.write(batch).unwrap();
        ends.push(length());
    }
    let database = fs::read(folder.path().join(DATABASE_FILE)).unwrap();
    let log = fs::read(folder.path().join(WAL)).unwrap();
    // The steps are odd, so that cuts fall on all kinds of places; the ends themselves are among them.
    let cuts = (0..log.len()).step_by(1021).chain(ends.iter().copied()).chain(ends.iter().map(|end| end - 1));
    for cut in cuts {
        let confirmed = ends.iter().filter(|end| **end <= cut).count();
        for zeros in [false, true] {
            let copy = tempfile::tempdir().unwrap();
            let mut left = log[..cut].to_vec();
            if zeros {
                // The file had grown, and its contents had not arrived.
                left.resize(log.len(), 0);
            }
            fs::write(copy.path().join(DATABASE_FILE), &database).unwrap();
            fs::write(copy.path().join(WAL), left).unwrap();
            assert_eq!(Model::of(reopened(copy.path())), states[confirmed], "cut at {cut}, zeros: {zeros}");
        }
    }
}
