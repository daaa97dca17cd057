//! What became of each watch.

use borough_actor::StopReason;
use borough_cluster::{MemberState, Uid};

use super::Pages;
use crate::shells::words::Contact;
use crate::sim::Violation;

/// One watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// Where the watcher is.
    house: usize,
    /// Which actor it is; none for a task.
    actor: Option<u32>,
    /// The life its node lived when it learned of the other.
    own_life: Option<u64>,
    /// It came in a message that may have arrived in the life before, and was handled in this one.
    may_be_stale: bool,
    /// The life of the one it watches.
    life: u64,
    /// How many of its place had been stopped, if it is one that may be.
    stops: Option<u32>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Fired,
    /// The watcher is gone.
    Ended,
}

impl Pages {
    /// A watch begins.
    pub(in crate::shells) fn watching(&mut self, house: usize, actor: Option<u32>, whom: &Contact) -> u32 {
        let page = &self.houses[house];
        let is_own = page.has_lived(whom.found_in);
        let own_life = if is_own { Some(whom.found_in) } else { page.life() };
        let may_be_stale = !is_own && self.has_begun_anew(house);
        let (life, stops) = (whom.life, whom.stops);
        self.watches.push(Watch { house, actor, own_life, may_be_stale, life, stops, state: State::Waiting });
        let number = u32::try_from(self.watches.len() - 1).unwrap_or(u32::MAX);
        self.trace.note(format_args!("h{house} w{number} on {life:x}"));
        number
    }

    /// A watch fired; the reason, if it was told.
    pub(in crate::shells) fn fired(&mut self, number: u32, reason: Option<StopReason>) {
        self.tally.fired += 1;
        self.trace.note(format_args!("w{number} fired: {reason:?}"));
        let watch = &mut self.watches[number as usize];
        let before = std::mem::replace(&mut watch.state, State::Fired);
        if before == State::Fired {
            return self.blame(Violation::Safety("watch_once", format!("watch {number} fired twice")));
        }
        let watch = &self.watches[number as usize];
        if !watch.may_be_stale && !self.is_gone(watch) && !self.is_removed(watch) {
            let text = format!("watch {number} fired ({reason:?}) though nobody is gone: {watch:?}");
            self.blame(Violation::Safety("watch_in_vain", text));
        }
    }

    pub(super) fn end_watches_of(&mut self, house: usize, actor: Option<u32>) {
        for watch in self.watches.iter_mut().filter(|watch| watch.house == house) {
            if (actor.is_none() || watch.actor == actor) && watch.state == State::Waiting {
                watch.state = State::Ended;
            }
        }
    }

    /// Whether the watched actor, its node's life or the watcher's is over.
    fn is_gone(&self, watch: &Watch) -> bool {
        let (Watch { life, stops, .. }, house) = (*watch, &self.houses[watch.house]);
        let is_local = house.has_lived(life);
        !is_local && (self.is_over(life) || house.life() != watch.own_life)
            || stops.is_some_and(|stops| self.stops_at(life) > stops)
    }

    /// Whether the watcher's node knows that the other is no member any more, which the other may not know.
    fn is_removed(&self, watch: &Watch) -> bool {
        let snapshot = self.houses[watch.house].topology.current();
        let member = Uid::new(watch.life).and_then(|uid| snapshot.member(uid));
        member.is_none_or(|member| matches!(member.state, MemberState::Down | MemberState::Removed))
    }

    /// A watch that should have fired by now, if there is one.
    pub(super) fn overdue(&self) -> Option<String> {
        let waits = |watch: &&Watch| watch.state == State::Waiting && self.is_gone(watch);
        let overdue: Vec<_> =
            self.watches.iter().enumerate().filter(|(_, watch)| waits(watch)).map(|(at, _)| at).collect();
        let first = self.watches.get(*overdue.first()?)?;
        Some(format!("{} watches did not fire, the first is {}: {first:?}", overdue.len(), overdue[0]))
    }
}
