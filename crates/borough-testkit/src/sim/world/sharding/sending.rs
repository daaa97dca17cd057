//! Senders: they look a way up, and a little later enqueue by it; or what they send is held.

use borough_protocol::sharding::region::Input;
use borough_protocol::sharding::{KindId, ShardId};

use super::{Act, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, SECOND};
use crate::sim::sharding::{Ended, Frame, Item, Look, Message, Route};
use crate::sim::violation::Violation;

impl World {
    /// A sender sends the next message, or begins with another entity.
    pub(super) fn sender_acts(&mut self, slot: SlotIndex, sender: u8) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let uid = life.uid();
        let Some(site) = &mut life.site else { return Ok(()) };
        if site.is_leaving || self.is_healing {
            return Ok(());
        }
        let place = usize::from(sender);
        let Some((shard, entity, left)) = site.senders[place].burst else {
            let table = site.region.table();
            let kinds = table.kinds().len() as u64;
            if kinds > 0 {
                let id = KindId(u16::try_from(sharding.random.below(kinds)).unwrap_or(0));
                let shards = u64::from(table.kind(id).map_or(1, |kind| kind.kind().shards));
                let number = u32::try_from(sharding.random.below(shards)).unwrap_or(0);
                let entity =
                    u8::try_from(sharding.random.below(u64::from(sharding.load.entities))).unwrap_or(0);
                let is_quiet = table.kind(id).is_some_and(|kind| sharding.load.is_quiet(&kind.kind().name));
                let longest = if is_quiet { 1 } else { 60 };
                let length = u32::try_from(sharding.random.between(1, longest)).unwrap_or(1);
                let is_sent = !is_quiet || sharding.random.per_mille(100);
                // Only a type that was started here can be sent to.
                if site.region.knows(id) && is_sent {
                    site.senders[place].burst = Some((ShardId { kind: id, number }, entity, length));
                }
            }
            let delay = sharding.random.below(300 * MILLISECOND);
            self.plan_act(slot, delay, Act::Send { sender });
            return Ok(());
        };
        let it = &mut site.senders[place];
        it.burst = (left > 1).then_some((shard, entity, left - 1));
        let count = it.sent.entry((shard, entity)).or_default();
        *count += 1;
        let message = Message { sender: (uid, sender), key: (0, shard), entity, seq: *count };
        let message = Message { key: site.key(shard), ..message };
        let id = sharding.books.send(message);
        self.trace.line(self.now, || format!("n{slot} {uid} sends {id}: {message:?}"));
        let route = site.routes.entry(shard).or_default();
        match route.look(Item::Message { id, entity }) {
            Look::Way(to, tag) => {
                site.senders[place].guarded = Some((shard, id, to, tag));
                let delay = sharding.dawdle(MILLISECOND / 2);
                self.plan_act(slot, delay, Act::Enqueue { sender });
                Ok(())
            }
            Look::Held => {
                let delay = sharding.random.below(sharding.load.pace);
                self.plan_act(slot, delay, Act::Send { sender });
                self.tell_region(slot, Input::Want(shard))
            }
            Look::Full => {
                sharding.books.end(id, Ended::Refused("too many are held"))?;
                self.plan_act(slot, SECOND, Act::Send { sender });
                Ok(())
            }
        }
    }

    /// A sender enqueues by the way it has looked up.
    pub(super) fn sender_enqueues(&mut self, slot: SlotIndex, sender: u8) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let Some(site) = &mut life.site else { return Ok(()) };
        let Some((shard, id, to, tag)) = site.senders[usize::from(sender)].guarded.take() else {
            return Ok(());
        };
        let entity = sharding.books.message(id).entity;
        let delay = sharding.random.below(sharding.load.pace);
        self.transmit(slot, to, Frame::Item { shard, tag, item: Item::Message { id, entity } })?;
        self.plan_act(slot, delay, Act::Send { sender });
        let site = self.slots[slot].life.as_mut().and_then(|life: &mut Life| life.site.as_mut());
        let closed = site.and_then(|site| site.routes.get_mut(&shard)).and_then(Route::enqueued);
        match closed {
            Some(used) => self.tell_region(slot, Input::Closed { shard, used }),
            None => Ok(()),
        }
    }
}
