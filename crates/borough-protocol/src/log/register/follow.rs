//! Following what the store has: who is in office, whose renewals go on, what is new in the log.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Answer, Holder, News, RegisterLog, Sighting, UnderWay};
use crate::incarnation::Uid;
use crate::log::{Committed, Entry, Log};
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::Voters;

impl<P: Clone, S: Clone> RegisterLog<P, S> {
    /// Whether it fits behind what this node has.
    pub(super) fn check(&self, answer: &Answer<P, S>) -> Result<(), &'static str> {
        if answer.term < self.term {
            return Err("the store has forgotten a term");
        }
        let News::Entries(entries) = &answer.news else { return Ok(()) };
        let places = entries.iter().zip(self.version.index + 1..);
        if places.into_iter().all(|((version, _), place)| version.index == place) {
            Ok(())
        } else {
            Err("an entry is missing")
        }
    }

    pub(super) fn follow_office(&mut self, now: Timestamp, answer: &Answer<P, S>, late: Duration) {
        let before = self.holder.map(|holder| Holder { at: holder.at + late, ..holder });
        let same_term = answer.term == self.term;
        if !same_term {
            self.term = answer.term;
            self.queue.clear();
            self.predecessor = before.filter(|holder| holder.uid != self.me).map(|it| (it.uid, it.at));
        }
        let known = before.filter(|holder| same_term && Some(holder.uid) == answer.holder);
        self.holder = answer.holder.map(|uid| match known {
            Some(holder) if !answer.renewals.iter().any(|row| row.0 == uid && self.went_on(row)) => holder,
            Some(_) | None => Holder { uid, at: now },
        });
        if !self.in_office() {
            self.queue.clear();
        }
    }

    fn went_on(&self, (uid, seq): &(Uid, u64)) -> bool {
        self.renewals.get(uid) != Some(seq)
    }

    pub(super) fn see(&mut self, under_way: &UnderWay<P>, late: Duration, renewals: Vec<(Uid, u64)>) {
        let renewed = renewals.iter().filter(|row| self.went_on(row)).map(|(uid, _)| *uid).collect();
        if under_way.ask.of_all {
            self.renewals.clear();
        }
        self.renewals.extend(renewals);
        self.sighting = Some(Sighting { asked: under_way.sent, late, renewed });
    }

    pub(super) fn follow_news(&mut self, news: News<P, S>) {
        match news {
            News::Entries(entries) => {
                for (version, entry) in entries {
                    self.follow_entry(version, &entry);
                    self.committed.push(Committed::Entry(version, entry));
                }
            }
            News::Whole { version, voters, state } if version.index > self.version.index => {
                self.version = version;
                self.voters = voters.clone();
                self.committed.push(Committed::Snapshot { version, voters, state });
            }
            News::Whole { .. } => {}
        }
    }

    fn follow_entry(&mut self, version: Version, entry: &Entry<P>) {
        self.version = version;
        match entry {
            Entry::Voters { now, next } => {
                self.voters = Voters { id: version, now: now.clone(), next: next.clone() };
            }
            // In its term nobody else adds anything, and the store adds in the order of the queue.
            Entry::Payload(_) if self.in_office() && version.term == self.term => {
                self.queue.pop_front();
            }
            Entry::Nothing | Entry::Payload(_) => {}
        }
    }
}
