//! What became of each message.

use std::time::Duration;

use borough_actor::AskError;

use super::Pages;
use super::houses::HousePage;
use crate::shells::words::Mark;
use crate::sim::Violation;

/// How late an ask may end beyond its timeout: deadlines are looked at every 10 ms, from the first look on.
const LATE: Duration = Duration::from_millis(50);

/// The messages of one sender to one actor.
#[derive(Debug)]
pub(super) struct Stream {
    /// The node it comes from.
    pub(super) sender: usize,
    /// The life it is for.
    pub(super) life: u64,
    /// Whether the actor may be stopped.
    pub(super) to_mortal: bool,
    /// Whether the actor is of the same node: its messages do not travel, and no life ends them.
    is_local: bool,
    /// The actor that handled the first of it.
    actor: Option<u32>,
    /// The last that was handled.
    last: Option<u32>,
    pub(super) messages: Vec<Fate>,
}

/// What is known of one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    pub(super) told: Told,
    pub(super) is_handled: bool,
    /// It was sent when the life it was for was over.
    is_late: bool,
}

/// What its sender knows of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shells) enum Told {
    /// Nothing: it was withdrawn or its sender is gone.
    Unknown,
    /// It was accepted.
    Accepted,
    /// It was given back, or so it was said.
    GivenBack,
}

impl Pages {
    /// A stream of messages from that node to an actor found in that life.
    pub(in crate::shells) fn stream(&mut self, sender: usize, life: u64, to_mortal: bool) -> u32 {
        let is_local = self.houses[sender].has_lived(life);
        let stream =
            Stream { sender, life, to_mortal, is_local, actor: None, last: None, messages: Vec::new() };
        self.streams.push(stream);
        self.trace.note(format_args!("h{sender} begins {} to {life:x}", self.streams.len() - 1));
        u32::try_from(self.streams.len() - 1).unwrap_or(u32::MAX)
    }

    /// A message is about to be sent.
    pub(in crate::shells) fn telling(&mut self, stream: u32) -> Mark {
        let Stream { life, is_local, .. } = self.streams[stream as usize];
        let has_changed = |house: &HousePage| house.topology.current().incarnation.uid.get() != life;
        let is_late =
            !is_local && self.house_of(life).is_some_and(|house| house.stands && has_changed(house));
        let messages = &mut self.streams[stream as usize].messages;
        messages.push(Fate { told: Told::Unknown, is_handled: false, is_late });
        let number = u32::try_from(messages.len() - 1).unwrap_or(u32::MAX);
        self.tally.told += 1;
        Mark { stream, number }
    }

    /// What became of a tell, as its sender sees it.
    pub(in crate::shells) fn told(&mut self, mark: Mark, told: Told) {
        let Mark { stream, number } = mark;
        self.trace.note(format_args!("{stream}/{number} {told:?}"));
        let fate = &mut self.streams[stream as usize].messages[number as usize];
        fate.told = told;
        if told == Told::GivenBack {
            self.tally.given_back += 1;
            if fate.is_handled {
                let text = format!("{mark:?} was given back and handled");
                self.blame(Violation::Safety("given_back", text));
            }
        }
    }

    /// What became of an ask, as its asker sees it.
    pub(in crate::shells) fn asked(
        &mut self,
        mark: Mark,
        answer: Result<Mark, AskError>,
        took: Duration,
        timeout: Duration,
    ) {
        let Mark { stream, number } = mark;
        let fate = &mut self.streams[stream as usize].messages[number as usize];
        let is_handled = fate.is_handled;
        fate.told = match &answer {
            Err(error) if !error.may_have_been_handled() => Told::GivenBack,
            // It may have stood in line still, on the way to another node.
            Err(AskError::Timeout { .. }) => Told::Unknown,
            Ok(_) | Err(_) => Told::Accepted,
        };
        let is_denied = fate.told == Told::GivenBack && is_handled;
        match &answer {
            Ok(_) => self.tally.answered += 1,
            Err(_) => self.tally.failed += 1,
        }
        if took > timeout + LATE {
            let text = format!("{mark:?} ended after {took:?} with a timeout of {timeout:?}: {answer:?}");
            self.blame(Violation::Liveness("ask_in_time", text));
        }
        match answer {
            Ok(answer) if answer != mark || !is_handled => {
                let text = format!("{mark:?} was answered {answer:?}, handled: {is_handled}");
                self.blame(Violation::Safety("answer", text));
            }
            Err(error) if is_denied => {
                let text = format!("{mark:?} was handled, and its asker is told: {error}");
                self.blame(Violation::Safety("may_have_been_handled", text));
            }
            Ok(_) => self.trace.note(format_args!("{stream}/{number} answered")),
            Err(error) => self.trace.note(format_args!("{stream}/{number} {error}")),
        }
    }

    /// An actor handles a message.
    pub(in crate::shells) fn handled(&mut self, mark: Mark, is_ask: bool, house: usize, actor: u32) {
        let Mark { stream: at, number } = mark;
        self.houses[house].answers += u64::from(is_ask);
        self.tally.handled += 1;
        self.trace.note(format_args!("h{house} a{actor} handles {at}/{number}"));
        let Some(stream) = self.streams.get_mut(at as usize) else {
            return self.blame(Violation::Safety("invented", format!("{mark:?} was never sent")));
        };
        let (life, last, first_actor) = (stream.life, stream.last, *stream.actor.get_or_insert(actor));
        stream.last = Some(number);
        let Some(fate) = stream.messages.get_mut(number as usize) else {
            return self.blame(Violation::Safety("invented", format!("{mark:?} was never sent")));
        };
        let before = *fate;
        fate.is_handled = true;
        let broken = if before.is_handled {
            Some(("twice", format!("{mark:?} was handled twice")))
        } else if last.is_some_and(|last| last >= number) {
            Some(("order", format!("{mark:?} was handled after {last:?}")))
        } else if before.told == Told::GivenBack {
            Some(("given_back", format!("{mark:?} was given back and handled")))
        } else if first_actor != actor {
            Some(("other_actor", format!("{mark:?} was for actor {first_actor} and was handled by {actor}")))
        } else if !self.houses[house].has_lived(life) {
            Some(("other_life", format!("{mark:?} was for life {life:x} and was handled by node {house}")))
        } else if before.is_late {
            Some(("late_life", format!("{mark:?} was sent after life {life:x} was over")))
        } else {
            None
        };
        if let Some((rule, text)) = broken {
            self.blame(Violation::Safety(rule, text));
        }
    }
}
