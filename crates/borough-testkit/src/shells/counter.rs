//! Who is sent to: an actor that counts what it is told, answers, passes on and watches.

use borough_actor::{Actor, Context, DeadLetter, Fault, Reply};

use super::books::{Books, Told};
use super::words::{Contact, How, Mark, Words};

/// How many replies are kept, and how many others are known.
const KEPT: usize = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct Counter {
    books: Books,
    house: usize,
    actor: u32,
    kept: Vec<Reply<Mark>>,
    /// Whom it has told something, and the stream of it.
    known: Vec<(Contact, u32)>,
    watched: Vec<Contact>,
}

impl Counter {
    pub(super) fn new(books: Books, house: usize, actor: u32) -> Self {
        Self { books, house, actor, kept: Vec::new(), known: Vec::new(), watched: Vec::new() }
    }

    /// The next message to somebody.
    fn telling(&mut self, whom: &Contact) -> Mark {
        let mut books = self.books.open();
        let known = self.known.iter().find(|(other, _)| other.is(whom));
        let stream = known.map(|(_, stream)| *stream);
        let stream = stream.unwrap_or_else(|| {
            let stream = books.stream(self.house, whom.life, whom.stops.is_some());
            self.known.truncate(KEPT);
            self.known.insert(0, (whom.clone(), stream));
            stream
        });
        books.telling(stream)
    }

    fn tell(&self, whom: &Contact, mark: Mark, words: Words) {
        let told = match whom.actor.try_tell(words) {
            Ok(()) => Told::Accepted,
            Err(_) => Told::GivenBack,
        };
        self.books.open().told(mark, told);
    }

    fn watch(&mut self, whom: Contact, ctx: &mut Context<Self>) {
        if self.watched.len() < KEPT && !self.watched.iter().any(|other| other.is(&whom)) {
            let watch = self.books.open().watching(self.house, Some(self.actor), &whom);
            ctx.watch_with(&whom.actor, Words::Gone { watch });
            self.watched.push(whom);
        }
    }
}

impl Contact {
    /// Whether both are the same actor.
    fn is(&self, other: &Self) -> bool {
        self.life == other.life && self.actor == other.actor
    }
}

impl Actor for Counter {
    type Msg = Words;

    async fn receive(&mut self, words: Words, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if let Some(mark) = words.mark() {
            self.books.open().handled(mark, words.is_ask(), self.house, self.actor);
        }
        match words {
            Words::Count { .. } => {}
            Words::Say { answer, how, reply, .. } => match how {
                How::Answer => reply.send(answer),
                How::Slowly(millis) => {
                    tokio::time::sleep(std::time::Duration::from_millis(millis.into())).await;
                    reply.send(answer);
                }
                How::Forget => drop(reply),
                How::Keep if self.kept.len() < KEPT => self.kept.push(reply),
                How::Keep => {}
            },
            Words::Meet { whom, .. } => {
                let mark = self.telling(&whom);
                self.tell(&whom, mark, Words::Count { mark, load: String::new() });
            }
            Words::PassOn { mark: answer, to, reply } => {
                let mark = self.telling(&to);
                self.tell(&to, mark, Words::Say { mark, answer, how: How::Answer, reply });
            }
            Words::Watch { whom, .. } => self.watch(whom, ctx),
            Words::Gone { watch } => self.books.open().fired(watch, None),
        }
        Ok(())
    }
}

/// Writes down which messages died on its node.
#[derive(Debug)]
pub(super) struct Registrar {
    pub(super) books: Books,
    pub(super) house: usize,
}

impl Actor for Registrar {
    type Msg = DeadLetter;

    async fn receive(&mut self, letter: DeadLetter, _: &mut Context<Self>) -> Result<(), Fault> {
        self.books.open().letter(self.house, letter);
        Ok(())
    }
}
