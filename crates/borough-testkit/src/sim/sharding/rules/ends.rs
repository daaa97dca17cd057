//! Each message ends once: handled, refused, or lost with a reason. What was refused is never handled, nothing is handled twice, and where
//! nothing is wrong nothing is lost.

use std::collections::BTreeSet;

use crate::sim::sharding::message::{Ended, Key, Message, MessageId};
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct Ends {
    sent: Vec<(Message, End)>,
    /// Shards whose last host has left once.
    excused: BTreeSet<Key>,
}

#[derive(Clone, Copy, Debug, Default)]
struct End {
    is_handled: bool,
    refused: Option<&'static str>,
    lost: Option<&'static str>,
}

/// It was handled, but nothing is promised of it.
pub(super) const EXCUSED: &str = "handled by one that stood still for too long";

/// Reasons that are the sender's own: it, and what it had not sent yet, is no more.
const ALLOWED: [&str; 4] =
    [EXCUSED, "its sender is no more", "its sender's stream was cut short", "too many are held"];

impl Ends {
    pub(super) fn send(&mut self, message: Message) -> MessageId {
        self.sent.push((message, End::default()));
        self.sent.len() - 1
    }

    pub(super) fn excuse(&mut self, key: Key) {
        self.excused.insert(key);
    }

    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.sent[id].0
    }

    pub(super) fn handle(&mut self, id: MessageId) -> Result<(), Violation> {
        let (message, end) = &mut self.sent[id];
        if end.is_handled {
            return Err(Violation::Safety("once", format!("{message:?} was handled twice")));
        }
        if let Some(why) = end.refused {
            return Err(Violation::Safety("ends", format!("{message:?} was refused ({why}), and handled")));
        }
        end.is_handled = true;
        Ok(())
    }

    pub(super) fn end(&mut self, id: MessageId, ended: Ended) -> Result<(), Violation> {
        let (message, end) = &mut self.sent[id];
        match ended {
            Ended::Refused(why) if end.is_handled => {
                return Err(Violation::Safety(
                    "ends",
                    format!("{message:?} was handled, and refused ({why})"),
                ));
            }
            Ended::Refused(why) => end.refused = Some(why),
            Ended::Lost(why) => end.lost = Some(why),
        }
        Ok(())
    }

    pub(super) fn unended(&self) -> Option<String> {
        let open = |end: &End| !end.is_handled && end.refused.is_none() && end.lost.is_none();
        let mut all = self.sent.iter().enumerate().filter(|(_, (_, end))| open(end));
        let (id, (message, _)) = all.next()?;
        Some(format!("{} messages have not ended, the first is {id}, {message:?}", all.count() + 1))
    }

    pub(super) fn lost_in_calm(&self) -> Result<(), Violation> {
        let bad = |end: &End| {
            let why = end.refused.or(end.lost);
            (!end.is_handled).then_some(why).flatten().filter(|why| !ALLOWED.contains(why))
        };
        let all = self.sent.iter().enumerate();
        let mut judged = all.filter(|(_, (message, _))| !self.excused.contains(&message.key));
        match judged.find_map(|(id, (message, end))| Some((id, message, bad(end)?))) {
            Some((id, message, why)) => {
                Err(Violation::Safety("calm", format!("{id}, {message:?}: {why}, and nothing was wrong")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn tally(&self) -> [usize; 4] {
        let count = |which: fn(&End) -> bool| self.sent.iter().filter(|(_, end)| which(end)).count();
        [
            self.sent.len(),
            count(|end| end.is_handled),
            count(|end| !end.is_handled && end.refused.is_some()),
            count(|end| !end.is_handled && end.refused.is_none() && end.lost.is_some()),
        ]
    }
}
