//! What a lane does when its region says so.

use std::collections::{BTreeMap, VecDeque};

use borough_protocol::flaws::Flaw;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::sharding::region::{Dropped, Effect, Input};
use borough_protocol::sharding::stance::Origin;

use super::{Deed, Entity, Frost, Home, Install, Lane};
use crate::sim::sharding::message::{Cargo, Ended, Frame, Item};

impl Lane {
    pub(super) fn obey(&mut self, order: &Effect, lineage: Epoch, deeds: &mut Vec<Deed>) {
        match *order {
            Effect::Start { epoch, .. } => {
                self.stance.start(epoch);
                self.settle_in(epoch, epoch, BTreeMap::new());
                deeds.push(Deed::Fence { epoch });
            }
            Effect::Freeze { epoch, to, next, .. } => {
                assert!(self.stance.freeze(epoch), "what does not live here cannot freeze");
                self.aim(to, next, deeds);
            }
            Effect::Transfer { to, next, .. } => self.aim(to, next, deeds),
            Effect::Resume { epoch, .. } => self.resume(epoch, deeds),
            Effect::Raise { epoch, next, .. } => self.raise(epoch, next, deeds),
            Effect::Run { epoch, .. } => self.run(epoch, lineage, deeds),
            Effect::Discard { epoch, .. } => self.discard(epoch, deeds),
            Effect::Release { epoch, to, next, .. } => self.release(epoch, to, next, deeds),
            Effect::Drop { epoch, why, .. } => self.drop(epoch, why, deeds),
            Effect::Forget { epoch, .. } => self.stance.forget(epoch),
            Effect::Close { .. }
            | Effect::Barrier { .. }
            | Effect::Open { .. }
            | Effect::Send { .. }
            | Effect::Report(_)
            | Effect::Publish(_)
            | Effect::Force { .. }
            | Effect::Drained => unreachable!("that is no order to a lane"),
        }
    }

    fn settle_in(&mut self, epoch: Epoch, lineage: Epoch, entities: BTreeMap<u8, Entity>) {
        self.home = Some(Home {
            epoch,
            lineage,
            runs_at: epoch,
            is_new: epoch == lineage,
            is_ready: false,
            is_raised: false,
            entities,
            frost: None,
            late: VecDeque::new(),
        });
    }

    fn raise(&mut self, epoch: Epoch, next: Epoch, deeds: &mut Vec<Deed>) {
        assert!(self.stance.raise(epoch, next), "what does not live here cannot be raised");
        let Some(home) = &mut self.home else { return };
        home.epoch = next;
        if self.flaws.has(Flaw::RaisedWithoutFence) {
            (home.is_ready, home.runs_at) = (true, next);
            return;
        }
        (home.is_ready, home.is_raised) = (false, true);
        self.fence_if_quiet(deeds);
    }

    /// Fences a shard whose epoch was raised, once no entity is in a turn.
    pub(super) fn fence_if_quiet(&mut self, deeds: &mut Vec<Deed>) {
        let Some(home) = self.home.as_mut().filter(|home| home.is_raised) else { return };
        if home.entities.values().all(|entity| entity.turn.is_none()) {
            home.is_raised = false;
            deeds.push(Deed::Fence { epoch: home.epoch });
        }
    }

    fn aim(&mut self, to: Uid, next: Epoch, deeds: &mut Vec<Deed>) {
        if let Some(home) = &mut self.home {
            home.frost = Some(Frost { to, next, is_cut: false });
            deeds.push(Deed::Freezing { next });
            self.cut_if_quiet(deeds);
        }
    }

    /// Cuts and sends, once no entity is in a turn.
    pub(super) fn cut_if_quiet(&mut self, deeds: &mut Vec<Deed>) {
        let shard = self.shard;
        let careless = self.flaws.has(Flaw::CutsInATurn);
        let Some(home) = self.home.as_mut().filter(|home| home.is_ready) else { return };
        let is_quiet = careless || home.entities.values().all(|entity| entity.turn.is_none());
        let Some(frost) = home.frost.as_mut().filter(|frost| !frost.is_cut && is_quiet) else { return };
        frost.is_cut = true;
        let (to, next) = (frost.to, frost.next);
        let carry = |(number, entity): (&u8, &Entity)| (*number, (entity.count, entity.queue.clone()));
        let cargo = home.entities.iter().map(carry).collect();
        let origin = Origin { from: self.me, epoch: home.epoch };
        let whole = Frame::Whole { shard, next, cargo };
        self.cuts += 1;
        // Who is not sure that it has sent it sends it again.
        for _ in 0..if self.cuts.is_multiple_of(3) { 2 } else { 1 } {
            deeds.push(Deed::Send { to, frame: Frame::Begin { shard, next, origin } });
            deeds.push(Deed::Send { to, frame: whole.clone() });
        }
        deeds.push(Deed::Tell(Input::Froze { shard, epoch: next }));
    }

    fn resume(&mut self, epoch: Epoch, deeds: &mut Vec<Deed>) {
        assert!(self.stance.resume(epoch), "what does not live here cannot resume");
        let Some(home) = &mut self.home else { return };
        home.frost = None;
        let late = std::mem::take(&mut home.late);
        let counts = counts(&home.entities);
        // What has not begun yet has no state to go on from.
        if home.is_ready {
            deeds.push(Deed::GoesOn { lineage: home.lineage, counts });
        }
        if self.flaws.has(Flaw::ResumesWithTheLateFirst) {
            for item in late.into_iter().rev() {
                if let Item::Message { id, entity } = item {
                    home.entities.entry(entity).or_default().queue.push_front(id);
                }
            }
            return;
        }
        for item in late {
            self.place(epoch, item, deeds);
        }
    }

    fn run(&mut self, epoch: Epoch, lineage: Epoch, deeds: &mut Vec<Deed>) {
        assert!(self.stance.run(epoch), "what was not taken in cannot run");
        let Some(install) = self.install.take() else { return };
        let entity = |(count, queue)| Entity { count, queue, turn: None };
        let cargo = install.cargo.unwrap_or_default();
        let entities: BTreeMap<u8, Entity> =
            cargo.into_iter().map(|(number, it)| (number, entity(it))).collect();
        deeds.push(Deed::GoesOn { lineage, counts: counts(&entities) });
        let carried: Vec<(u8, VecDeque<usize>)> =
            entities.iter().map(|(number, entity)| (*number, entity.queue.clone())).collect();
        self.settle_in(epoch, lineage, entities);
        let late_first = self.flaws.has(Flaw::CarriedQueueLast);
        if late_first && let Some(home) = &mut self.home {
            home.entities.values_mut().for_each(|entity| entity.queue.clear());
        }
        for item in install.late {
            self.place(epoch, item, deeds);
        }
        if late_first && let Some(home) = &mut self.home {
            for (number, queue) in carried {
                home.entities.entry(number).or_default().queue.extend(queue);
            }
        }
        deeds.push(Deed::Fence { epoch });
    }

    fn discard(&mut self, epoch: Epoch, deeds: &mut Vec<Deed>) {
        self.stance.discard(epoch);
        if let Some(install) = self.install.take_if(|install| install.epoch <= epoch) {
            let copies =
                install.cargo.into_iter().flat_map(BTreeMap::into_values).flat_map(|(_, queue)| queue);
            deeds.extend(copies.map(|id| Deed::End(id, Ended::Lost("the move was called off"))));
            refuse(install.late, "the move was called off", deeds);
        }
    }

    fn release(&mut self, epoch: Epoch, to: Uid, next: Epoch, deeds: &mut Vec<Deed>) {
        assert!(self.stance.release(epoch, to, next), "what does not live here cannot go");
        let Some(home) = self.home.take() else { return };
        assert!(home.frost.is_some_and(|frost| frost.is_cut), "what was not sent is owned elsewhere");
        if self.flaws.has(Flaw::LateArrivalsForgotten) {
            return;
        }
        for item in home.late {
            self.place(epoch, item, deeds);
        }
    }

    fn drop(&mut self, epoch: Epoch, why: Dropped, deeds: &mut Vec<Deed>) {
        if why == Dropped::NoOtherHost {
            deeds.push(Deed::HadNoOtherHost);
        }
        assert!(self.stance.drop(epoch), "what does not live here cannot be dropped");
        deeds.push(Deed::Tell(Input::Dropped { shard: self.shard, epoch }));
        let Some(home) = self.home.take() else { return };
        let was_sent = home.frost.is_some_and(|frost| frost.is_cut);
        for entity in home.entities.into_values() {
            if let Some(turn) = entity.turn {
                deeds.push(Deed::End(turn.id, Ended::Lost("dropped in its turn")));
            }
            // What was carried away may have been handled there.
            let why = if was_sent { Ended::Lost("dropped, a copy") } else { Ended::Refused("dropped") };
            deeds.extend(entity.queue.into_iter().map(|id| Deed::End(id, why)));
        }
        refuse(home.late, "dropped", deeds);
    }

    pub(super) fn begin_install(&mut self, next: Epoch, origin: Origin, deeds: &mut Vec<Deed>) {
        if !self.stance.install(next, origin) {
            return;
        }
        let before = self.install.replace(Install { epoch: next, cargo: None, late: VecDeque::new() });
        refuse(before.map(|before| before.late).unwrap_or_default(), "the move was called off", deeds);
    }

    pub(super) fn end_install(&mut self, next: Epoch, cargo: Cargo, deeds: &mut Vec<Deed>) {
        if let Some(install) = self.install.as_mut().filter(|it| it.epoch == next && it.cargo.is_none()) {
            install.cargo = Some(cargo);
            deeds.push(Deed::Tell(Input::Installed { shard: self.shard, epoch: next }));
        }
    }
}

fn counts(entities: &BTreeMap<u8, Entity>) -> BTreeMap<u8, u32> {
    entities.iter().map(|(number, entity)| (*number, entity.count)).collect()
}

fn refuse(items: VecDeque<Item>, why: &'static str, deeds: &mut Vec<Deed>) {
    for item in items {
        deeds.push(match item {
            Item::Message { id, .. } => Deed::End(id, Ended::Refused(why)),
            Item::Barrier { origin, nonce, .. } => Deed::Tell(Input::Broken { origin, nonce, hop: None }),
        });
    }
}
