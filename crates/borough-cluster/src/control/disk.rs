//! The disk of a node: what the machine writes becomes operations of the data directory, and what is written is told to the machine.
//!
//! ```text
//! hands.rs -- Effect::Write --> Disk --batch--> borough-disk: writes and syncs --Report--> Input::Written --> driver.rs
//! ```
//! Promise: the control thread never waits for the disk while it has a lease to renew. What a life gave out is written, and known here, before the next life
//! starts. A disk that fails, or has not answered for some seconds, is said to the machine of every life, which then answers nobody as a voter. Nothing waits
//! without a bound for a disk that does not answer, except a next life, which can be told to go.

mod condition;
mod news;
mod operations;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use borough_protocol::disk::{Image, Write};
use borough_protocol::incarnation;
use borough_protocol::node::Input;
use borough_sqlite::{Batch, DataDirectory, OpenOptions, Writer, WriterOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;

pub(crate) use self::condition::Condition;
pub use self::condition::{DataDirectoryState, DataDirectoryStats};
use self::news::News;
use self::operations::{image, operations};
use super::thread::Home;
use crate::node::DataError;

/// A disk that has reported nothing for so long is stuck, and nobody waits longer for it to close.
const STUCK_AFTER: Duration = Duration::from_secs(6);

/// A disk that is well renews its stamp so many times before it counts as stuck: every 2 s.
const STAMPS: u32 = 3;

/// How often it is said that the next life waits for the disk.
const LOG_EVERY: Duration = Duration::from_secs(5);

/// The lives of one process have numbers above those of all processes before it.
const LIVES_PER_OPENING: u32 = 24;

/// How a data directory is opened and watched.
pub(crate) struct DiskOptions {
    /// How the files are opened.
    pub(crate) open: OpenOptions,
    /// Whether a thread waits for the disk.
    pub(crate) home: Home,
    /// A disk that has reported nothing for so long is stuck. `None`: 6 s.
    pub(crate) stuck_after: Option<Duration>,
}

/// The open data directory of a node.
pub(crate) struct Disk {
    /// What is on the disk, as far as it was looked at.
    image: Image,
    /// The number of this life among all of this directory.
    life: u64,
    backend: Backend,
    /// What was handed over and not looked at since it was written, with the sequence of each.
    waiting: VecDeque<(u64, Write)>,
    submitted: u64,
    news: Arc<News>,
    stuck_after: Duration,
}

enum Backend {
    /// A thread waits for the disk.
    Thread(Writer),
    /// Whoever writes waits: for simulations, whose time stands still meanwhile.
    Here(Box<Mutex<DataDirectory>>),
    /// Nothing more is written.
    Closed,
}

impl Disk {
    /// Opens the directory. What it has to say goes to `inputs`.
    pub(crate) fn open(
        path: &Path,
        options: &DiskOptions,
        inputs: mpsc::UnboundedSender<Input>,
    ) -> Result<Self, DataError> {
        let (directory, loaded) = DataDirectory::open(path, &options.open)?;
        let opens = loaded.identity.opens;
        let image =
            image(loaded).map_err(|source| DataError::Undecodable { path: path.to_owned(), source })?;
        let news = Arc::new(News::new(path, inputs));
        let stuck_after = options.stuck_after.unwrap_or(STUCK_AFTER);
        let backend = match options.home {
            Home::Here => Backend::Here(Box::new(Mutex::new(directory))),
            Home::Thread => {
                let to = news.clone();
                let options = WriterOptions { stamp_every: stuck_after / STAMPS, ..WriterOptions::default() };
                let writer = Writer::start(directory, options, move |report| to.report(report));
                let writer = writer.map_err(|source| DataError::Thread { path: path.to_owned(), source })?;
                news.condition.time_by(writer.times());
                Backend::Thread(writer)
            }
        };
        tracing::info!(
            path = %path.display(),
            identity = %image.voter,
            opened = opens,
            is_voter = image.log.is_some(),
            "data directory opened"
        );
        let life = opens << LIVES_PER_OPENING;
        let (waiting, submitted) = (VecDeque::new(), 0);
        Ok(Self { image, life, backend, waiting, submitted, news, stuck_after })
    }

    /// Whether the directory names a cluster that the node belongs to, or left.
    pub(super) fn has_record(&self) -> bool {
        self.image.record.is_some()
    }

    /// Whether the directory is that of a voter, as far as anything is written.
    pub(super) fn votes(&mut self) -> bool {
        self.look();
        self.image.log.is_some()
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.news.condition.path()
    }

    /// What everybody may know of it.
    pub(super) fn condition(&self) -> Arc<Condition> {
        self.news.condition.clone()
    }

    /// Another life begins: what it resumes, and who it is. All that the life before gave out is [settled](Self::settled) by then. What is still queued in
    /// `inputs` is of that life, and goes.
    pub(super) fn begin_life(
        &mut self,
        inputs: &mut mpsc::UnboundedReceiver<Input>,
    ) -> (Image, incarnation::Disk) {
        self.look();
        self.life += 1;
        self.news.begin_life(self.submitted);
        while inputs.try_recv().is_ok() {}
        if !self.news.condition.works() {
            // Each life has a machine that knows nothing of the one before.
            let _ = self.news.inputs.send(Input::DiskWorks(false));
        }
        (self.image.clone(), incarnation::Disk { voter: self.image.voter, life: self.life })
    }

    /// Hands a write of the present life over.
    pub(super) fn write(&mut self, number: u64, write: Write) {
        let sequence = self.news.sequence(number);
        self.submitted = self.submitted.max(sequence);
        self.look();
        let under_way = self.waiting.iter().map(|(_, write)| write);
        let Some(operations) = operations(&self.image, under_way, &write) else {
            return self.news.failed("a value has no bytes");
        };
        self.waiting.push_back((sequence, write));
        if self.news.progress.borrow().has_failed {
            return;
        }
        match &mut self.backend {
            Backend::Thread(writer) => {
                if let Err(error) = writer.submit(Batch { sequence, operations }) {
                    self.news.failed(&error);
                }
            }
            Backend::Here(directory) => {
                let directory = directory.get_mut().unwrap_or_else(PoisonError::into_inner);
                match directory.write(&operations) {
                    Ok(()) => self.news.written(sequence),
                    Err(error) => self.news.failed(&error),
                }
            }
            Backend::Closed => {}
        }
    }

    /// Tells the machine if the disk is stuck, or no longer is.
    pub(super) fn check(&mut self) {
        self.check_at(Instant::now());
    }

    fn check_at(&mut self, now: Instant) {
        let silent = self.news.condition.silent_at(now);
        let works = match &self.backend {
            Backend::Thread(_) => silent <= self.stuck_after,
            Backend::Here(_) | Backend::Closed => true,
        };
        if !self.news.condition.set_stuck(!works) {
            return;
        }
        let path = self.path().display();
        if works {
            tracing::warn!(%path, "the data directory takes writes again: the node votes again");
        } else {
            tracing::error!(
                %path,
                ?silent,
                "the data directory has taken no write for some seconds: the node does not vote until it does; look at the disk"
            );
        }
        let _ = self.news.inputs.send(Input::DiskWorks(works));
    }

    /// Waits until everything that was handed over is on the disk, or never will be; says every 5 s that it waits. Cancel safe.
    pub(super) async fn settled(&mut self) {
        let (mut progress, submitted) = (self.news.progress.subscribe(), self.submitted);
        let since = Instant::now();
        loop {
            let settled = progress.wait_for(|progress| progress.has_failed || progress.written >= submitted);
            if timeout(LOG_EVERY, settled).await.is_ok() {
                return;
            }
            // No life runs, and none looks at the disk.
            self.check();
            tracing::warn!(
                path = %self.path().display(),
                waited = ?since.elapsed(),
                "node waits for its data directory before it looks for its cluster: the disk has not taken what was written last; look at the disk, or stop the process"
            );
        }
    }

    /// Takes account of what is written.
    fn look(&mut self) {
        let written = self.news.progress.borrow().written;
        while self.waiting.front().is_some_and(|(sequence, _)| *sequence <= written) {
            if let Some((_, write)) = self.waiting.pop_front() {
                self.image.apply(write);
            }
        }
    }

    /// Has what was handed over written, closes the directory and gives it free; says whether everything is on the disk. A disk that does not answer is left to
    /// its thread after a while. Cancel safe: called again, it waits for the same end.
    pub(super) async fn close(&mut self) -> bool {
        match mem::replace(&mut self.backend, Backend::Closed) {
            // Its thread goes on without it, and says when it has closed.
            Backend::Thread(writer) => drop(writer),
            Backend::Here(directory) => {
                let directory = directory.into_inner().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = directory.close() {
                    tracing::error!(path = %self.path().display(), %error, "the data directory was not closed in order; nothing that was written is lost");
                }
                self.news.closed();
            }
            Backend::Closed => {}
        }
        let mut progress = self.news.progress.subscribe();
        if timeout(self.stuck_after, progress.wait_for(|progress| progress.is_closed)).await.is_err() {
            tracing::error!(
                path = %self.path().display(),
                waited = ?self.stuck_after,
                "the data directory was not closed: the disk does not answer, and what was written last may be lost; no other process can use the directory \
                 until this one has ended; look at the disk"
            );
        }
        let written = progress.borrow().written;
        written >= self.submitted
    }
}
