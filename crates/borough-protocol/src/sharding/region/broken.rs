//! Barriers of other nodes that could not be passed on: the sender of one asks the newest owner itself, once the table shows why.

use alloc::vec::Vec;

use super::interface::{Effect, Word};
use super::{Region, table_has};
use crate::incarnation::Uid;
use crate::machine::Effects;

/// So many barriers of others wait at most for a hop's removal to be known; their senders repeat what is forgotten.
pub(super) const BROKEN_MAX: usize = 4096;

impl Region {
    /// A lane could not pass a barrier on. Its sender asks the newest owner itself, once the table shows why.
    pub(super) fn note_broken(
        &mut self,
        origin: Uid,
        nonce: u64,
        hop: Option<Uid>,
        effects: &mut Effects<Effect>,
    ) {
        match hop.filter(|hop| self.is_member(*hop)) {
            None => self.say_broken(origin, nonce, effects),
            Some(hop) if self.broken.len() < BROKEN_MAX => {
                self.broken.insert((origin, nonce), hop);
            }
            Some(_) => {}
        }
    }

    fn say_broken(&self, origin: Uid, nonce: u64, effects: &mut Effects<Effect>) {
        let word = Word::ChainBroken { nonce, version: self.table.version() };
        effects.push(Effect::Send { to: origin, word });
    }

    pub(super) fn answer_broken(&mut self, effects: &mut Effects<Effect>) {
        let table = self.table.clone();
        self.broken.retain(|(origin, _), _| table_has(&table, *origin));
        let mut lost = Vec::new();
        self.broken.retain(|key, hop| {
            let known = table_has(&table, *hop);
            if !known {
                lost.push(*key);
            }
            known
        });
        for (origin, nonce) in lost {
            self.say_broken(origin, nonce, effects);
        }
    }
}
