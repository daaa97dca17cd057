//! What carries a node's log: its fellow voters, or a shared store.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::raft::{self, Raft};
use super::register::{self, RegisterLog};
use super::{Committed, Log, Malformed, NotTaken, Outbox, VotersChange};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// One of the two carriers, for the whole life of a node.
#[derive(Debug)]
pub enum Carrier<P, S> {
    /// The voters are members.
    Voters(Box<Raft<P, S>>),
    /// The one voter is the store.
    Store(Box<RegisterLog<P, S>>),
}

/// What the carriers say, each to its like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarrierMessage<P, S> {
    /// Between voters.
    Voters(raft::Message<P, S>),
    /// Between a member and the store.
    Store(register::Message<P, S>),
}

impl<P: Clone, S: Clone> Carrier<P, S> {
    /// The member's side of the register, if that is what it is.
    pub fn store(&self) -> Option<&RegisterLog<P, S>> {
        match self {
            Self::Voters(_) => None,
            Self::Store(log) => Some(log),
        }
    }

    /// The same, to be changed.
    pub fn store_mut(&mut self) -> Option<&mut RegisterLog<P, S>> {
        match self {
            Self::Voters(_) => None,
            Self::Store(log) => Some(log),
        }
    }

    /// The last entry, if the log is lost with the life of its node.
    pub fn last_if_volatile(&self) -> Option<Version> {
        match self {
            Self::Voters(log) => log.last_if_volatile(),
            Self::Store(_) => None,
        }
    }

    /// Whom this voter has voted for in its term.
    pub fn vote(&self) -> Option<VoterId> {
        match self {
            Self::Voters(log) => log.vote(),
            Self::Store(_) => None,
        }
    }
}

/// Lets one of them speak, and passes on what it says as the carrier's.
fn speak<M, C, R>(out: &mut Outbox<C>, wrap: impl Fn(M) -> C, call: impl FnOnce(&mut Outbox<M>) -> R) -> R {
    let mut said = Vec::new();
    let result = call(&mut said);
    out.extend(said.into_iter().map(|(to, message)| (to, wrap(message))));
    result
}

impl<P: Clone, S: Clone> Log<P, S> for Carrier<P, S> {
    type Message = CarrierMessage<P, S>;

    fn handle(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Malformed> {
        match (self, message) {
            (Self::Voters(log), CarrierMessage::Voters(message)) => {
                speak(out, CarrierMessage::Voters, |out| log.handle(now, from, message, out))
            }
            (Self::Store(log), CarrierMessage::Store(message)) => {
                speak(out, CarrierMessage::Store, |out| log.handle(now, from, message, out))
            }
            (Self::Voters(_), CarrierMessage::Store(_)) | (Self::Store(_), CarrierMessage::Voters(_)) => {
                Err(Malformed { from, what: "it is of another carrier" })
            }
        }
    }

    fn on_deadline(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        match self {
            Self::Voters(log) => speak(out, CarrierMessage::Voters, |out| log.on_deadline(now, out)),
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.on_deadline(now, out)),
        }
    }

    fn next_deadline(&self) -> Timestamp {
        match self {
            Self::Voters(log) => log.next_deadline(),
            Self::Store(log) => log.next_deadline(),
        }
    }

    fn stand(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        match self {
            Self::Voters(log) => speak(out, CarrierMessage::Voters, |out| log.stand(now, out)),
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.stand(now, out)),
        }
    }

    fn propose(
        &mut self,
        now: Timestamp,
        payload: P,
        out: &mut Outbox<Self::Message>,
    ) -> Result<Version, NotTaken> {
        match self {
            Self::Voters(log) => speak(out, CarrierMessage::Voters, |out| log.propose(now, payload, out)),
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.propose(now, payload, out)),
        }
    }

    fn change_voters(
        &mut self,
        now: Timestamp,
        change: VotersChange,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), NotTaken> {
        match self {
            Self::Voters(log) => {
                speak(out, CarrierMessage::Voters, |out| log.change_voters(now, change, out))
            }
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.change_voters(now, change, out)),
        }
    }

    fn hand_over(&mut self, now: Timestamp, to: VoterId, out: &mut Outbox<Self::Message>) -> bool {
        match self {
            Self::Voters(log) => speak(out, CarrierMessage::Voters, |out| log.hand_over(now, to, out)),
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.hand_over(now, to, out)),
        }
    }

    fn take_committed(&mut self) -> Vec<Committed<P, S>> {
        match self {
            Self::Voters(log) => log.take_committed(),
            Self::Store(log) => log.take_committed(),
        }
    }

    fn compact(&mut self, version: Version, state: S) {
        match self {
            Self::Voters(log) => log.compact(version, state),
            Self::Store(log) => log.compact(version, state),
        }
    }

    fn kept(&self) -> usize {
        match self {
            Self::Voters(log) => log.kept(),
            Self::Store(log) => log.kept(),
        }
    }

    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a P>
    where
        P: 'a,
    {
        let (voters, store) = match self {
            Self::Voters(log) => (Some(log.tail()), None),
            Self::Store(log) => (None, Some(log.tail())),
        };
        voters.into_iter().flatten().chain(store.into_iter().flatten())
    }

    fn voters(&self) -> &Voters {
        match self {
            Self::Voters(log) => log.voters(),
            Self::Store(log) => log.voters(),
        }
    }

    fn learners(&self) -> &BTreeSet<VoterId> {
        match self {
            Self::Voters(log) => log.learners(),
            Self::Store(log) => log.learners(),
        }
    }

    fn term(&self) -> Term {
        match self {
            Self::Voters(log) => log.term(),
            Self::Store(log) => log.term(),
        }
    }

    fn in_office(&self) -> bool {
        match self {
            Self::Voters(log) => log.in_office(),
            Self::Store(log) => log.in_office(),
        }
    }

    fn may_act(&self) -> bool {
        match self {
            Self::Voters(log) => log.may_act(),
            Self::Store(log) => log.may_act(),
        }
    }

    fn coordinator(&self) -> Option<(VoterId, Timestamp)> {
        match self {
            Self::Voters(log) => log.coordinator(),
            Self::Store(log) => log.coordinator(),
        }
    }

    fn matched(&self, uid: VoterId) -> u64 {
        match self {
            Self::Voters(log) => log.matched(uid),
            Self::Store(log) => log.matched(uid),
        }
    }

    fn last_index(&self) -> u64 {
        match self {
            Self::Voters(log) => log.last_index(),
            Self::Store(log) => log.last_index(),
        }
    }

    fn take_writes(&mut self) -> Vec<(u64, raft::Write<P, S>)> {
        match self {
            Self::Voters(log) => log.take_writes(),
            Self::Store(log) => log.take_writes(),
        }
    }

    fn written(&mut self, now: Timestamp, up_to: u64, out: &mut Outbox<Self::Message>) {
        match self {
            Self::Voters(log) => speak(out, CarrierMessage::Voters, |out| log.written(now, up_to, out)),
            Self::Store(log) => speak(out, CarrierMessage::Store, |out| log.written(now, up_to, out)),
        }
    }

    fn lost(&self) -> Vec<VoterId> {
        match self {
            Self::Voters(log) => log.lost(),
            Self::Store(log) => log.lost(),
        }
    }

    fn stop_voting(&mut self, until: u64) {
        match self {
            Self::Voters(log) => log.stop_voting(until),
            Self::Store(log) => log.stop_voting(until),
        }
    }

    fn note_committed(&mut self, version: Version) {
        match self {
            Self::Voters(log) => log.note_committed(version),
            Self::Store(log) => log.note_committed(version),
        }
    }

    fn lacks_committed(&self) -> bool {
        match self {
            Self::Voters(log) => log.lacks_committed(),
            Self::Store(log) => log.lacks_committed(),
        }
    }

    fn resign(&mut self) {
        match self {
            Self::Voters(log) => log.resign(),
            Self::Store(log) => log.resign(),
        }
    }
}
