//! One line of a history: what was sent and what came of it, a turn of an entity, what an entity said of itself in the end.
//!
//! ```text
//! tell SENT DONE SENDER ID NUMBER accepted | refused WHY
//! ask  SENT DONE SENDER ID NUMBER answered AT EPOCH LIFE COUNT | refused WHY | open WHY
//! turn AT EPOCH LIFE COUNT SENDER ID NUMBER
//! page AT ID LIFE COUNT MISPLACED [SENDER:COUNT:LAST ...]
//! ```
//! Times are nanoseconds of the machine's monotonic clock, which all its processes share. A life is when its entity was made.

use std::collections::BTreeMap;
use std::fmt;
use std::str::{FromStr, SplitWhitespace};

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A message, and what came of it.
    Sending(Sending),
    /// An entity handled one.
    Turn(Turn),
    /// What an entity said of itself.
    Page(u32, Page),
}

/// A message, and what its sender knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Whether an answer was wanted.
    pub is_ask: bool,
    /// When it was sent.
    pub sent: u64,
    /// When it was accepted, answered, or given up.
    pub done: u64,
    /// Who sent it.
    pub sender: u32,
    /// To which entity.
    pub id: u32,
    /// Which of those that its sender sent to that entity, from 1.
    pub number: u32,
    /// What came of it.
    pub outcome: Outcome,
}

/// What a sender knows of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A tell that was accepted.
    Accepted,
    /// An ask that was answered.
    Answered(Signed),
    /// It was surely not handled.
    Refused(String),
    /// It may have been handled.
    Open(String),
}

/// What an entity says of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// When it was.
    pub at: u64,
    /// Since which epoch its shard was there.
    pub epoch: u64,
    /// Which life of the entity.
    pub life: u64,
    /// How many turns that life has had, with this one.
    pub count: u64,
}

/// A turn of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What the entity says of it.
    pub signed: Signed,
    /// Who sent the message.
    pub sender: u32,
    /// Which entity.
    pub id: u32,
    /// Which message.
    pub number: u32,
}

/// What an entity remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// When it said so.
    pub at: u64,
    /// Which life of the entity.
    pub life: u64,
    /// How many turns that life has had.
    pub count: u64,
    /// How many messages came after a later one of their sender, or twice.
    pub misplaced: u64,
    /// How many messages of each sender, and the last one's number.
    pub senders: BTreeMap<u32, (u32, u32)>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sending(it) => {
                let how = if it.is_ask { "ask" } else { "tell" };
                write!(f, "{how} {} {} {} {} {} ", it.sent, it.done, it.sender, it.id, it.number)?;
                match &it.outcome {
                    Outcome::Accepted => f.write_str("accepted"),
                    Outcome::Answered(Signed { at, epoch, life, count }) => {
                        write!(f, "answered {at} {epoch} {life} {count}")
                    }
                    Outcome::Refused(why) => write!(f, "refused {why}"),
                    Outcome::Open(why) => write!(f, "open {why}"),
                }
            }
            Self::Turn(Turn { signed: Signed { at, epoch, life, count }, sender, id, number }) => {
                write!(f, "turn {at} {epoch} {life} {count} {sender} {id} {number}")
            }
            Self::Page(id, Page { at, life, count, misplaced, senders }) => {
                write!(f, "page {at} {id} {life} {count} {misplaced}")?;
                senders.iter().try_for_each(|(sender, (count, last))| write!(f, " {sender}:{count}:{last}"))
            }
        }
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        read(&mut words).ok_or_else(|| format!("not a line of a history: {line:?}"))
    }
}

fn read(words: &mut SplitWhitespace<'_>) -> Option<Line> {
    match words.next()? {
        "turn" => {
            let signed = signed(words)?;
            Some(Line::Turn(Turn { signed, sender: next(words)?, id: next(words)?, number: next(words)? }))
        }
        "page" => {
            let (at, id) = (next(words)?, next(words)?);
            let (life, count, misplaced) = (next(words)?, next(words)?, next(words)?);
            let senders = words.map(of_sender).collect::<Option<_>>()?;
            Some(Line::Page(id, Page { at, life, count, misplaced, senders }))
        }
        how @ ("tell" | "ask") => {
            let (sent, done) = (next(words)?, next(words)?);
            let (sender, id, number) = (next(words)?, next(words)?, next(words)?);
            let outcome = match words.next()? {
                "accepted" => Outcome::Accepted,
                "answered" => Outcome::Answered(signed(words)?),
                "refused" => Outcome::Refused(rest(words)),
                "open" => Outcome::Open(rest(words)),
                _ => return None,
            };
            Some(Line::Sending(Sending { is_ask: how == "ask", sent, done, sender, id, number, outcome }))
        }
        _ => None,
    }
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn signed(words: &mut SplitWhitespace<'_>) -> Option<Signed> {
    Some(Signed { at: next(words)?, epoch: next(words)?, life: next(words)?, count: next(words)? })
}

fn of_sender(word: &str) -> Option<(u32, (u32, u32))> {
    let mut parts = word.split(':').map(|part| part.parse().ok());
    Some((parts.next()??, (parts.next()??, parts.next()??)))
}

fn rest(words: &mut SplitWhitespace<'_>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_as_it_was_written() {
        let signed = Signed { at: 5, epoch: 2, life: 3, count: 9 };
        let sending = |is_ask, outcome| {
            Line::Sending(Sending { is_ask, sent: 1, done: 2, sender: 3, id: 4, number: 5, outcome })
        };
        let page =
            Page { at: 1, life: 2, count: 3, misplaced: 0, senders: [(0, (2, 2)), (9, (1, 7))].into() };
        for line in [
            sending(false, Outcome::Accepted),
            sending(true, Outcome::Answered(signed)),
            sending(false, Outcome::Refused("the hold is full".to_owned())),
            sending(true, Outcome::Open("its node was lost".to_owned())),
            Line::Turn(Turn { signed, sender: 1, id: 2, number: 3 }),
            Line::Page(7, page),
            Line::Page(8, Page::default()),
        ] {
            assert_eq!(line.to_string().parse(), Ok(line));
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_none() {
        for line in ["turn 1 2 3", "ask 1 2 3 4 5", "page 1 2 3 4 0 1:2", "", "tell 1 2 3 4 5 maybe"] {
            assert!(line.parse::<Line>().is_err(), "{line}");
        }
    }
}
