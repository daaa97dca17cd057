//! The network between the nodes: what the test wants lost, late or twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Message, Peer, Word};
use borough_protocol::time::Timestamp;

use crate::links::Links;

/// How long a message takes.
const DELAY: Duration = Duration::from_millis(5);

/// A message under way.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) from: &'static str,
    pub(crate) uid: Uid,
    pub(crate) to: Peer,
    /// Who it turned out to be for; set when it arrives.
    pub(crate) at: &'static str,
    pub(crate) message: Message,
}

impl Parcel {
    /// Whether it goes from the one to the other.
    pub(crate) fn goes(&self, from: &str, to: &str) -> bool {
        self.from == from && self.at == to
    }

    /// What it says inside a cluster.
    pub(crate) fn word(&self) -> Option<&Word> {
        match &self.message {
            Message::Word { word, .. } => Some(word),
            Message::Knock(_)
            | Message::Promise(_)
            | Message::Release { .. }
            | Message::Welcome(_)
            | Message::Refused(_)
            | Message::Gone
            | Message::Hello(_)
            | Message::ToStore(_)
            | Message::FromStore(_)
            | Message::Copy => None,
        }
    }
}

type Choice = Box<dyn Fn(&Parcel) -> bool>;
type Change = Box<dyn Fn(&mut Parcel)>;

/// What becomes of messages that a test chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    /// Kept until the test releases it.
    Held,
    /// It arrives, and a copy is kept that the test may deliver again.
    Copied,
}

#[derive(Default)]
pub(crate) struct Network {
    pub(crate) links: Links,
    queue: BinaryHeap<Reverse<(Timestamp, u64)>>,
    under_way: BTreeMap<u64, Parcel>,
    count: u64,
    rules: Vec<(Fate, Choice)>,
    change: Option<Change>,
    kept: Vec<(Fate, Parcel)>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} under way, {} kept", self.links, self.under_way.len(), self.kept.len())
    }
}

impl Network {
    pub(crate) fn send(&mut self, now: Timestamp, parcel: Parcel) {
        self.put(now + DELAY, parcel);
    }

    fn put(&mut self, at: Timestamp, parcel: Parcel) {
        self.count += 1;
        self.under_way.insert(self.count, parcel);
        self.queue.push(Reverse((at, self.count)));
    }

    /// When the next message arrives.
    pub(crate) fn next(&self) -> Timestamp {
        self.queue.peek().map_or(Timestamp::NEVER, |Reverse((at, _))| *at)
    }

    pub(crate) fn take(&mut self) -> Option<Parcel> {
        let Reverse((_, number)) = self.queue.pop()?;
        self.under_way.remove(&number)
    }

    /// Whether the message, which knows where it is, gets there now.
    pub(crate) fn lets_pass(&mut self, parcel: &mut Parcel) -> bool {
        if let Some(change) = &self.change {
            change(parcel);
        }
        if self.links.is_cut(parcel.from, parcel.at) {
            return false;
        }
        let Some((fate, _)) = self.rules.iter().find(|(_, choice)| choice(parcel)) else { return true };
        if *fate != Fate::Lost {
            self.kept.push((*fate, parcel.clone()));
        }
        *fate == Fate::Copied
    }

    /// From now on that happens to those messages; the first rule that fits counts.
    pub(crate) fn rule(&mut self, fate: Fate, choice: impl Fn(&Parcel) -> bool + 'static) {
        self.rules.push((fate, Box::new(choice)));
    }

    /// Every message is changed in this way before it arrives: to what its sender could as well have said.
    pub(crate) fn alter(&mut self, change: impl Fn(&mut Parcel) + 'static) {
        self.change = Some(Box::new(change));
    }

    /// No message is treated in a special way any more; what is kept stays kept.
    pub(crate) fn clear_rules(&mut self) {
        self.rules.clear();
        self.change = None;
    }

    /// How many messages of that fate are kept.
    pub(crate) fn kept(&self, fate: Fate) -> usize {
        self.kept.iter().filter(|(of, _)| *of == fate).count()
    }

    /// Delivers everything of that fate, in the order in which it came or the other way round. Copies are kept.
    pub(crate) fn release(&mut self, now: Timestamp, fate: Fate, backwards: bool) {
        let mut parcels: Vec<Parcel> =
            self.kept.iter().filter(|(of, _)| *of == fate).map(|(_, parcel)| parcel.clone()).collect();
        if fate == Fate::Held {
            self.kept.retain(|(of, _)| *of != fate);
        }
        if backwards {
            parcels.reverse();
        }
        for parcel in parcels {
            self.put(now, parcel);
        }
    }

    /// Delivers it again, now: who it was for could not take it.
    pub(crate) fn deliver_again(&mut self, now: Timestamp, parcel: Parcel) {
        self.put(now, parcel);
    }
}
