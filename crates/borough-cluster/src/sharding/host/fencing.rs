//! Fencing the store of a shard: before its first turn, and before the next one when its epoch was raised.
//!
//! ```text
//! Start, Run --> asks the store --Ok--> runs
//!   Raise -->      ^        |---it has seen a higher epoch: Refused to the region; after a second again, until Raise
//!  (last turn)     +--------+---it failed: after a second again
//! ```
//! Promise: no turn begins at an epoch before the store said that it takes it.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use borough_actor::remote::Message;
use borough_actor::resident;
use borough_actor::{Actor, Fault};
use borough_protocol::sharding::Epoch;
use tokio::time::Instant;

use super::alarms::Due;
use super::floor::{Caller, Floor};
use super::order::LaneReport;
use super::shard::Shard;
use super::surroundings::Fencing;
use super::turns::{Call, Turns};
use crate::sharding::settings::EpochRefused;

/// A store that refused or failed is asked again after this long.
const AGAIN: Duration = Duration::from_secs(1);

/// How far the store of a shard is.
pub(super) struct FenceState<M> {
    /// The store is asked.
    asked: Option<(Fencing, Call<M>)>,
    /// The epoch was raised to this one: the store is asked once no turn is under way at the epoch before.
    due: Option<Epoch>,
    /// It refused the epoch that the shard lives at, and the region knows.
    is_refused: bool,
}

impl<M> Default for FenceState<M> {
    fn default() -> Self {
        Self { asked: None, due: None, is_refused: false }
    }
}

impl<A: Actor, T: Turns<A>> Shard<A, T>
where
    A::Msg: Message,
{
    /// Whether no turn may begin because the store has not taken the epoch yet.
    pub(super) fn awaits_fence(&self) -> bool {
        self.fence.asked.is_some() || self.fence.due.is_some()
    }

    pub(super) fn begin_fence(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        match floor.around.fence(self.number, epoch) {
            None => self.run_on(floor),
            Some(fencing) => {
                let call = floor.new_call(Caller::Fence { shard: self.number });
                call.waker.wake_by_ref();
                self.fence.asked = Some((fencing, call));
            }
        }
    }

    /// Goes on with fencing the store.
    pub(super) fn poll_fence(&mut self, floor: &mut Floor<A, T>) {
        let Some((fencing, call)) = &mut self.fence.asked else { return };
        call.hush();
        let Some(home) = &self.home else { return };
        let epoch = home.epoch;
        let mut cx = TaskContext::from_waker(&call.waker);
        // User code.
        let polled = resident::catch(|| fencing.as_mut().poll(&mut cx));
        match polled.unwrap_or_else(|fault| Poll::Ready(Err(fault))) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => {
                if std::mem::take(&mut self.fence.is_refused) {
                    floor.around.report(LaneReport::Fenced { shard: self.number, epoch });
                }
                self.forget_fence(floor);
                self.run_on(floor);
            }
            Poll::Ready(Err(fault)) => {
                // The fence has ended: a late wake-up polls nothing.
                *fencing = Box::pin(std::future::pending());
                self.fence_failed(floor, epoch, &fault);
                floor.alarms.set(Instant::now() + AGAIN, Due::Fence { shard: self.number, epoch });
            }
        }
    }

    fn fence_failed(&mut self, floor: &Floor<A, T>, epoch: Epoch, fault: &Fault) {
        let (kind, shard) = (floor.around.kind(), self.number);
        match fault.downcast_ref::<EpochRefused>() {
            // The region says what comes of it.
            Some(EpochRefused { seen }) if *seen >= epoch => {
                self.fence.is_refused = true;
                floor.around.report(LaneReport::Refused { shard, epoch, seen: *seen });
            }
            Some(EpochRefused { seen }) => {
                tracing::error!(kind, shard, %epoch, %seen, "the store refused a higher epoch than it has seen; tried again");
            }
            None => tracing::error!(kind, shard, %fault, "the store cannot be fenced; tried again"),
        }
    }

    pub(super) fn forget_fence(&mut self, floor: &mut Floor<A, T>) {
        if let Some((_, call)) = self.fence.asked.take() {
            floor.calls.remove(&call.bell.token);
        }
        (self.fence.due, self.fence.is_refused) = (None, false);
    }

    /// The store is to be fenced once more, or turns should have ended by now.
    pub(super) fn fence_again(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        if self.fence.due == Some(epoch) {
            return self.fence_raised(floor);
        }
        if self.awaits_fence() && self.home.as_ref().is_some_and(|home| home.epoch == epoch) {
            let is_refused = self.fence.is_refused;
            self.forget_fence(floor);
            self.fence.is_refused = is_refused;
            self.begin_fence(floor, epoch);
        }
    }

    /// It goes on at a higher epoch: turns end, then the store is fenced again, then they begin again.
    ///
    /// As with a move, entities whose state does not move end here: what they loaded may not be what the store has now. The next message starts them again.
    pub(super) fn raise(&mut self, floor: &mut Floor<A, T>, epoch: Epoch, next: Epoch) {
        if !self.stance.raise(epoch, next) {
            return;
        }
        self.forget_fence(floor);
        let Some(home) = &mut self.home else { return };
        home.frozen = true;
        if floor.settings.migration.is_none() {
            floor.end_all(home);
        }
        self.fence.due = Some(next);
        self.set_open();
        // Turns that do not end by then are at the mercy of the store: it refuses what they write.
        let by = Instant::now() + floor.settings.handoff_timeout;
        floor.alarms.set(by, Due::Fence { shard: self.number, epoch: next });
        self.fence_if_quiet(floor);
    }

    /// Fences the store at a raised epoch, once no turn is under way.
    pub(super) fn fence_if_quiet(&mut self, floor: &mut Floor<A, T>) {
        if self.fence.due.is_some() && self.home.as_ref().is_some_and(|home| home.table.turning == 0) {
            self.fence_raised(floor);
        }
    }

    fn fence_raised(&mut self, floor: &mut Floor<A, T>) {
        if let (Some(home), Some(epoch)) = (&mut self.home, self.fence.due.take()) {
            (home.epoch, home.unfenced) = (epoch, true);
            self.begin_fence(floor, epoch);
        }
    }

    /// Turns may begin: what came with the shard and what waits for its entities first, then what came since.
    fn run_on(&mut self, floor: &mut Floor<A, T>) {
        self.thaw(floor);
        let Some(home) = &mut self.home else { return };
        if let Some(install) = self.install.take_if(|install| install.epoch == home.since) {
            let entities = install.entities.unwrap_or_default();
            for carried in entities {
                floor.arrive(home, carried);
            }
            for placed in install.queue {
                self.place(floor, placed);
            }
        }
        for placed in std::mem::take(&mut self.held) {
            self.place(floor, placed);
        }
        self.set_open();
        self.wake_eager(floor);
        self.cut_if_quiet(floor);
    }

    /// Entities that live here go on, unless the shard moves.
    pub(super) fn thaw(&mut self, floor: &mut Floor<A, T>) {
        let Some(home) = &mut self.home else { return };
        (home.frozen, home.unfenced) = (self.moving.is_some(), false);
        if home.frozen {
            return;
        }
        for slot in home.table.taken() {
            floor.attend(home, slot);
            floor.go_on(home, slot);
        }
    }

    /// Starts those that are to be there without a message.
    fn wake_eager(&mut self, floor: &mut Floor<A, T>) {
        let Some(home) = self.home.as_mut().filter(|home| !home.frozen) else { return };
        let settings = floor.settings.clone();
        for (_, id) in settings.eager.iter().filter(|(shard, _)| *shard == self.number) {
            floor.wake(home, id.clone());
        }
    }
}
