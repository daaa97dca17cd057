//! The thread that waits for the disk, so that nobody else does.
//!
//! ```text
//! running --write fails: Report::Failed--> stopped (takes nothing more) --> closed: Report::Closed
//!    `--close, or dropped--> what waits is written -------------------------^
//! ```
//! Promise: a batch is reported as written after it was synced, never before; batches are written in the order in which they were submitted; after a
//! failure nothing more is reported but the end. What waits while the disk is busy becomes one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

use crate::directory::{DataDirectory, Stamp};
use crate::error::WriteError;
use crate::voter::Operation;

/// How a writer works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// How many batches may wait. More are refused. Default 1024.
    pub queue: usize,
    /// How often the stamp is renewed. Default 2 s.
    pub stamp_every: Duration,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { queue: 1024, stamp_every: Duration::from_secs(2) }
    }
}

/// Operations that are written together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number by which it is reported. Numbers rise.
    pub sequence: u64,
    /// What to write.
    pub operations: Vec<Operation>,
}

/// What a writer tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Every batch up to the one of this number is on the disk.
    Written(u64),
    /// The stamp was renewed. A voter that has not heard this, or [`Written`](Report::Written), for some time cannot write, and must not answer.
    Stamped(Stamp),
    /// A write failed. No batch above the last one that was reported counts as written, and the writer has stopped.
    Failed(WriteError),
    /// The directory is closed, and others may use it. Nothing is reported after this.
    Closed,
}

/// Why a batch was not taken. It comes back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// As many batches wait as may: the disk is too slow.
    #[error("batch {} was not taken: the disk is behind, and the queue of its writer is full", .0.sequence)]
    Full(Batch),
    /// The writer has stopped, after a failure that it reported.
    #[error("batch {} was not taken: the writer has stopped after a write that failed", .0.sequence)]
    Stopped(Batch),
}

/// How long the transactions of a writer took, each with its sync. Zero before the first.
#[derive(Debug, Default)]
pub struct WriteTimes {
    last: AtomicU64,
    longest: AtomicU64,
}

impl WriteTimes {
    /// The last one that ended.
    pub fn last(&self) -> Duration {
        Duration::from_nanos(self.last.load(Ordering::Relaxed))
    }

    /// The longest since the writer was started.
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Ordering::Relaxed))
    }

    fn note(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.last.store(nanos, Ordering::Relaxed);
        self.longest.fetch_max(nanos, Ordering::Relaxed);
    }
}

/// A data directory and the thread that writes it.
#[derive(Debug)]
pub struct Writer {
    queue: SyncSender<Batch>,
    times: Arc<WriteTimes>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts the thread. It reports by `report`, which must not wait.
    pub fn start(
        directory: DataDirectory,
        options: WriterOptions,
        report: impl FnMut(Report) + Send + 'static,
    ) -> io::Result<Self> {
        let (queue, batches) = sync_channel(options.queue);
        let times = Arc::<WriteTimes>::default();
        let work = Work { directory, batches, report, options, times: times.clone() };
        let thread = thread::Builder::new().name("borough-disk".to_owned()).spawn(move || work.run())?;
        Ok(Self { queue, times, thread })
    }

    /// How long writes take.
    pub fn times(&self) -> Arc<WriteTimes> {
        self.times.clone()
    }

    /// Hands a batch over. Never waits.
    pub fn submit(&self, batch: Batch) -> Result<(), SubmitError> {
        self.queue.try_send(batch).map_err(|error| match error {
            TrySendError::Full(batch) => SubmitError::Full(batch),
            TrySendError::Disconnected(batch) => SubmitError::Stopped(batch),
        })
    }

    /// Has what waits written, closes the directory and gives it free. Waits for the disk. Dropping the writer does the same without waiting for it.
    pub fn close(self) {
        let Self { queue, thread, .. } = self;
        drop(queue);
        // A panic of the thread is one of `report`, and was printed there.
        let _ = thread.join();
    }
}

/// What the thread has.
struct Work<R> {
    directory: DataDirectory,
    batches: Receiver<Batch>,
    report: R,
    options: WriterOptions,
    times: Arc<WriteTimes>,
}

impl<R> fmt::Debug for Work<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.directory.fmt(f)
    }
}

impl<R: FnMut(Report)> Work<R> {
    fn run(mut self) {
        let ended = self.write_until_the_end();
        let Self { directory, batches, mut report, .. } = self;
        // First: who hears of a failure finds the queue closed.
        drop(batches);
        match ended {
            Ok(()) => {
                if let Err(error) = directory.close() {
                    report(Report::Failed(error));
                }
            }
            Err(error) => {
                report(Report::Failed(error));
                drop(directory);
            }
        }
        report(Report::Closed);
    }

    /// Until nobody can hand over a batch any more, or a write fails.
    fn write_until_the_end(&mut self) -> Result<(), WriteError> {
        let mut stamp_due = Instant::now() + self.options.stamp_every;
        loop {
            let first = self.batches.recv_timeout(stamp_due.saturating_duration_since(Instant::now()));
            let mut group = match first {
                Ok(first) => vec![first],
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            group.extend(self.batches.try_iter().take(self.options.queue));
            let renews_stamp = Instant::now() >= stamp_due;
            self.write(&group, renews_stamp)?;
            if renews_stamp {
                stamp_due = Instant::now() + self.options.stamp_every;
            }
        }
    }

    fn write(&mut self, group: &[Batch], renews_stamp: bool) -> Result<(), WriteError> {
        let stamp = renews_stamp.then_some(&Operation::RenewStamp);
        let began = Instant::now();
        let written = self.directory.write_all(group.iter().flat_map(|batch| &batch.operations).chain(stamp));
        self.times.note(began.elapsed());
        written?;
        if let Some(last) = group.last() {
            (self.report)(Report::Written(last.sequence));
        }
        if renews_stamp {
            (self.report)(Report::Stamped(self.directory.stamp()));
        }
        Ok(())
    }
}
