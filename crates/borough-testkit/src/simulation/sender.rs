//! Who sends: one task for each life of a node, to your entities and to the witness beside them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_cluster::{Message, Region};
use borough_protocol::random::Random;
use tokio::time::sleep;

use super::Workload;
use super::books::Books;
use super::history::Fate;
use super::witness::Note;

/// The longest pause between two messages of one sender, in milliseconds.
const PAUSE_MAX: u64 = 80;

/// See the module.
pub(super) struct Sender<M: Message> {
    pub(super) number: u32,
    pub(super) random: Random,
    pub(super) workload: Workload<M>,
    pub(super) entities: Region<M>,
    pub(super) witnesses: Region<Note>,
    pub(super) books: Books,
    pub(super) is_quiet: Arc<AtomicBool>,
}

impl<M: Message> Sender<M> {
    /// Sends one message after the other until it is to be quiet.
    pub(super) async fn run(mut self) {
        while !self.is_quiet.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(self.random.between(1, PAUSE_MAX))).await;
            self.send().await;
        }
    }

    async fn send(&mut self) {
        let mut drawn = self.random.fork();
        let drawn_from = drawn.clone();
        let (id, message) = (self.workload)(&mut drawn);
        let number = self.books.begin(&id, self.number, drawn_from);
        let note = Note { sender: self.number, number: number as u64 };
        if self.witnesses.tell(id.as_str(), note).await.is_err() {
            self.books.open()[number].note = Fate::Refused;
        }
        if self.entities.tell(id.as_str(), message).await.is_err() {
            self.books.open()[number].fate = Fate::Refused;
        }
    }
}
