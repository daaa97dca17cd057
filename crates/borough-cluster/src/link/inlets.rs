//! The ways into the actors that one peer sends to on one lane, and how much waits in them.
//!
//! Promise: an actor that is full holds up nobody but itself, until so much waits for full actors that nothing more is read.

use std::collections::HashMap;
use std::task::Context;

use borough_actor::ActorId;
use borough_actor::remote::Inlet;

use super::peer::Link;
use crate::sharding::is_kind;

/// How much may wait here for actors that are full, before reading stops.
const HELD_BYTES: usize = 1024 * 1024;
const HELD_MESSAGES: usize = 8192;
/// With more inlets than this, those that are empty are let go.
const INLETS_KEPT: usize = 1024;

/// See the module.
#[derive(Default)]
pub(super) struct Inlets {
    /// Places that are free again are `None`: a place is the same inlet for as long as something waits there.
    list: Vec<Option<Entry>>,
    free: Vec<usize>,
    places: HashMap<u64, usize>,
    /// The one used last: messages come in runs.
    last: Option<(u64, usize)>,
    touched: Vec<usize>,
    blocked: Vec<usize>,
    /// How many times inlets were emptied, all together.
    emptied: u64,
}

struct Entry {
    target: u64,
    /// `None` for a type of entities.
    actor: Option<ActorId>,
    inlet: Box<dyn Inlet>,
    touched: bool,
    /// What was taken since the inlet was last empty, or what is left of it by estimate.
    bytes: usize,
    messages: usize,
    /// The count of all as this was last emptied.
    emptied: u64,
}

/// Inlets in which something waited at one moment.
#[derive(Default)]
pub(super) struct Waiting {
    /// The place, and the count as of then.
    places: Vec<(usize, u64)>,
}

impl Inlets {
    #[inline]
    pub(super) fn of(&mut self, target: u64, link: &Link) -> Option<&mut Box<dyn Inlet>> {
        let place = match self.last {
            Some((last, place)) if last == target => place,
            _ => self.find(target, link)?,
        };
        self.list[place].as_mut().map(|entry| &mut entry.inlet)
    }

    #[cold]
    fn find(&mut self, target: u64, link: &Link) -> Option<usize> {
        let place = match self.places.get(&target) {
            Some(place) => *place,
            None => self.open(target, link)?,
        };
        self.last = Some((target, place));
        Some(place)
    }

    fn open(&mut self, target: u64, link: &Link) -> Option<usize> {
        let (actor, inlet) = if is_kind(target) {
            (None, link.inlet_of_kind(target)?)
        } else {
            let export = link.exports().find(target)?;
            (Some(export.id()), export.inlet())
        };
        if self.places.len() >= INLETS_KEPT {
            self.prune();
        }
        let entry = Some(Entry {
            target,
            actor,
            inlet,
            touched: false,
            bytes: 0,
            messages: 0,
            emptied: self.emptied,
        });
        let place = self.free.pop().unwrap_or(self.list.len());
        if place == self.list.len() {
            self.list.push(entry);
        } else {
            self.list[place] = entry;
        }
        self.places.insert(target, place);
        Some(place)
    }

    /// So many messages and bytes went into the inlet that was asked for last.
    #[inline]
    pub(super) fn took(&mut self, messages: usize, bytes: usize) {
        let Some((_, place)) = self.last else { return };
        let Some(entry) = &mut self.list[place] else { return };
        entry.bytes += bytes;
        entry.messages += messages;
        if !entry.touched {
            entry.touched = true;
            self.touched.push(place);
        }
    }

    /// Moves on what waits. True if so much is left that nothing more is to be read.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.append(&mut self.touched);
        let (mut bytes, mut messages) = (0, 0);
        blocked.retain(|place| {
            let Some(entry) = &mut self.list[*place] else { return false };
            if entry.inlet.poll_flush(cx).is_ready() {
                self.emptied += 1;
                (entry.touched, entry.bytes, entry.messages, entry.emptied) = (false, 0, 0, self.emptied);
                return false;
            }
            let waiting = entry.inlet.waiting();
            // What is left is of the usual size, for all that is known.
            entry.bytes = entry.bytes / entry.messages.max(1) * waiting;
            entry.messages = waiting;
            bytes += entry.bytes;
            messages += waiting;
            true
        });
        self.blocked = blocked;
        bytes > HELD_BYTES || messages > HELD_MESSAGES
    }

    /// Where something waits now for that actor.
    pub(super) fn waiting_for(&self, actor: Option<ActorId>) -> Waiting {
        let all = self.blocked.iter().chain(&self.touched).copied();
        let its = all.filter(|place| {
            self.list[*place].as_ref().is_some_and(|entry| actor.is_some() && entry.actor == actor)
        });
        Waiting { places: its.map(|place| (place, self.emptied)).collect() }
    }

    /// Whether everything that waited then has moved on.
    pub(super) fn has_passed(&self, waiting: &Waiting) -> bool {
        waiting
            .places
            .iter()
            .all(|(place, emptied)| self.list[*place].as_ref().is_none_or(|entry| entry.emptied > *emptied))
    }

    /// Actors come and go; those that nothing waits for need no inlet.
    fn prune(&mut self) {
        for (place, slot) in self.list.iter_mut().enumerate() {
            if let Some(entry) = slot.take_if(|entry| !entry.touched) {
                self.places.remove(&entry.target);
                self.free.push(place);
            }
        }
        self.last = None;
    }
}
