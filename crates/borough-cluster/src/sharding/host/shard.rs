//! One shard in its lane: what lives here of it, and what becomes of what arrives.
//!
//! ```text
//! nothing --Start--> fencing --> running --Freeze--> freezing --last turn--> frozen --Release--> forwards for a while
//!    | parts                        ^                  |                      | Resume
//!    v                              +------------------+----------------------+
//! installing --last part--> installed --Run--> fencing --> running
//! fencing, running or frozen --Raise--> last turn --> fencing at a higher epoch --> as before (fencing.rs)
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use borough_actor::Actor;
use borough_actor::remote::{Carrier, Message};
use borough_actor::resident::{self, travelled};
use borough_protocol::flaws::Flaws;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::sharding::region::Dropped;
use borough_protocol::sharding::stance::{Origin, Passage, Place, Stance};

use super::busy::Waits;
use super::fencing::FenceState;
use super::floor::{Floor, Home};
use super::order::LaneReport;
use super::parcel::{Barrier, Part, Stowed};
use super::surroundings::{Forwarded, Surroundings};
use super::transfer::{self, Carried};
use super::turns::Turns;
use crate::sharding::hindrance::Hindrance;

/// How much waits for a newer table, or behind a cut, before more is refused.
const WAITING_MAX: usize = 100_000;

/// See the module.
pub(super) struct Shard<A: Actor, T: Turns<A>> {
    pub(super) number: u32,
    pub(super) stance: Stance,
    pub(super) home: Option<Home<A, T>>,
    /// Messages with this tag go straight to their entities; none, if that is 0.
    pub(super) open: Epoch,
    pub(super) moving: Option<Moving>,
    /// What came after the cut.
    behind: VecDeque<Placed<A::Msg>>,
    /// What came while the store was fenced.
    pub(super) held: VecDeque<Placed<A::Msg>>,
    pub(super) fence: FenceState<A::Msg>,
    pub(super) install: Option<Install<A>>,
    /// What waits for a newer table.
    waiting: VecDeque<Placed<A::Msg>>,
}

/// Something for the shard.
pub(super) enum Placed<M> {
    Message(Stowed<M>),
    Barrier(Barrier),
}

pub(super) struct Moving {
    to: Uid,
    pub(super) next: Epoch,
    /// Everything is written, and nothing changes any more.
    pub(super) is_cut: bool,
    /// Reply handles that were given away with what was written.
    taken: Vec<u64>,
}

pub(super) struct Install<A: Actor> {
    pub(super) epoch: Epoch,
    bytes: Vec<u8>,
    parts: u32,
    /// Set once all of it is there.
    pub(super) entities: Option<Vec<Carried<A>>>,
    /// What came for it since.
    pub(super) queue: VecDeque<Placed<A::Msg>>,
}

impl<A: Actor, T: Turns<A>> Shard<A, T>
where
    A::Msg: Message,
{
    pub(super) fn new(number: u32, floor: &Floor<A, T>) -> Self {
        let mut stance = Stance::new(Flaws::default());
        stance.look(floor.sight.issued(number));
        Self {
            number,
            stance,
            home: None,
            open: Epoch::ZERO,
            moving: None,
            behind: VecDeque::new(),
            held: VecDeque::new(),
            fence: FenceState::default(),
            install: None,
            waiting: VecDeque::new(),
        }
    }

    /// Puts something where it belongs.
    pub(super) fn place(&mut self, floor: &mut Floor<A, T>, placed: Placed<A::Msg>) {
        match placed {
            Placed::Message(stowed) => self.place_message(floor, stowed),
            Placed::Barrier(barrier) => self.place_barrier(floor, barrier),
        }
    }

    fn place_message(&mut self, floor: &mut Floor<A, T>, stowed: Stowed<A::Msg>) {
        match self.stance.place(stowed.tag) {
            Place::Run if self.awaits_fence() && self.held.len() < WAITING_MAX => {
                self.held.push_back(Placed::Message(stowed));
            }
            Place::Run if self.awaits_fence() => refuse(floor, stowed),
            Place::Run => self.run_message(floor, stowed),
            Place::BehindTheCut if self.behind.len() < WAITING_MAX => {
                self.behind.push_back(Placed::Message(stowed));
            }
            Place::Installed => match &mut self.install {
                Some(install) if install.queue.len() < WAITING_MAX => {
                    install.queue.push_back(Placed::Message(stowed));
                }
                _ => refuse(floor, stowed),
            },
            Place::Forward { to, epoch } => {
                let Stowed { id, message, ask, .. } = stowed;
                let left = ask.and_then(|ask| resident::time_left((&floor.system).into(), ask));
                floor.around.forward(to, self.number, epoch, Forwarded::Message { id, message, left });
            }
            Place::Wait if self.waiting.len() < WAITING_MAX => {
                self.waiting.push_back(Placed::Message(stowed));
            }
            Place::BehindTheCut | Place::Wait | Place::Refuse(_) => refuse(floor, stowed),
        }
    }

    fn run_message(&mut self, floor: &mut Floor<A, T>, stowed: Stowed<A::Msg>) {
        let Some(home) = &mut self.home else { return refuse(floor, stowed) };
        let Stowed { id, message, ask, .. } = stowed;
        let slot = floor.slot_of(home, floor.hash(&id), id);
        floor.message(home, slot, message, ask);
    }

    fn place_barrier(&mut self, floor: &mut Floor<A, T>, barrier: Barrier) {
        let (around, sight) = (&floor.around, &floor.sight);
        let passage = self
            .stance
            .place_barrier(barrier.tag, barrier.min_version, sight.version(), |uid| sight.is_member(uid));
        let common = Barrier { min_version: None, ..barrier };
        match passage {
            Passage::Done => around.report(LaneReport::Done(barrier)),
            Passage::Stand(Place::Installed) => {
                if let Some(install) = &mut self.install {
                    install.queue.push_back(Placed::Barrier(common));
                }
            }
            Passage::Stand(_) => self.behind.push_back(Placed::Barrier(common)),
            Passage::Pass { to, tag } => {
                around.forward(to, self.number, tag, Forwarded::Barrier(Barrier { tag, ..common }));
            }
            Passage::Back { to, tag } => {
                around.forward(to, self.number, tag, Forwarded::Barrier(Barrier { tag, ..barrier }));
            }
            Passage::Wait if self.waiting.len() < WAITING_MAX => {
                self.waiting.push_back(Placed::Barrier(barrier));
            }
            // It is sent again.
            Passage::Wait => {}
            Passage::Broken => around.report(LaneReport::Broken { barrier, hop: None }),
        }
    }

    /// The table is newer, or an order was done: what waits is placed again, the oldest first.
    pub(super) fn look_again(&mut self, floor: &mut Floor<A, T>) {
        for placed in std::mem::take(&mut self.waiting) {
            self.place(floor, placed);
        }
    }

    pub(super) fn look(&mut self, floor: &mut Floor<A, T>) {
        self.stance.look(floor.sight.issued(self.number));
        // A move that began and was called off between two tables: nobody orders what was taken in for it to be dropped.
        let lives = self.home.as_ref().map(|home| home.since);
        let install =
            self.install.as_ref().map(|install| install.epoch).filter(|epoch| lives != Some(*epoch));
        if let Some(epoch) = install.filter(|epoch| !floor.sight.may_come(self.number, *epoch)) {
            self.discard(floor, epoch);
        }
        self.look_again(floor);
    }

    /// Begins here, empty.
    pub(super) fn start(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        self.drop_home(floor, None);
        self.stance.start(epoch);
        self.home = Some(Home::new(self.number, epoch));
        self.begin_fence(floor, epoch);
    }

    pub(super) fn set_open(&mut self) {
        let runs = !self.awaits_fence() && self.home.is_some();
        self.open = self.stance.running().filter(|_| runs).unwrap_or_default();
    }

    /// It moves: nothing begins any more.
    pub(super) fn freeze(&mut self, floor: &mut Floor<A, T>, epoch: Epoch, to: Uid, next: Epoch) {
        if !self.stance.freeze(epoch) {
            return floor.around.report(LaneReport::Impossible { shard: self.number, epoch: next });
        }
        self.set_open();
        self.moving = Some(Moving { to, next, is_cut: false, taken: Vec::new() });
        let Some(home) = &mut self.home else { return };
        home.frozen = true;
        floor.around.report(LaneReport::Freezing { shard: self.number, epoch: next });
        if floor.settings.migration.is_none() {
            floor.end_all(home);
        }
        self.wait_for_turns(floor);
        self.cut_if_quiet(floor);
    }

    /// Once no turn is under way any more, writes what there is.
    pub(super) fn cut_if_quiet(&mut self, floor: &mut Floor<A, T>) {
        self.fence_if_quiet(floor);
        let awaits_fence = self.awaits_fence();
        let Some(home) = &mut self.home else { return };
        let Some(moving) = &mut self.moving else { return };
        if moving.is_cut || home.table.turning > 0 || awaits_fence {
            return;
        }
        floor.gather(home);
        if home.table.turning > 0 {
            return;
        }
        moving.is_cut = true;
        self.send_away(floor);
    }

    fn send_away(&mut self, floor: &mut Floor<A, T>) {
        let (Some(home), Some(moving)) = (&self.home, &mut self.moving) else { return };
        let (shard, to, epoch) = (self.number, moving.to, moving.next);
        let written = match floor.around.carrier(to) {
            None => Err("the node it moves to is no member".to_owned()),
            Some(carrier) => {
                let migration = floor.settings.migration.as_ref();
                transfer::write(home, migration, floor.around.codec(), (&floor.system).into(), &carrier)
            }
        };
        moving.taken.extend(resident::taken_replies());
        match written {
            Ok(parts) => {
                floor.around.unhindered(shard);
                floor.around.transfer(to, shard, epoch, parts);
                floor.around.report(LaneReport::Froze { shard, epoch });
            }
            Err(why) => {
                let kind = floor.around.kind();
                tracing::warn!(kind, shard, %to, why, "a shard cannot move: it is tried again after a rest");
                floor.around.hinders(shard, Hindrance::State { kind: kind.to_owned(), shard, why });
                floor.around.report(LaneReport::Impossible { shard, epoch });
            }
        }
    }

    /// It moves to another instead.
    pub(super) fn transfer(&mut self, floor: &mut Floor<A, T>, epoch: Epoch, to: Uid, next: Epoch) {
        if self.stance.home() != Some(epoch) {
            return floor.around.report(LaneReport::Impossible { shard: self.number, epoch: next });
        }
        let Some(moving) = &mut self.moving else { return self.freeze(floor, epoch, to, next) };
        (moving.to, moving.next) = (to, next);
        if moving.is_cut {
            self.send_away(floor);
        } else {
            floor.around.report(LaneReport::Freezing { shard: self.number, epoch: next });
            self.wait_for_turns(floor);
        }
    }

    /// The move is called off.
    pub(super) fn resume(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        if !self.stance.resume(epoch) {
            return;
        }
        if let Some(moving) = self.moving.take() {
            resident::take_back_replies((&floor.system).into(), moving.taken);
        }
        self.set_open();
        if !self.awaits_fence() {
            self.thaw(floor);
        }
        for placed in std::mem::take(&mut self.behind) {
            self.place(floor, placed);
        }
    }

    /// It is owned elsewhere.
    pub(super) fn release(&mut self, floor: &mut Floor<A, T>, epoch: Epoch, to: Uid, next: Epoch) {
        if !self.stance.release(epoch, to, next) {
            return;
        }
        self.moving = None;
        floor.around.unhindered(self.number);
        self.forget_fence(floor);
        if let Some(home) = self.home.take() {
            floor.let_go(home, |_, _, waits| match waits {
                Waits::Message(..) | Waits::Last(_) | Waits::Timers(_) => travelled(waits),
                Waits::Adapted(..)
                | Waits::Arrived
                | Waits::Wake
                | Waits::Terminated(_)
                | Waits::Fault(_)
                | Waits::End(_) => resident::discard(waits),
            });
        }
        self.set_open();
        self.place_left(floor);
    }

    /// Everything of it that lives here goes.
    pub(super) fn drop_all(&mut self, floor: &mut Floor<A, T>, epoch: Epoch, why: Dropped) {
        if self.stance.drop(epoch) {
            let gently = is_gentle(why);
            self.count_lost(floor, why);
            let report = LaneReport::Dropped { shard: self.number, epoch };
            let farewell = gently.then(|| Arc::new(Farewell { around: floor.around.clone(), report }));
            self.drop_home(floor, farewell.as_ref());
            self.set_open();
            self.place_left(floor);
        }
    }

    /// What is about to be dropped, although it was to live on elsewhere.
    fn count_lost(&self, floor: &Floor<A, T>, why: Dropped) {
        floor.around.unhindered(self.number);
        let was_to_move = matches!(why, Dropped::NoOtherHost | Dropped::TooLate);
        let entities = self.home.as_ref().map_or(0, |home| home.table.len());
        if was_to_move && entities > 0 && floor.settings.migration.is_some() {
            floor.around.lost(self.number, entities, None);
        }
    }

    /// It lives here no more: what came for it and was not its own yet is placed again.
    fn place_left(&mut self, floor: &mut Floor<A, T>) {
        let left = std::mem::take(&mut self.behind).into_iter().chain(std::mem::take(&mut self.held));
        for placed in left.collect::<Vec<_>>() {
            self.place(floor, placed);
        }
    }

    /// Drops what lives here; gently, if there is somebody who waits for the end of its entities.
    fn drop_home(&mut self, floor: &mut Floor<A, T>, farewell: Option<&Arc<Farewell<A::Msg>>>) {
        // What was sent away may have been handled there: nobody is told that it was not.
        let was_sent = self.moving.take().is_some_and(|moving| moving.is_cut);
        self.forget_fence(floor);
        let Some(mut home) = self.home.take() else { return };
        self.open = Epoch::ZERO;
        if let Some(farewell) = farewell {
            (home.frozen, home.unfenced) = (true, false);
            floor.end_all(&mut home);
            floor.let_end(&mut home, farewell);
        }
        floor.let_go(home, |floor, id, waits| match waits {
            Waits::Message(message, _) if was_sent => travelled(message),
            Waits::Message(message, ask) => floor.around.refuse(id, message, ask),
            _ => {}
        });
    }

    /// What was taken in for that move, or an older one, goes.
    pub(super) fn discard(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        self.stance.discard(epoch);
        if let Some(install) = self.install.take_if(|install| install.epoch <= epoch) {
            self.drop_install(floor, install);
        }
    }

    fn drop_install(&mut self, floor: &mut Floor<A, T>, install: Install<A>) {
        // The one it came from has all of it: whoever asked is answered from there.
        for carried in install.entities.into_iter().flatten() {
            let Carried { stashed, timers, waiting, state, .. } = carried;
            travelled((stashed, timers, waiting));
            if let Some(state) = state {
                floor.drop_actor(state);
            }
        }
        for placed in install.queue {
            self.place(floor, placed);
        }
    }

    /// What was taken in runs.
    pub(super) fn run(&mut self, floor: &mut Floor<A, T>, epoch: Epoch) {
        if !self.stance.run(epoch) {
            return;
        }
        self.moving = None;
        self.home = Some(Home::new(self.number, epoch));
        self.begin_fence(floor, epoch);
    }

    /// This life of the node is over.
    pub(super) fn end_life(&mut self, floor: &mut Floor<A, T>) {
        floor.around.unhindered(self.number);
        self.drop_home(floor, None);
        self.stance = Stance::new(Flaws::default());
        let install = self.install.take();
        let queues = [&mut self.behind, &mut self.held, &mut self.waiting];
        let mut left: Vec<_> = queues.into_iter().flat_map(std::mem::take).collect();
        if let Some(install) = install {
            left.extend(install.queue);
            for carried in install.entities.into_iter().flatten() {
                travelled((carried.stashed, carried.timers, carried.waiting));
            }
        }
        for placed in left {
            if let Placed::Message(stowed) = placed {
                refuse(floor, stowed);
            }
        }
    }

    /// A piece of the shard came from the node it moves from.
    pub(super) fn take_part(&mut self, floor: &mut Floor<A, T>, part: Part) {
        let Part { epoch, number, is_last, bytes, carrier, .. } = part;
        if number == 0 && !self.begin_install(floor, epoch, &bytes, &carrier) {
            return;
        }
        let fits = |install: &&mut Install<A>| {
            install.epoch == epoch && install.parts == number && install.entities.is_none()
        };
        let Some(install) = self.install.as_mut().filter(fits) else { return };
        install.parts += 1;
        install.bytes.extend_from_slice(&bytes);
        let parts = install.parts;
        let shard = self.number;
        if install.bytes.len() > transfer::WHOLE_MAX {
            install.bytes = Vec::new();
            install.parts = u32::MAX;
            return floor.around.report(LaneReport::Impossible { shard, epoch });
        }
        if let Some(from) = Uid::new(carrier.uid()) {
            floor.around.report(LaneReport::Taken { from, shard, epoch, parts });
        }
        if !is_last {
            return;
        }
        let whole = std::mem::take(&mut install.bytes);
        let (migration, codec) = (floor.settings.migration.as_ref(), floor.around.codec());
        match transfer::read(&whole, migration, codec, (&floor.system).into(), &carrier) {
            Ok(entities) => {
                install.entities = Some(entities);
                floor.around.report(LaneReport::Installed { shard, epoch });
            }
            Err(why) => {
                tracing::error!(
                    kind = floor.around.kind(),
                    shard,
                    from = carrier.address(),
                    why,
                    "a shard that moves here cannot be read"
                );
                floor.around.report(LaneReport::Impossible { shard, epoch });
            }
        }
    }

    /// Whether a transfer that begins is to be taken in.
    fn begin_install(
        &mut self,
        floor: &mut Floor<A, T>,
        epoch: Epoch,
        first: &[u8],
        carrier: &Arc<dyn Carrier>,
    ) -> bool {
        let Some(from) = Uid::new(carrier.uid()) else { return false };
        let Some(old_epoch) = transfer::epoch_of(first) else {
            floor.around.report(LaneReport::Impossible { shard: self.number, epoch });
            return false;
        };
        if !self.stance.install(epoch, Origin { from, epoch: old_epoch }) {
            return false;
        }
        let before = self.install.replace(Install {
            epoch,
            bytes: Vec::new(),
            parts: 0,
            entities: None,
            queue: VecDeque::new(),
        });
        if let Some(before) = before {
            self.drop_install(floor, before);
        }
        self.look_again(floor);
        true
    }
}

/// Whether entities are told that they end.
fn is_gentle(why: Dropped) -> bool {
    match why {
        Dropped::NoOtherHost | Dropped::TooLate | Dropped::Closing => true,
        Dropped::NotAdmitted | Dropped::BeganAnew | Dropped::Overtaken => false,
    }
}

/// Says that a shard is gone, once the last that had to do with its end lets go of this.
pub(super) struct Farewell<M> {
    around: Arc<dyn Surroundings<M>>,
    report: LaneReport,
}

impl<M> Drop for Farewell<M> {
    fn drop(&mut self) {
        self.around.report(self.report);
    }
}

fn refuse<A: Actor, T: Turns<A>>(floor: &Floor<A, T>, stowed: Stowed<A::Msg>) {
    let Stowed { id, message, ask, .. } = stowed;
    floor.around.refuse(&id, message, ask);
}
