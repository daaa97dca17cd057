//! The task of a lane: orders first, then turns that can go on, timers, and messages in chunks.
//!
//! Messages are attended to in chunks of up to 32, in passes: where in the index, which slot, whose turn. So the memory that each of them needs is
//! fetched while that of the others is. No slot is given up within a chunk.

use std::sync::{Arc, PoisonError};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use borough_actor::Actor;
use borough_actor::remote::Message;
use borough_actor::resident::{self, Batch, IdView, Taken};
use tokio::time::Instant;

use super::alarms::Due;
use super::busy::Doing;
use super::floor::{Caller, Floor, Home};
use super::lane::{READY, Shared};
use super::order::{Depth, LaneStats, Order};
use super::packet::Packet;
use super::parcel::{Item, Rare, Stowed};
use super::shard::{Placed, Shard};
use super::table::Body;
use super::turns::Turns;
use super::unpacking::Coming;

/// How many messages are looked at in one pass.
const CHUNK: usize = 32;
/// How many messages are taken from the mailbox at once.
const BATCH: usize = 256;
/// After this many chunks the task lets others of its worker run.
const YIELD_AFTER: usize = 16;
/// How long a chunk may take, so that the lease is looked at often enough.
const CHUNK_TIME: Duration = Duration::from_millis(1);
/// Chunks of so many messages are timed, and of smaller ones one in a few.
const TIMED: usize = 4;
const SAMPLED: usize = 64;
/// Within a chunk the clock is looked at after so many turns.
pub(super) const LOOK_EVERY: usize = 8;
/// A turn that takes longer holds up its lane, and is counted.
const LONG_TURN: Duration = Duration::from_millis(10);
/// What the stamps of entities count.
pub(super) const STAMP: Duration = Duration::from_millis(10);
/// How many of the busiest entities are named.
const BUSIEST: usize = 10;

/// See the module.
pub(super) struct Hall<A: Actor, T: Turns<A>> {
    pub(super) floor: Floor<A, T>,
    /// Side by side, with their homes in them: what a message needs of its shard is then found without a detour.
    pub(super) shards: Box<[Option<Shard<A, T>>]>,
    /// How many lanes the type has: each has one shard in so many.
    pub(super) lanes: u32,
    pub(super) shared: Arc<Shared<A::Msg>>,
    batch: Batch<Item<A::Msg>>,
    /// The rest of a packet that was begun with.
    pub(super) packet: Option<Packet>,
    /// Where its next messages go; empty, and kept for its room.
    pub(super) coming: Vec<Coming>,
    pub(super) chunk: usize,
    pub(super) began: Instant,
    pub(super) sweep: super::sweep::Sweep,
    long_turns: u64,
    /// How many chunks there were.
    chunks: usize,
    /// Orders that wait until the way to another node is free.
    pub(super) put_off: Vec<Order>,
}

/// Where a message goes.
#[derive(Clone, Copy, Default)]
struct Found {
    hash: u64,
    /// Of its shard.
    index: usize,
    /// Most likely.
    slot: Option<u32>,
}

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    pub(super) fn new(floor: Floor<A, T>, shared: Arc<Shared<A::Msg>>, lanes: u32) -> Self {
        let in_lane = floor.around.shards().div_ceil(lanes);
        let sweep = super::sweep::Sweep::new(&floor.settings, lanes);
        let mut hall = Self {
            shards: (0..in_lane).map(|_| None).collect(),
            floor,
            lanes,
            shared,
            batch: Batch::default(),
            packet: None,
            coming: Vec::new(),
            chunk: TIMED,
            began: Instant::now(),
            sweep,
            long_turns: 0,
            chunks: 0,
            put_off: Vec::new(),
        };
        hall.floor.ranks = hall.sweep.ranks(&hall.floor.settings, in_lane, lanes);
        hall.set_sweep();
        hall
    }

    /// Runs the lane; ready when it is to end.
    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.floor.station.poll_end(cx).is_ready() || self.shared.has_ended() {
            self.close();
            return Poll::Ready(());
        }
        if self.sweep.needs_stamps() {
            self.set_stamp(Instant::now());
        }
        for _ in 0..YIELD_AFTER {
            self.shared.probe.answer();
            if !self.floor.around.may_run() {
                return self.poll_suspended(cx);
            }
            self.floor.see_lease();
            self.do_orders();
            if !(self.answer_calls() && self.do_again() && self.ring_all(cx)) {
                // The lease was over in between.
                continue;
            }
            if self.batch.is_empty() && self.packet.is_none() && self.poll_take(cx).is_pending() {
                if !self.floor.again.is_empty() {
                    continue;
                }
                return Poll::Pending;
            }
            self.run_chunk();
            self.tidy();
            if self.is_at_rest() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether nothing came while the only message there was was attended to: the task is woken for whatever comes then, and a single ask
    /// costs one look under the lock instead of two.
    #[inline]
    fn is_at_rest(&self) -> bool {
        self.shared.mailbox.is_parked()
            && self.batch.is_empty()
            && self.packet.is_none()
            && self.floor.again.is_empty()
            && self.floor.alarms.is_armed()
    }

    fn poll_take(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        match self.shared.mailbox.poll_take(&mut self.batch, BATCH, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Taken::Batch | Taken::Interrupted(_)) => Poll::Ready(()),
        }
    }

    /// Nothing runs until the lease holds again. Orders wait too, because they lead to turns; but a life that is over ends.
    #[cold]
    fn poll_suspended(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.do_urgent_orders();
        self.floor.around.resumed(cx.waker());
        if self.shared.mailbox.poll_interrupt(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    #[inline]
    pub(super) fn index(&self, shard: u32) -> usize {
        (shard / self.lanes) as usize
    }

    /// The shard of that number; made, if nothing is known of it yet.
    pub(super) fn shard<'a>(
        shards: &'a mut [Option<Shard<A, T>>],
        lanes: u32,
        floor: &Floor<A, T>,
        number: u32,
    ) -> Option<&'a mut Shard<A, T>> {
        let place = shards.get_mut((number / lanes) as usize)?;
        Some(place.get_or_insert_with(|| Shard::new(number, floor)))
    }

    pub(super) fn each(&mut self, act: impl Fn(&mut Shard<A, T>, &mut Floor<A, T>)) {
        for shard in self.shards.iter_mut().flatten() {
            act(shard, &mut self.floor);
        }
    }

    /// Goes on with what called; each only under the lease. Whether that held.
    fn answer_calls(&mut self) -> bool {
        if !self.shared.has_ready() {
            return true;
        }
        let mut ready =
            std::mem::take(&mut *self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner))
                .into_iter();
        while !ready.as_slice().is_empty() {
            if !self.floor.around.may_run() {
                self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner).splice(0..0, ready);
                self.shared.signal(READY);
                return false;
            }
            let Some(token) = ready.next() else { break };
            let Some(caller) = self.floor.calls.get(&token).copied() else { continue };
            let (Caller::Turn { shard: number, .. }
            | Caller::Annex { shard: number, .. }
            | Caller::Fence { shard: number }) = caller;
            let Some(shard) = Self::shard(&mut self.shards, self.lanes, &self.floor, number) else {
                continue;
            };
            match (caller, &mut shard.home) {
                (Caller::Fence { .. }, _) => shard.poll_fence(&mut self.floor),
                (Caller::Turn { slot, .. }, Some(home)) => self.floor.resume(home, slot),
                (Caller::Annex { slot, .. }, Some(home)) => {
                    self.floor.look_into_annex(home, slot);
                    self.floor.go_on(home, slot);
                }
                (Caller::Turn { .. } | Caller::Annex { .. }, None) => {}
            }
            shard.cut_if_quiet(&mut self.floor);
        }
        self.tidy();
        true
    }

    /// Goes on with entities that had more to do than they may at a time; each only under the lease. Whether that held.
    fn do_again(&mut self) -> bool {
        let mut again = std::mem::take(&mut self.floor.again).into_iter();
        while !again.as_slice().is_empty() {
            if !self.floor.around.may_run() {
                self.floor.again.splice(0..0, again);
                return false;
            }
            let Some((number, slot)) = again.next() else { break };
            let Some(shard) = Self::shard(&mut self.shards, self.lanes, &self.floor, number) else {
                continue;
            };
            if let Some(home) = shard.home.as_mut().filter(|home| slot < home.table.slots()) {
                self.floor.go_on(home, slot);
            }
        }
        true
    }

    /// Again and again, until the task is to be woken for the next: what rang may have set another. Whether the lease held.
    fn ring_all(&mut self, cx: &mut TaskContext<'_>) -> bool {
        while self.floor.alarms.poll(cx) {
            if !self.ring() {
                return false;
            }
        }
        true
    }

    fn ring(&mut self) -> bool {
        let now = Instant::now();
        self.set_stamp(now);
        loop {
            if !self.floor.around.may_run() {
                return false;
            }
            let Some(due) = self.floor.alarms.next(now) else { break };
            let number = match due {
                Due::Sweep => {
                    self.sweep_idle();
                    continue;
                }
                Due::Orders => {
                    self.do_put_off();
                    continue;
                }
                Due::Timer { shard, .. }
                | Due::Restart { shard, .. }
                | Due::Handoff { shard, .. }
                | Due::Fence { shard, .. } => shard,
            };
            let Some(shard) = Self::shard(&mut self.shards, self.lanes, &self.floor, number) else {
                continue;
            };
            let floor = &mut self.floor;
            match (due, &mut shard.home) {
                (Due::Timer { epoch, slot, .. }, Some(home)) if home.since == epoch => {
                    floor.timer(home, slot);
                }
                (Due::Restart { epoch, slot, .. }, Some(home)) if home.since == epoch => {
                    floor.restart_now(home, slot);
                }
                (Due::Handoff { next, .. }, _) => shard.handoff_is_late(floor, next),
                (Due::Fence { epoch, .. }, _) => shard.fence_again(floor, epoch),
                _ => {}
            }
            shard.cut_if_quiet(&mut self.floor);
        }
        self.tidy();
        true
    }

    fn set_stamp(&mut self, now: Instant) {
        let ticks = now.duration_since(self.began).as_millis() / STAMP.as_millis();
        self.floor.stamp = u32::try_from(ticks).unwrap_or(u32::MAX);
    }

    /// Attends to the next few messages. Small chunks are timed now and then: reading the clock takes as long as a turn.
    fn run_chunk(&mut self) {
        self.chunks = self.chunks.wrapping_add(1);
        let timed = self.batch.len() >= TIMED || self.packet.is_some() || self.chunks.is_multiple_of(SAMPLED);
        let began = timed.then(Instant::now);
        if self.packet.is_some() {
            self.run_packet();
        } else if self.batch.len() == 1 {
            self.run_single();
        } else {
            self.run_messages(began);
        }
        let Some(began) = began else { return };
        let took = began.elapsed();
        self.set_stamp(began + took);
        if took > CHUNK_TIME {
            self.long_turns += u64::from(took > LONG_TURN);
            self.chunk = (self.chunk / 2).max(1);
        } else {
            self.chunk = (self.chunk * 2).min(CHUNK);
        }
    }

    /// Attends to the one message there is.
    fn run_single(&mut self) {
        match self.batch.pop() {
            None => {}
            Some(Item::Message(stowed)) => {
                let (hash, index) = (self.floor.hash(&stowed.id), self.index(stowed.shard));
                let slot = self.home(index).and_then(|home| home.table.candidate(hash));
                self.run_message(stowed, Found { hash, index, slot });
            }
            Some(Item::Rare(rare)) => self.run_rare(*rare),
        }
    }

    fn run_messages(&mut self, began: Option<Instant>) {
        let began = began.unwrap_or_else(Instant::now);
        let mut found = [Found::default(); CHUNK];
        self.look_up(&mut found);
        for (done, found) in found.into_iter().take(self.chunk).enumerate() {
            if done % LOOK_EVERY == LOOK_EVERY - 1 && began.elapsed() > CHUNK_TIME {
                return;
            }
            match self.batch.pop() {
                None => return,
                Some(Item::Message(stowed)) => self.run_message(stowed, found),
                Some(Item::Rare(rare)) => {
                    self.run_rare(*rare);
                    // What was looked up was so before this.
                    return;
                }
            }
        }
    }

    /// Finds out where the next few messages go, in passes: what is fetched from memory in one of them is needed in the next. Those that fetch do
    /// nothing else, and do not look at what they get: so the processor has many of them under way at once.
    #[inline]
    fn look_up(&self, found: &mut [Found; CHUNK]) {
        let mut count = 0;
        for (item, found) in self.batch.iter().zip(found.iter_mut()).take(self.chunk) {
            let Item::Message(stowed) = item else { break };
            *found = Found { hash: self.floor.hash(&stowed.id), index: self.index(stowed.shard), slot: None };
            count += 1;
        }
        let found = &mut found[..count];
        let mut touched = 0;
        for found in &*found {
            touched ^= self.home(found.index).map_or(0, |home| home.table.touch_index(found.hash));
        }
        for found in &mut *found {
            found.slot = self.home(found.index).and_then(|home| home.table.candidate(found.hash));
        }
        for found in &*found {
            if let (Some(home), Some(slot)) = (self.home(found.index), found.slot) {
                touched ^= home.table.touch_slot(slot);
            }
        }
        std::hint::black_box(touched);
    }

    #[inline]
    pub(super) fn home(&self, index: usize) -> Option<&Home<A, T>> {
        self.shards.get(index)?.as_ref()?.home.as_ref()
    }

    #[inline]
    fn run_message(&mut self, stowed: Stowed<A::Msg>, found: Found) {
        let Found { hash, index, slot } = found;
        if let Some(Some(shard)) = self.shards.get_mut(index)
            && shard.open == stowed.tag
            && let Some(home) = &mut shard.home
        {
            let Stowed { id, message, ask, .. } = stowed;
            let slot = match slot {
                Some(slot) if home.table.is(slot, IdView::of(&id)) => slot,
                _ => self.floor.slot_of(home, hash, id),
            };
            return self.floor.message(home, slot, message, ask);
        }
        self.place(Placed::Message(stowed));
    }

    #[cold]
    pub(super) fn place(&mut self, placed: Placed<A::Msg>) {
        let number = match &placed {
            Placed::Message(stowed) => stowed.shard,
            Placed::Barrier(barrier) => barrier.shard,
        };
        match Self::shard(&mut self.shards, self.lanes, &self.floor, number) {
            Some(shard) => shard.place(&mut self.floor, placed),
            None => {
                if let Placed::Message(Stowed { id, message, ask, .. }) = placed {
                    self.floor.around.refuse(&id, message, ask);
                }
            }
        }
    }

    fn run_rare(&mut self, rare: Rare) {
        match rare {
            Rare::Barrier(barrier) => self.place(Placed::Barrier(barrier)),
            Rare::Packet(packet) => {
                self.batch.lighten(packet.len().max(1) - 1);
                self.packet = Some(packet);
            }
            Rare::Part(part) => {
                if let Some(shard) = Self::shard(&mut self.shards, self.lanes, &self.floor, part.shard) {
                    shard.take_part(&mut self.floor, part);
                }
            }
            // Whoever asked may be gone.
            Rare::Flush(say) => drop(say.send(())),
        }
    }

    /// Gives slots up that became vacant, and makes room if there are too many entities.
    pub(super) fn tidy(&mut self) {
        if !self.floor.waking.is_empty() {
            self.look_at_waking();
        }
        self.give_up_vacated();
        if self.sweep.is_over(self.floor.staying()) {
            self.make_room();
            self.give_up_vacated();
        }
    }

    fn give_up_vacated(&mut self) {
        while let Some((number, slot)) = self.floor.vacated.pop() {
            let Some(Some(shard)) = self.shards.get_mut((number / self.lanes) as usize) else { continue };
            let Some(home) = shard.home.as_mut().filter(|home| slot < home.table.slots()) else { continue };
            let (seed, before) = (self.floor.seed, home.table.len());
            home.table.remove_vacant(slot, |id| resident::hash(seed, id));
            self.floor.population -= before - home.table.len();
        }
    }

    pub(super) fn stats(&mut self, depth: Depth) -> LaneStats {
        let now = Instant::now();
        let mut slowest = self.floor.pace.slowest();
        let mut stats = LaneStats {
            handled: self.floor.pace.handled(),
            turns: self.floor.pace.look(now),
            long_turns: self.long_turns,
            alarms: self.floor.alarms.len(),
            ..LaneStats::default()
        };
        for shard in self.shards.iter().flatten() {
            let Some(home) = &shard.home else { continue };
            stats.shards.push((shard.number, home.epoch, home.table.len()));
            if depth == Depth::Counts {
                continue;
            }
            for slot in home.table.taken() {
                let place = home.table.peek(slot);
                let Body::Busy(busy) = &place.body else { continue };
                if !busy.queue.is_empty() {
                    stats.busiest.push((place.id.to_string(), busy.queue.len()));
                }
                if let Doing::Turn(turning) = &busy.doing {
                    slowest.offer(&place.id, turning.since.lasted(now), now);
                }
            }
        }
        if depth == Depth::Entities {
            stats.slowest = slowest.named(now);
        }
        stats.busiest.sort_by_key(|(_, waiting)| std::cmp::Reverse(*waiting));
        stats.busiest.truncate(BUSIEST);
        stats
    }

    /// The lane ends: nothing enters any more, what waits is refused.
    fn close(&mut self) {
        let waiting = self.shared.mailbox.close();
        // Only now: whoever gives one from here on finds the lane closed, and drops it.
        self.shared.drop_orders();
        let in_hand = std::mem::take(&mut self.batch);
        if let Some(mut packet) = self.packet.take() {
            packet.refuse();
        }
        self.put_off.clear();
        for item in in_hand.into_iter().chain(waiting) {
            match item {
                Item::Message(Stowed { id, message, ask, .. }) => self.floor.around.refuse(&id, message, ask),
                Item::Rare(rare) => {
                    if let Rare::Packet(mut packet) = *rare {
                        packet.refuse();
                    }
                }
            }
        }
        self.each(Shard::end_life);
    }
}
