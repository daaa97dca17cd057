//! An entity that does not end when it is told to.

use borough::{Actor, Context, Fault};

use super::entity::Entry;
use crate::history::{Page, Signed, now};

/// It counts its turns; when it is told to stop, it hangs.
pub(super) struct Mule {
    life: u64,
    count: u64,
}

impl Default for Mule {
    fn default() -> Self {
        Self { life: now(), count: 0 }
    }
}

impl Actor for Mule {
    type Msg = Entry;

    async fn receive(&mut self, entry: Entry, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.count += 1;
        match entry {
            Entry::Note { .. } => {}
            Entry::Sign { reply, .. } => {
                let epoch = ctx.epoch().unwrap_or(0);
                reply.send(Signed { at: now(), epoch, life: self.life, count: self.count });
            }
            Entry::Read(reply) => {
                reply.send(Page { at: now(), life: self.life, count: self.count, ..Page::default() });
            }
            Entry::Stop => std::future::pending().await,
        }
        Ok(())
    }
}
