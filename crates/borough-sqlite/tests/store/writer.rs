//! The thread: order, grouping, the stamp, and the end after a failure.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use borough_sqlite::failpoints::{Fault, Step};
use borough_sqlite::{
    Batch, DataDirectory, OpenOptions, Operation, Report, SubmitError, WriteError, Writer, WriterOptions,
};

use crate::sample::{CLUSTER, append, open, reopened, term};

/// How long anything may take on a machine that has much else to do.
const BOUND: Duration = Duration::from_secs(60);

/// No stamp comes in between.
const SELDOM: WriterOptions = WriterOptions { queue: 8, stamp_every: Duration::from_secs(3600) };

fn start(directory: DataDirectory, options: WriterOptions) -> (Writer, Receiver<Report>) {
    let (sender, reports) = channel();
    let writer = Writer::start(directory, options, move |report| drop(sender.send(report))).unwrap();
    (writer, reports)
}

fn batch(sequence: u64, operations: &[Operation]) -> Batch {
    Batch { sequence, operations: operations.to_vec() }
}

/// A gate that holds the disk at a step.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let closed = self.is_open.lock().unwrap();
        let (_open, waited) = self.changed.wait_timeout_while(closed, BOUND, |open| !*open).unwrap();
        assert!(!waited.timed_out(), "the gate was never opened");
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

#[test]
fn what_is_reported_is_written_and_what_waits_is_written_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, reports) = start(open(folder.path()).0, SELDOM);
    writer.submit(batch(1, &[term(1, None), append(1, 1)])).unwrap();
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Written(1)));
    writer.submit(batch(2, &[append(2, 1)])).unwrap();
    writer.close();
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Written(2)));
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Closed));
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 2);
}

#[test]
fn what_waits_becomes_one_transaction_and_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, is_writing, commits) =
        (Arc::new(Gate::default()), Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (begun, has_begun) = channel();
    let begun = Mutex::new(begun);
    let hook = {
        let (gate, is_writing, commits) = (gate.clone(), is_writing.clone(), commits.clone());
        move |_, step| {
            if step == Step::Commit && is_writing.load(Ordering::SeqCst) {
                commits.fetch_add(1, Ordering::SeqCst);
                let _ = begun.lock().unwrap().send(());
                gate.pass();
            }
            Ok(())
        }
    };
    let options = OpenOptions::new(CLUSTER).hook(Arc::new(hook));
    let (directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    is_writing.store(true, Ordering::SeqCst);
    let (writer, reports) = start(directory, SELDOM);
    writer.submit(batch(1, &[term(1, None)])).unwrap();
    has_begun.recv_timeout(BOUND).unwrap();
    for number in 2..=9 {
        writer.submit(batch(number, &[append(number - 1, 1)])).unwrap();
    }
    let tenth = batch(10, &[append(9, 1)]);
    assert_eq!(writer.submit(tenth.clone()), Err(SubmitError::Full(tenth)));
    assert!(reports.try_recv().is_err(), "nothing is reported before it is synced");
    gate.open();
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Written(1)));
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Written(9)));
    assert_eq!(commits.load(Ordering::SeqCst), 2);
    writer.close();
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 8);
}

#[test]
fn after_a_failure_the_writer_reports_it_and_takes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let fails = Arc::new(AtomicBool::new(false));
    let hook = {
        let fails = fails.clone();
        move |_, step| {
            let fails = step == Step::Commit && fails.load(Ordering::SeqCst);
            if fails { Err(Fault::Io) } else { Ok(()) }
        }
    };
    let options = OpenOptions::new(CLUSTER).hook(Arc::new(hook));
    let (directory, _) = DataDirectory::open(folder.path(), &options).unwrap();
    let (writer, reports) = start(directory, SELDOM);
    writer.submit(batch(1, &[term(1, None), append(1, 1)])).unwrap();
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Written(1)));
    fails.store(true, Ordering::SeqCst);
    writer.submit(batch(2, &[append(2, 1)])).unwrap();
    let report = reports.recv_timeout(BOUND);
    assert!(matches!(report, Ok(Report::Failed(WriteError::Io { .. }))), "{report:?}");
    let third = batch(3, &[append(2, 1)]);
    assert_eq!(writer.submit(third.clone()), Err(SubmitError::Stopped(third)));
    assert_eq!(reports.recv_timeout(BOUND), Ok(Report::Closed));
    assert!(reports.recv_timeout(BOUND).is_err(), "nothing is reported after the end");
    writer.close();
    assert_eq!(reopened(folder.path()).voter.unwrap().last().index, 1);
}

#[test]
fn a_refused_batch_stops_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, reports) = start(open(folder.path()).0, SELDOM);
    writer.submit(batch(1, &[term(1, None), append(2, 1)])).unwrap();
    let report = reports.recv_timeout(BOUND);
    assert!(matches!(report, Ok(Report::Failed(WriteError::Refused { .. }))), "{report:?}");
    let second = batch(2, &[append(1, 1)]);
    assert_eq!(writer.submit(second.clone()), Err(SubmitError::Stopped(second)));
}

#[test]
fn the_stamp_is_renewed_while_nothing_else_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions { stamp_every: Duration::from_millis(1), ..WriterOptions::default() };
    let (writer, reports) = start(open(folder.path()).0, options);
    let mut counts = Vec::new();
    while counts.len() < 3 {
        match reports.recv_timeout(BOUND).unwrap() {
            Report::Stamped(stamp) => counts.push(stamp.count),
            other => panic!("{other:?}"),
        }
    }
    assert!(counts.is_sorted_by(|a, b| a < b), "{counts:?}");
    writer.close();
    assert!(reopened(folder.path()).identity.stamp.count > counts[2]);
}

#[test]
fn the_stamp_is_renewed_every_two_seconds_by_default() {
    assert_eq!(WriterOptions::default().stamp_every, Duration::from_secs(2));
}
