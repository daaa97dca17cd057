//! The disk of a node: what the machine writes becomes operations of the data directory, and what is written is told to the machine.
//!
//! ```text
//! hands.rs -- Effect::Write --> Disk --batch--> borough-disk: writes and syncs --Report--> Input::Written --> driver.rs
//! ```
//! Promise: the control thread never waits for the disk while it has a lease to renew. What a life gave out is written, and known here, before the next life
//! starts. A disk that fails, or has not answered for some seconds, is said to the machine, which then answers nobody as a voter.

mod news;
mod operations;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use borough_protocol::disk::{Image, Write};
use borough_protocol::incarnation;
use borough_protocol::node::Input;
use borough_sqlite::{Batch, DataDirectory, Loaded, OpenOptions, Writer, WriterOptions};
use tokio::sync::mpsc;

use self::news::News;
use self::operations::{image, operations};
use super::thread::Home;
use crate::node::DataError;

/// The lives of one process have numbers above those of all processes before it.
const LIVES_PER_OPENING: u32 = 24;

/// The open data directory of a node.
pub(crate) struct Disk {
    path: PathBuf,
    /// What is on the disk, as far as it was looked at.
    image: Image,
    /// The number of this life among all of this directory.
    life: u64,
    backend: Backend,
    /// What was handed over and not looked at since it was written, with the sequence of each.
    waiting: VecDeque<(u64, Write)>,
    submitted: u64,
    news: Arc<News>,
    works: bool,
}

enum Backend {
    /// A thread waits for the disk.
    Thread(Writer),
    /// Whoever writes waits: for simulations, whose time stands still meanwhile.
    Here(Box<Mutex<DataDirectory>>),
}

impl Disk {
    /// Opens the directory. What it has to say goes to `inputs`.
    pub(crate) fn open(
        path: &Path,
        options: &OpenOptions,
        home: Home,
        inputs: mpsc::UnboundedSender<Input>,
    ) -> Result<Self, DataError> {
        let (directory, loaded) = DataDirectory::open(path, options)?;
        let Loaded { identity, record, voter } = loaded;
        let image = image(identity.node, record, voter)
            .map_err(|source| DataError::Undecodable { path: path.to_owned(), source })?;
        let news = Arc::new(News::new(path, inputs));
        let backend = match home {
            Home::Here => Backend::Here(Box::new(Mutex::new(directory))),
            Home::Thread => {
                let to = news.clone();
                let writer =
                    Writer::start(directory, WriterOptions::default(), move |report| to.report(report));
                Backend::Thread(writer.map_err(|source| DataError::Thread { path: path.to_owned(), source })?)
            }
        };
        tracing::info!(
            path = %path.display(),
            identity = %image.voter,
            opened = identity.opens,
            is_voter = image.log.is_some(),
            "data directory opened"
        );
        let life = identity.opens << LIVES_PER_OPENING;
        let path = path.to_owned();
        let (waiting, submitted, works) = (VecDeque::new(), 0, true);
        Ok(Self { path, image, life, backend, waiting, submitted, news, works })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Another life begins, once all that the one before gave out is written: what it resumes, and who it is.
    pub(super) async fn begin_life(&mut self) -> (Image, incarnation::Disk) {
        self.settled().await;
        self.life += 1;
        self.news.begin_life(self.submitted);
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
        }
    }

    /// Tells the machine if the disk is stuck, or no longer is.
    pub(super) fn check(&mut self) {
        let works = match &self.backend {
            Backend::Thread(_) => !self.news.is_stuck(),
            Backend::Here(_) => true,
        };
        if works == self.works || self.news.progress.borrow().has_failed {
            return;
        }
        self.works = works;
        let path = self.path.display();
        if works {
            tracing::warn!(%path, "the data directory takes writes again: the node answers as a voter");
        } else {
            tracing::error!(
                %path,
                "the data directory has taken no write for 6 s: the node answers nobody as a voter until it does; look at the disk"
            );
        }
        let _ = self.news.inputs.send(Input::DiskWorks(works));
    }

    /// Waits until everything that was handed over is on the disk, or never will be.
    async fn settled(&mut self) {
        let (mut progress, submitted) = (self.news.progress.subscribe(), self.submitted);
        let _ = progress.wait_for(|progress| progress.has_failed || progress.written >= submitted).await;
        self.look();
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

    /// Closes the directory, once everything that was handed over is written, and gives it free.
    pub(super) async fn close(mut self) {
        self.settled().await;
        let path = self.path;
        match self.backend {
            // The disk may take its time, and the listener's runtime has others to serve.
            Backend::Thread(writer) => drop(tokio::task::spawn_blocking(move || writer.close()).await),
            Backend::Here(directory) => {
                let directory = directory.into_inner().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = directory.close() {
                    tracing::error!(path = %path.display(), %error, "the data directory was not closed in order; nothing that was written is lost");
                }
            }
        }
    }
}
