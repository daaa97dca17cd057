//! A process that is killed at any write or sync loses nothing that was reported as written.
//!
//! The process is this test program again: it runs the workload with a hook that kills it at one of the numbered steps.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use borough_sqlite::{DataDirectory, OpenOptions};

use crate::sample::{CLUSTER, reopened};
use crate::workload::{Model, batches, states};

const DIRECTORY: &str = "BOROUGH_CRASH_DIRECTORY";
const POINT: &str = "BOROUGH_CRASH_POINT";

/// What the child said before it ended.
struct Child {
    confirmed: usize,
    points: Option<u64>,
}

/// Runs the workload in a process that is killed at that step; to its end, if there are fewer.
fn run_child(directory: &Path, point: u64) -> Child {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["crash::workload_in_a_child", "--exact", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(POINT, point.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let said =
        |what: &str| words.lines().filter_map(|line| line.strip_prefix(what)?.parse().ok()).next_back();
    let child = Child {
        confirmed: said("confirmed ").map_or(0, |n: u64| usize::try_from(n).unwrap()),
        points: said("points "),
    };
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_ne!(was_killed, child.points.is_some(), "{}: {words}{errors}", output.status);
    child
}

/// Does nothing unless it is the child.
#[test]
fn workload_in_a_child() {
    let (Ok(directory), Ok(point)) = (std::env::var(DIRECTORY), std::env::var(POINT)) else { return };
    let (directory, point): (PathBuf, u64) = (directory.into(), point.parse().unwrap());
    let points = Arc::new(AtomicU64::new(0));
    let hook = {
        let points = points.clone();
        move |_, _| {
            if points.fetch_add(1, Ordering::SeqCst) + 1 == point {
                let this = rustix::process::getpid();
                rustix::process::kill_process(this, rustix::process::Signal::KILL).unwrap();
            }
            Ok(())
        }
    };
    // Small, so that the write-ahead log is moved several times.
    let options = OpenOptions::new(CLUSTER).wal_bytes_max(50_000).hook(Arc::new(hook));
    let say = |what: &str, number: u64| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{what} {number}").unwrap();
        out.flush().unwrap();
    };
    let batches = batches();
    let (first, second) = batches.split_at(batches.len() / 2);
    let mut confirmed = 0;
    for half in [first, second] {
        let (mut directory, _) = DataDirectory::open(&directory, &options).unwrap();
        for batch in half {
            directory.write(batch).unwrap();
            confirmed += 1;
            say("confirmed", confirmed);
        }
        directory.close().unwrap();
    }
    say("points", points.load(Ordering::SeqCst));
}

#[test]
fn crash_at_every_write() {
    let states = states(&batches());
    let whole = tempfile::tempdir().unwrap();
    let points = run_child(whole.path(), 0).points.unwrap();
    assert_eq!(Model::of(reopened(whole.path())), states[states.len() - 1]);
    assert!(points > 0, "no write was numbered");
    let (mut lost, mut under_way) = (0, 0);
    for point in 1..=points {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        let Child { confirmed, .. } = run_child(&path, point);
        let first = reopened(&path);
        let second = reopened(&path);
        assert_eq!(first.identity.node, second.identity.node, "point {point}");
        let found = Model::of(first);
        assert_eq!(Model::of(second), found, "point {point}");
        // The batch under way may be there, whole.
        let next = states.get(confirmed + 1);
        if found == states[confirmed] {
            lost += 1;
        } else {
            assert_eq!(Some(&found), next, "point {point}: {confirmed} batches were confirmed");
            under_way += 1;
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{points} points: at {under_way} the batch under way was there, at {lost} it was not")
        .unwrap();
    assert!(lost > 0 && under_way > 0, "both sides of a commit are reached");
}
