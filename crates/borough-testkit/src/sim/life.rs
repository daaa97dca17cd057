//! One life in one slot: the machine, its clock, what waits for it while it stands still, and its turns.

use std::collections::VecDeque;

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::machine::Machine;
use borough_protocol::node::{Input, Node};
use borough_protocol::time::Timestamp;
use borough_protocol::version::Version;

use super::clock::Clock;
use super::invariants::Watch;
use super::moment::{Moment, Nanos};
use super::sharding::Site;

/// A node that runs, or stands still.
#[derive(Debug)]
pub(super) struct Life {
    /// Which life of the run it is, counted from 0.
    pub(super) number: usize,
    pub(super) born: Moment,
    pub(super) node: Node,
    pub(super) clock: Clock,
    /// What the rules remember of it.
    pub(super) watch: Watch,
    /// Since when and until when it stands still.
    pub(super) pause: Option<Pause>,
    /// What arrived while it stood still, in order.
    pub(super) backlog: VecDeque<Input>,
    pub(super) turn: Option<Turn>,
    /// It was told to leave.
    pub(super) is_leaving: bool,
    /// Nothing lives here any more, or ever will again in this life: it runs no turns.
    pub(super) is_drained: bool,
    /// Its part in sharding, if the run has any and it is in a cluster.
    pub(super) site: Option<Box<Site>>,
    voters: Option<Version>,
    /// The wake that is planned; an earlier one that was replaced finds another number here.
    wake: Option<Moment>,
    wakes: u32,
}

/// A piece of work, uninterrupted by a look at the lease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) since: Moment,
    pub(super) until: Moment,
}

/// A time in which a process does nothing at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) since: Moment,
    pub(super) until: Moment,
}

impl Life {
    pub(super) fn new(number: usize, born: Moment, node: Node, clock: Clock) -> Self {
        Self {
            number,
            born,
            node,
            clock,
            watch: Watch::default(),
            pause: None,
            backlog: VecDeque::new(),
            turn: None,
            is_leaving: false,
            is_drained: false,
            site: None,
            voters: None,
            wake: None,
            wakes: 0,
        }
    }

    pub(super) fn uid(&self) -> Uid {
        self.node.uid()
    }

    /// What its clock shows.
    pub(super) fn local(&self, now: Moment) -> Timestamp {
        self.clock.show(now)
    }

    /// The turn it is in at that moment.
    pub(super) fn turn_at(&self, now: Moment) -> Option<Turn> {
        self.turn.filter(|turn| now < turn.until)
    }

    /// It stands still from now on. A pause in a pause makes it longer at most; the turn it is in gets longer by as much.
    pub(super) fn begin_pause(&mut self, now: Moment, lasts: Nanos) {
        let (since, before) = self.pause.map_or((now, now), |pause| (pause.since, pause.until));
        let until = now.after(lasts).max(before);
        if let Some(turn) = self.turn.as_mut().filter(|turn| now < turn.until) {
            turn.until = turn.until.after(until.since(before));
        }
        self.pause = Some(Pause { since, until });
    }

    /// The number and moment of a wake to plan, unless one that comes early enough is planned.
    pub(super) fn plan_wake(&mut self, now: Moment) -> Option<(Moment, u32)> {
        let due = self.clock.when(self.node.next_deadline())?.max(now);
        if self.wake.is_some_and(|planned| planned <= due) {
            return None;
        }
        self.wake = Some(due);
        self.wakes += 1;
        Some((due, self.wakes))
    }

    /// Takes note that the wake of that number came; says whether it was the one planned.
    pub(super) fn take_wake(&mut self, number: u32) -> bool {
        let is_planned = self.wake.is_some() && self.wakes == number;
        if is_planned {
            self.wake = None;
        }
        is_planned
    }

    /// Whether the newest voters' lists in its log are others than at the last call.
    pub(super) fn sees_other_voters(&mut self) -> bool {
        let newest = self.node.log().map(|log| log.voters().id);
        let is_other = newest != self.voters;
        self.voters = newest;
        is_other
    }

    /// Whether its deadline has come.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        self.node.next_deadline() <= self.local(now)
    }
}
