//! An entity that counts what each sender sent it: what is lost, doubled or out of order shows in its state.

use std::collections::BTreeMap;

use borough::{Actor, Context, EntityId, Fault, Reply};
use serde::{Deserialize, Serialize};

use super::flaw;
use super::scribe::Scribe;
use super::wedge;
use crate::history::{Line, Page, Signed, Turn, now};

/// What may be said to an entity.
#[derive(Serialize, Deserialize)]
pub(in crate::program) enum Entry {
    /// The next message of a sender; each counts from 1.
    Note { sender: u32, number: u32 },
    /// The same, and is answered.
    Sign { sender: u32, number: u32, reply: Reply<Signed> },
    /// What it remembers.
    Read(Reply<Page>),
    /// The last message of one that is to end.
    Stop,
}

/// What moves with the entity is all it has.
#[derive(Serialize, Deserialize)]
pub(super) struct Ledger {
    id: u32,
    page: Page,
    is_written_down: bool,
}

impl Ledger {
    /// One that begins anew. Its turns are written down if its id is below that number.
    pub(super) fn new(id: &EntityId, written_below: u32) -> Self {
        let page = Page { life: now(), senders: BTreeMap::new(), ..Page::default() };
        // Ids are numbers; another would show as an entity without turns.
        let id = id.to_string().parse().unwrap_or(u32::MAX);
        Self { id, page, is_written_down: id < written_below }
    }

    fn write(&mut self, sender: u32, number: u32, epoch: u64) -> Signed {
        wedge::pass();
        let (count, last) = self.page.senders.entry(sender).or_default();
        if number <= *last {
            self.page.misplaced += 1;
        }
        (*count, *last) = (*count + 1, number.max(*last));
        self.page.count += 1;
        let signed = Signed { at: now(), epoch, life: self.page.life, count: self.page.count };
        if self.is_written_down {
            Scribe::write_turn(&Line::Turn(Turn { signed, sender, id: self.id, number }));
        }
        signed
    }
}

impl Actor for Ledger {
    type Msg = Entry;

    async fn receive(&mut self, entry: Entry, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let epoch = ctx.epoch().unwrap_or(0);
        match entry {
            Entry::Note { .. } if flaw::strikes() => {}
            Entry::Note { sender, number } => {
                self.write(sender, number, epoch);
            }
            Entry::Sign { sender, number, reply } => reply.send(self.write(sender, number, epoch)),
            Entry::Read(reply) => reply.send(Page { at: now(), ..self.page.clone() }),
            Entry::Stop => ctx.passivate(),
        }
        Ok(())
    }
}
