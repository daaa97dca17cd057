//! What the lanes of a type need of the node around them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;

use borough_actor::remote::{Carrier, Message};
use borough_actor::resident::{self, AskId, House};
use borough_actor::{ActorRef, DeadLetterReason, EntityId, SystemHandle};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::{Input, Word};
use borough_protocol::sharding::{Epoch, ShardId};
use borough_protocol::version::Version;
use borough_wire::codec::CodecId;

use super::abroad::{ROOM, What};
use super::counts::Why;
use super::crowd::{Admitted, Crowd};
use super::desk::Errand;
use super::entity_ref::EntityRef;
use super::forward::Forward;
use super::hindrance::Hindrance;
use super::hold::Held;
use super::host::{Barrier, Fencing, Forwarded, LaneReport, PolledApart, Sight, Surroundings};
use super::kind::KindCore;
use super::settings::Fenced;
use super::view::View;
use super::watchdog::TaskGuard;
use super::wire;

impl Sight for View {
    fn issued(&self, shard: u32) -> Epoch {
        let shard = self.id.map(|kind| ShardId { kind, number: shard });
        self.table.as_ref().map_or(Epoch::ZERO, |table| table.issued(shard))
    }

    fn may_come(&self, shard: u32, epoch: Epoch) -> bool {
        let entry = self.id.and_then(|kind| self.table.as_ref()?.shard(ShardId { kind, number: shard }));
        let is_named = entry.is_some_and(|entry| {
            let comes = entry.moving.is_some_and(|(to, next)| Some(to) == self.life && next == epoch);
            let came = Some(entry.owner) == self.life && entry.epoch == epoch;
            comes || came
        });
        is_named || epoch > self.issued(shard)
    }

    fn version(&self) -> Version {
        self.table.as_ref().map_or(Version::ZERO, |table| table.version())
    }

    fn is_member(&self, uid: Uid) -> bool {
        self.table.as_ref().is_some_and(|table| table.member(uid).is_some())
    }
}

impl<M: Message> House<M> for KindCore<M> {
    fn kind(&self) -> &str {
        &self.kind.name
    }

    fn address(&self, id: &EntityId) -> ActorRef<M> {
        match self.me.upgrade() {
            Some(me) => EntityRef::new(me, id.clone()).actor_ref(),
            None => unreachable!("it is called through itself"),
        }
    }
}

impl<M: Message> Surroundings<M> for KindCore<M> {
    fn system(&self) -> &SystemHandle {
        self.sharding.hub().system_handle()
    }

    fn seed(&self) -> u64 {
        self.target
    }

    fn shards(&self) -> u32 {
        self.kind.shards
    }

    fn codec(&self) -> CodecId {
        self.codec
    }

    #[inline]
    fn may_run(&self) -> bool {
        self.life().is_some_and(|life| self.sharding.lease.may_run(life))
    }

    fn halt(&self) -> Arc<AtomicBool> {
        self.sharding.lease.halt().clone()
    }

    fn lapses(&self) -> Arc<AtomicU64> {
        self.sharding.lease.lapses().clone()
    }

    fn is_overdue(&self) -> bool {
        self.sharding.lease.is_overdue()
    }

    fn outlasted(&self, id: &EntityId, is_new: bool) {
        self.has_outlasted(id, is_new);
    }

    fn polled_apart(&self) -> &PolledApart {
        &self.polled_apart
    }

    fn guard(&self) -> Option<TaskGuard> {
        Some(self.sharding.watchdog.guard())
    }

    fn resumed(&self, waker: &Waker) {
        self.sharding.lease.wait(waker);
    }

    fn report(&self, report: LaneReport) {
        match report {
            LaneReport::PutOff { shard, epoch } => self.input(shard, |shard| Input::PutOff { shard, epoch }),
            LaneReport::Freezing { shard, epoch } => {
                self.input(shard, |shard| Input::Freezing { shard, epoch });
            }
            LaneReport::Taken { from, shard, epoch, parts } => {
                if let Some(shard) = self.shard_id(shard) {
                    self.sharding.say(from, &Word::Taken { shard, epoch, parts });
                }
            }
            LaneReport::Froze { shard, epoch } => self.input(shard, |shard| Input::Froze { shard, epoch }),
            LaneReport::Impossible { shard, epoch } => {
                self.input(shard, |shard| Input::Impossible { shard, epoch });
            }
            LaneReport::Installed { shard, epoch } => {
                self.input(shard, |shard| Input::Installed { shard, epoch });
            }
            LaneReport::Dropped { shard, epoch } => {
                self.input(shard, |shard| Input::Dropped { shard, epoch });
            }
            LaneReport::Refused { shard, epoch, seen } => {
                self.input(shard, |shard| Input::Refused { shard, epoch, seen });
            }
            LaneReport::Fenced { shard, epoch } => {
                self.input(shard, |shard| Input::Fenced { shard, epoch });
            }
            LaneReport::Done(Barrier { origin, nonce, .. }) => {
                self.sharding.say(origin, &Word::BarrierDone { nonce });
            }
            LaneReport::Broken { barrier: Barrier { origin, nonce, .. }, hop } => {
                self.sharding.errand(Errand::Tell(Input::Broken { origin, nonce, hop }));
            }
        }
    }

    fn hinders(&self, shard: u32, why: Hindrance) {
        self.sharding.hindrances.note(&self.kind.name, shard, why);
    }

    fn unhindered(&self, shard: u32) {
        self.sharding.hindrances.forget(&self.kind.name, shard);
    }

    fn lost(&self, shard: u32, entities: usize, entity: Option<&EntityId>) {
        self.sharding.state_was_dropped(&self.kind.name, shard, entities, entity);
    }

    fn forward(&self, to: Uid, shard: u32, tag: Epoch, what: Forwarded<M>) {
        let Some(carrier) = self.carrier_to(to).filter(|carrier| !carrier.is_lost()) else {
            return self.cannot_forward(to, what);
        };
        match what {
            Forwarded::Barrier(barrier) => {
                let barrier = Barrier { shard, tag, ..barrier };
                self.send_on(&carrier, wire::put_barrier(&barrier));
            }
            Forwarded::Message { id, message, left } if self.forwards.has_room() => {
                let encoded = self.outgoing(&carrier, shard, tag, &id).encode(message, left);
                match encoded {
                    Ok((head, body)) => {
                        self.counts.forwarded.fetch_add(1, Ordering::Relaxed);
                        self.forwards.send(&carrier, Forward { head, body, entity: Some(id) });
                    }
                    Err(message) => self.refuse_forward(&id, message, left.is_some()),
                }
            }
            Forwarded::Message { id, message, left } => self.refuse_forward(&id, message, left.is_some()),
        }
    }

    fn transfer(&self, to: Uid, shard: u32, epoch: Epoch, parts: Vec<Vec<u8>>) {
        let Some(carrier) = self.carrier_to(to) else { return };
        let last = parts.len().saturating_sub(1);
        for (number, part) in (0..).zip(parts) {
            let mut body = wire::part_head(shard, epoch, number, number as usize == last);
            body.extend_from_slice(&part);
            self.send_on(&carrier, body);
        }
    }

    fn is_busy(&self, to: Uid) -> bool {
        self.forwards.is_busy(to.get())
    }

    fn is_settled(&self) -> bool {
        self.forwards.waiting() == 0
    }

    fn carrier(&self, to: Uid) -> Option<Arc<dyn Carrier>> {
        self.carrier_to(to)
    }

    fn refuse(&self, id: &EntityId, message: M, ask: Option<AskId>) {
        self.counts.refuse(Why::Unplaced, 1);
        // Counted once, as a dead letter too: nobody but this node knows of a message that was only told.
        if ask.is_none() {
            self.bury(id, message, DeadLetterReason::Unhandled);
        } else {
            resident::discard(message);
        }
    }

    fn crowd(&self) -> Arc<Crowd<Held<M>>> {
        self.crowd.clone()
    }

    fn say_room(&self, shard: u32, id: &EntityId, admitted: &Admitted) {
        let room = u32::try_from(admitted.room).unwrap_or(u32::MAX).min(ROOM);
        for way in &admitted.warned {
            self.say_of(way, shard, id, What::Room(room));
        }
    }

    fn dropped(&self, reason: DeadLetterReason) {
        self.counts.bury(reason);
    }

    fn ending(&self) -> Box<dyn Send> {
        Box::new(self.ending.clone())
    }

    fn fence(&self, shard: u32, epoch: Epoch) -> Option<Fencing> {
        let (fence, me) = (self.fence.clone()?, self.me.upgrade()?);
        let owner = self.view().life?;
        Some(Box::pin(async move { fence.fence(Fenced { kind: &me.kind.name, shard, epoch, owner }).await }))
    }
}

impl<M: Message> KindCore<M> {
    /// Sends something on to that node that is no message of a user.
    pub(super) fn send_on(&self, carrier: &Arc<dyn Carrier>, body: Vec<u8>) {
        self.forwards.send(carrier, Forward { head: self.head(), body, entity: None });
    }

    /// The next hop is gone: what was to go there is refused, and whoever sent a barrier is told.
    #[cold]
    fn cannot_forward(&self, to: Uid, what: Forwarded<M>) {
        match what {
            Forwarded::Barrier(Barrier { origin, nonce, .. }) => {
                let broken = Input::Broken { origin, nonce, hop: Some(to) };
                self.sharding.errand(Errand::Tell(broken));
            }
            Forwarded::Message { id, message, left } => self.refuse_forward(&id, message, left.is_some()),
        }
    }

    /// Nobody but this node knows of a message that was only told: it is a dead letter too. An asker of another node learns it; one of this node does, but
    /// its message cannot be told from the others here.
    #[cold]
    fn refuse_forward(&self, id: &EntityId, message: M, is_asked_abroad: bool) {
        self.counts.refuse(Why::Unforwarded, 1);
        if is_asked_abroad {
            resident::discard(message);
        } else {
            self.bury(id, message, DeadLetterReason::Unhandled);
        }
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::table::{Cluster, Table};

    use super::*;

    #[test]
    fn nothing_of_an_era_before_comes_and_what_no_table_names_yet_may() {
        let cluster = Cluster { name: 1, era: 5, founder: Uid::new(1).unwrap() };
        let view = View { table: Some(Arc::new(Table::new(cluster))), ..View::default() };
        assert!(!view.may_come(3, Epoch::first(4)) && view.may_come(3, Epoch::first(5)));
        assert!(view.issued(3) >= Epoch::first(4) && view.issued(3) < Epoch::first(5));
        assert!(View::default().may_come(3, Epoch::first(4)) && View::default().issued(3) == Epoch::ZERO);
    }
}
