//! Streams: what is sent, arrives, or is lost with a life or a link.

use borough_protocol::flaws::Flaw;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::Input;

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::MILLISECOND;
use crate::sim::sharding::{Ended, Frame, Item, Letter, Situation, is_taken};
use crate::sim::violation::Violation;
use crate::sim::world::Happening;

impl World {
    /// Sends that to a node, perhaps to this one.
    pub(super) fn transmit(&mut self, slot: SlotIndex, to: Uid, frame: Frame) -> Result<(), Violation> {
        let Some(from) = self.slots[slot].life.as_ref().map(Life::uid) else { return Ok(()) };
        if from == to {
            return self.take_frame(slot, from, frame);
        }
        match &frame {
            Frame::Item { item: Item::Barrier { min_version: Some(_), origin, .. }, .. }
                if *origin != from =>
            {
                self.count(Situation::BarrierWentBack);
            }
            Frame::Item { item: Item::Message { id, .. }, .. } => {
                let own = |it: &super::Sharding| it.books.message(*id).sender.0 == from;
                if !self.sharding.as_ref().is_some_and(own) {
                    self.count(Situation::MessageForwarded);
                }
            }
            _ => {}
        }
        let is_gone = self.slots.life(to).is_none();
        let now = self.now;
        let Some(sharding) = &mut self.sharding else { return Ok(()) };
        let delay = sharding.random.between(MILLISECOND / 10, 5 * MILLISECOND);
        let delay = delay + if sharding.random.per_mille(400) { sharding.dawdle(MILLISECOND) } else { 0 };
        let stream = sharding.streams.entry((from, to)).or_default();
        if stream.is_closed {
            if let Frame::Item { item: Item::Barrier { origin, nonce, .. }, .. } = frame
                && origin != from
            {
                return self.tell_region(slot, Input::Broken { origin, nonce, hop: Some(to) });
            }
            return self.lose(from, [frame], "sent to one that was removed");
        }
        if is_gone {
            return self.lose(from, [frame], "sent to one that is no more");
        }
        stream.push(now.after(delay), frame);
        self.plan_pump(from, to);
        Ok(())
    }

    fn plan_pump(&mut self, from: Uid, to: Uid) {
        let now = self.now;
        let Some(stream) = self.sharding.as_mut().and_then(|sharding| sharding.streams.get_mut(&(from, to)))
        else {
            return;
        };
        if let Some(at) = stream.next_at().filter(|_| !stream.is_planned) {
            stream.is_planned = true;
            self.queue.plan(at.max(now), Happening::Pump { from, to });
        }
    }

    /// What has arrived on a stream is taken, if somebody is there and the way is open.
    pub(in crate::sim::world) fn pump(&mut self, from: Uid, to: Uid) -> Result<(), Violation> {
        let now = self.now;
        let cut = match (self.slots.slot_of(from), self.slots.slot_of(to)) {
            (Some(one), Some(other)) => {
                self.network.cuts.is_cut(one, other) || self.network.cuts.is_cut(other, one)
            }
            _ => false,
        };
        let Some(stream) = self.sharding.as_mut().and_then(|sharding| sharding.streams.get_mut(&(from, to)))
        else {
            return Ok(());
        };
        let Some((slot, life)) = self.slots.slot_of(to).zip(self.slots.life(to)) else {
            let frames = stream.close();
            return self.lose(from, frames, "the receiver is no more");
        };
        let later = match life.pause {
            Some(pause) => Some(pause.until.max(now.after(1))),
            None if cut || life.site.is_none() => Some(now.after(20 * MILLISECOND)),
            None => None,
        };
        if let Some(later) = later {
            self.queue.plan(later, Happening::Pump { from, to });
            return Ok(());
        }
        stream.is_planned = false;
        if let Some(frame) = stream.take(now) {
            if let Some(table) = life.node.table() {
                is_taken(to, from, table)?;
            }
            self.take_frame(slot, from, frame)?;
        }
        self.plan_pump(from, to);
        Ok(())
    }

    fn take_frame(&mut self, slot: SlotIndex, from: Uid, frame: Frame) -> Result<(), Violation> {
        match frame {
            Frame::Item { shard, tag, item } => self.post(slot, shard, Letter::Item { tag, item }),
            Frame::Begin { shard, next, origin } => self.post(slot, shard, Letter::Begin { next, origin }),
            Frame::Whole { shard, next, cargo } => self.post(slot, shard, Letter::Whole { next, cargo }),
            Frame::Word(word) => return self.tell_region(slot, Input::Word { from, word }),
        }
        Ok(())
    }

    fn lose(
        &mut self,
        from: Uid,
        frames: impl IntoIterator<Item = Frame>,
        why: &'static str,
    ) -> Result<(), Violation> {
        let Some(sharding) = &mut self.sharding else { return Ok(()) };
        for id in frames.into_iter().filter_map(|frame| frame.messages()) {
            let own = sharding.books.message(id).sender.0 == from;
            let is_left = self.slots.life(from).is_none_or(|life| life.is_leaving);
            let why = if own && is_left { "its sender's stream was cut short" } else { why };
            sharding.books.end(id, Ended::Lost(why))?;
        }
        Ok(())
    }

    /// A node closes its links with one that was removed.
    pub(in crate::sim::world) fn close_streams(
        &mut self,
        slot: SlotIndex,
        removed: Uid,
    ) -> Result<(), Violation> {
        let Some(me) = self.slots[slot].life.as_ref().map(Life::uid) else { return Ok(()) };
        if self.settings.flaws.has(Flaw::LinksOfRemovedStayOpen) {
            return Ok(());
        }
        for (from, to) in [(removed, me), (me, removed)] {
            let Some(sharding) = &mut self.sharding else { return Ok(()) };
            let frames = sharding.streams.entry((from, to)).or_default().close();
            self.lose(from, frames, "the link of one that was removed")?;
        }
        Ok(())
    }

    /// The life in that slot is about to be no more, and with it everything it had.
    pub(in crate::sim::world) fn close_site(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let Some(site) = life.site.take() else { return Ok(()) };
        let uid = life.uid();
        let (own, hosted) = site.messages();
        for id in own {
            sharding.books.end(id, Ended::Lost("its sender is no more"))?;
        }
        for id in hosted {
            sharding.books.end(id, Ended::Lost("its host is no more"))?;
        }
        let mut lost = Vec::new();
        for ((from, to), stream) in &mut sharding.streams {
            if *from == uid {
                lost.push((*from, stream.cut_short(&mut sharding.random), "the sender is no more"));
            } else if *to == uid {
                lost.push((*from, stream.close(), "the receiver is no more"));
            }
        }
        for (from, frames, why) in lost {
            self.lose(from, frames, why)?;
        }
        Ok(())
    }
}
