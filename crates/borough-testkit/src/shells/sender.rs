//! Who sends: a task on a node that finds actors of other nodes and talks to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_actor::{Reply, TellError};
use borough_cluster::Node;
use borough_protocol::random::Random;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::books::{Books, Told};
use super::words::{Contact, How, Mark, Words};

/// The most that is waited for room, before a message is withdrawn.
const PATIENCE: Duration = Duration::from_secs(4);
/// How many watches one sender has at most.
pub(super) const WATCHES: usize = 16;

/// See the module.
pub(super) struct Sender {
    pub(super) books: Books,
    pub(super) node: Arc<Node>,
    pub(super) house: usize,
    /// What all nodes are called.
    pub(super) names: Arc<[String]>,
    pub(super) random: Random,
    /// Nothing new is to be sent.
    pub(super) quiet: Arc<AtomicBool>,
    pub(super) contacts: BTreeMap<(usize, bool), (Contact, u32)>,
}

impl Sender {
    /// Talks until it is told to be quiet. Cancel safe in that what was sent stays sent.
    pub(super) async fn run(mut self) {
        let mut watches = JoinSet::new();
        while !self.quiet.load(Ordering::Relaxed) {
            let pause = if self.random.per_mille(100) { 1500 } else { 120 };
            sleep(Duration::from_millis(self.random.between(1, pause))).await;
            self.act(&mut watches).await;
        }
        // What is watched is watched on.
        while watches.join_next().await.is_some() {}
    }

    async fn act(&mut self, watches: &mut JoinSet<()>) {
        let place = self.draw_place();
        let is_mortal = self.random.per_mille(250);
        let Some((contact, stream)) = self.contact(place, is_mortal).await else { return };
        match self.random.below(100) {
            0..=54 => {
                for _ in 0..self.random.between(1, 20) {
                    let load = self.draw_load();
                    self.tell(&contact, stream, |mark| Words::Count { mark, load }).await;
                }
            }
            55..=79 => {
                let how = self.draw_how();
                self.ask(&contact, stream, |mark, reply| Words::Say { mark, answer: mark, how, reply }).await;
            }
            80..=86 => {
                let Some(whom) = self.draw_other().await else { return };
                self.tell(&contact, stream, |mark| Words::Meet { mark, whom }).await;
            }
            87..=92 => {
                let Some(to) = self.draw_other().await else { return };
                self.ask(&contact, stream, |mark, reply| Words::PassOn { mark, to, reply }).await;
            }
            93..=96 => {
                let Some(whom) = self.draw_other().await else { return };
                self.tell(&contact, stream, |mark| Words::Watch { mark, whom }).await;
            }
            _ if watches.len() < WATCHES => {
                let (books, stopped) = (self.books.clone(), contact.actor.stopped());
                let watch = books.open().watching(self.house, None, &contact);
                watches.spawn(async move {
                    let reason = stopped.await.reason;
                    books.open().fired(watch, reason);
                });
            }
            _ => {}
        }
    }

    /// An actor somewhere else, or here: known, or looked up.
    async fn contact(&mut self, place: usize, is_mortal: bool) -> Option<(Contact, u32)> {
        let key = (place, is_mortal);
        if self.random.per_mille(30) {
            self.contacts.remove(&key);
        }
        if let Some((contact, stream)) = self.contacts.get_mut(&key) {
            if self.names[place] == self.node.node_id().as_str() {
                // An actor of this node goes on from life to life: whoever is told of it knows it by the present one.
                contact.life = self.node.uid().get();
            }
            return Some((contact.clone(), *stream));
        }
        let (name, path) = (&self.names[place], if is_mortal { "/mortal" } else { "/counter" });
        let life = self.node.member_named(name).ok()?.uid.get();
        let stops = {
            let mut books = self.books.open();
            books.looks_up(life);
            books.stops_at(life)
        };
        let found = self.node.lookup::<Words>(path).on(name).await;
        let mut books = self.books.open();
        let actor = match found {
            Ok(actor) => actor,
            Err(error) => {
                books.trace.note(format_args!("h{} finds no {path}: {error}", self.house));
                return None;
            }
        };
        // Whether it was found before or after one was stopped cannot be told.
        if is_mortal && books.stops_at(life) != stops {
            return None;
        }
        let contact =
            Contact { actor, life, found_in: self.node.uid().get(), stops: is_mortal.then_some(stops) };
        let known = (contact, books.stream(self.house, life, is_mortal));
        drop(books);
        self.contacts.insert(key, known.clone());
        Some(known)
    }

    async fn draw_other(&mut self) -> Option<Contact> {
        let (place, is_mortal) = (self.draw_place(), self.random.per_mille(250));
        // Sometimes one that was known long ago: its node may be gone.
        Some(self.contact(place, is_mortal).await?.0)
    }

    async fn tell(&mut self, to: &Contact, stream: u32, words: impl FnOnce(Mark) -> Words) {
        let mark = self.books.open().telling(stream);
        let told = match timeout(PATIENCE, to.actor.tell(words(mark))).await {
            Ok(Ok(())) => Told::Accepted,
            Ok(Err(error)) => {
                if matches!(error, TellError::NodeLost(_) | TellError::Stopped(_)) {
                    self.forget(to);
                }
                Told::GivenBack
            }
            Err(_) => Told::Unknown,
        };
        self.books.open().told(mark, told);
    }

    async fn ask(&mut self, to: &Contact, stream: u32, words: impl FnOnce(Mark, Reply<Mark>) -> Words) {
        let time = Duration::from_millis(*self.random.pick(&[50, 500, 5000, 9000]).unwrap_or(&500));
        let mark = self.books.open().telling(stream);
        let begun = Instant::now();
        let answer = to.actor.ask(|reply| words(mark, reply)).timeout(time).await;
        if answer.is_err() {
            self.forget(to);
        }
        self.books.open().asked(mark, answer, begun.elapsed(), time);
    }

    fn forget(&mut self, whom: &Contact) {
        self.contacts.retain(|_, (known, _)| known.actor != whom.actor);
    }

    fn draw_place(&mut self) -> usize {
        usize::try_from(self.random.below(self.names.len() as u64)).unwrap_or(0)
    }

    /// Text, because its bytes are copied as one.
    fn draw_load(&mut self) -> String {
        let length = match self.random.below(1000) {
            0..=1 => self.random.between(50_000, 300_000),
            2..=20 => self.random.between(1000, 20_000),
            _ => self.random.below(100),
        };
        "x".repeat(usize::try_from(length).unwrap_or(0))
    }

    fn draw_how(&mut self) -> How {
        match self.random.below(10) {
            0 => How::Forget,
            1 => How::Keep,
            2 => How::Slowly(u16::try_from(self.random.between(1, 700)).unwrap_or(1)),
            _ => How::Answer,
        }
    }
}
