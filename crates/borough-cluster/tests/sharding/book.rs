//! An entity that writes down what it is told, and by whom: what is lost, doubled or out of order shows.

use std::collections::BTreeMap;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Node, Region};
use serde::{Deserialize, Serialize};

/// What may be said to a book.
#[derive(Serialize, Deserialize)]
pub(crate) enum Book {
    /// The number of a sender's note; each sender counts from 1.
    Note { sender: u32, number: u64 },
    /// The same, and says so.
    Sign { sender: u32, number: u64, reply: Reply<u64> },
    /// What was written so far.
    Read(Reply<Pages>),
    /// Which life of the entity it is, and at which epoch its shard lives.
    Life(Reply<(u64, u64)>),
    /// The same as a note, after so many seconds.
    Slow { sender: u32, number: u64, seconds: u64 },
    /// Never ends.
    Hang,
    /// Ends the entity.
    Close,
    /// Fails.
    Tear,
}

/// What a book says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pages {
    /// How many notes of each sender, and the last one's number.
    pub(crate) notes: BTreeMap<u32, (u64, u64)>,
    /// Notes that came after a later one, or twice.
    pub(crate) misplaced: Vec<(u32, u64)>,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Writer {
    pages: Pages,
    /// How many times it was begun.
    begun: u64,
}

impl Writer {
    fn write(&mut self, sender: u32, number: u64) -> u64 {
        let (count, last) = self.pages.notes.entry(sender).or_default();
        if number <= *last {
            self.pages.misplaced.push((sender, number));
        }
        *count += 1;
        *last = number.max(*last);
        *count
    }
}

impl Actor for Writer {
    type Msg = Book;

    async fn receive(&mut self, book: Book, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match book {
            Book::Note { sender, number } => {
                self.write(sender, number);
            }
            Book::Sign { sender, number, reply } => reply.send(self.write(sender, number)),
            Book::Read(reply) => reply.send(self.pages.clone()),
            Book::Life(reply) => reply.send((self.begun, ctx.epoch().unwrap_or(0))),
            Book::Slow { sender, number, seconds } => {
                let _ =
                    tokio::time::timeout(Duration::from_secs(seconds), std::future::pending::<()>()).await;
                self.write(sender, number);
            }
            Book::Hang => std::future::pending().await,
            Book::Close => ctx.passivate(),
            Book::Tear => return Err(Fault::new("torn")),
        }
        Ok(())
    }

    async fn started(&mut self, _: &mut Context<Self>) -> Result<(), Fault> {
        self.begun += 1;
        Ok(())
    }
}

/// Starts books that move with what is written in them.
pub(crate) async fn books(node: &Node) -> Region<Book> {
    node.shard("books", |_| Writer::default()).shards(16).migrate_state().start().await.unwrap()
}
