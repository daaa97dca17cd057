//! Nothing of a removed node is taken: what it gossips, beats, feeds or reports changes nothing.
//!
//! The log and the voters' word on who is quiet are not meant: they need a removed voter until no list names it. Nor is who is in
//! office: any input may be the one at which it acts on something else.

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::node::{Input, Message, Word};
use borough_protocol::version::Version;

use crate::sim::life::Life;
use crate::sim::violation::Violation;

/// What a life knew before somebody spoke to it whom it knows to be removed.
#[derive(Debug)]
pub(in crate::sim) struct Before {
    from: Uid,
    knew: Option<(u64, Version)>,
}

impl Before {
    /// The life is about to handle an input; none if it is one that may be taken.
    pub(in crate::sim) fn input(life: &Life, input: &Input) -> Option<Self> {
        let Input::Message { from, message: Message::Word { word, .. } } = input else { return None };
        let counts = match word {
            Word::Gossip(_)
            | Word::Heartbeat(_)
            | Word::Feed(_)
            | Word::Report(_)
            | Word::Shards(_)
            | Word::Gone => true,
            Word::Log(_) | Word::LogLost(_) | Word::Renew(_) | Word::Renewed(_) | Word::Quiet(_) => false,
        };
        let acts = life.node.log().is_some_and(Log::in_office);
        let is_removed = life.node.table().is_some_and(|table| table.is_removed(*from));
        (counts && is_removed && !acts).then(|| Self { from: *from, knew: knowledge(life) })
    }

    /// The life has handled it.
    pub(in crate::sim) fn is_unchanged(&self, life: &Life) -> Result<(), Violation> {
        if knowledge(life) == self.knew || life.node.is_ended() {
            return Ok(());
        }
        let text = format!("{:?} took something of {:?}, which was removed", life.uid(), self.from);
        Err(Violation::Safety("taken", text))
    }
}

fn knowledge(life: &Life) -> Option<(u64, Version)> {
    Some((life.node.document()?.version_hash(), life.node.table()?.version()))
}
