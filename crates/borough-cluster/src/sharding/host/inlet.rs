//! Where what comes from one other node enters a lane.
//!
//! Promise: in order, none lost and none twice. What finds no room waits here, and whoever fills the inlet can see how much that is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use borough_actor::EntityId;
use borough_actor::remote::{Carrier, Message};
use borough_actor::resident::{Letter, Ticket};
use borough_protocol::sharding::Epoch;

use super::lane::Shared;
use super::packet::Packet;
use super::parcel::{Barrier, Came, Item, Part, Rare};

/// See the module.
pub(crate) struct LaneInlet<M> {
    lane: Arc<Shared<M>>,
    carrier: Arc<dyn Carrier>,
    staged: VecDeque<Item<M>>,
    /// How many messages that is.
    weight: usize,
    /// What came since, and comes after all that is staged.
    open: Packet,
    /// Stands in line for room with what comes before those staged.
    in_line: Option<Ticket>,
}

impl<M> LaneInlet<M> {
    pub(super) fn new(lane: Arc<Shared<M>>, carrier: Arc<dyn Carrier>) -> Self {
        let open = Packet::new(carrier.clone(), lane.spares.clone());
        Self { lane, carrier, staged: VecDeque::new(), weight: 0, open, in_line: None }
    }

    /// Takes a message in; it moves on with [`LaneInlet::poll_flush`]. Whether the node it came from is to be told that its entity is crowded.
    #[inline]
    pub(crate) fn take(&mut self, came: Came<'_>) -> bool {
        if self.open.is_full() {
            self.seal();
        }
        self.open.push(&came);
        self.lane.crowd.may_be_in(came.shard) && self.warns(came.shard, came.id)
    }

    #[cold]
    fn warns(&self, shard: u32, id: &[u8]) -> bool {
        EntityId::new(id).is_ok_and(|id| self.lane.crowd.warn(shard, &id, &self.carrier))
    }

    /// Senders on the node of this inlet stand in line. Whether that entity has room; otherwise their node is told once it has.
    pub(crate) fn enlist(&self, shard: u32, id: &EntityId) -> bool {
        self.lane.crowd.enlist(shard, id, &self.carrier)
    }

    /// Takes a barrier in, behind everything taken before.
    pub(crate) fn take_barrier(&mut self, barrier: Barrier) {
        self.seal();
        self.stage(Rare::Barrier(barrier));
    }

    /// Takes a piece of a shard that moves here.
    pub(crate) fn take_part(&mut self, shard: u32, epoch: Epoch, number: u32, is_last: bool, bytes: &[u8]) {
        self.seal();
        let (carrier, bytes) = (self.carrier.clone(), bytes.to_vec());
        self.stage(Rare::Part(Part { shard, epoch, number, is_last, bytes, carrier }));
    }

    fn seal(&mut self) {
        if self.open.len() > 0 {
            let next = Packet::new(self.carrier.clone(), self.lane.spares.clone());
            let packet = std::mem::replace(&mut self.open, next);
            self.stage(Rare::Packet(packet));
        }
    }

    fn stage(&mut self, rare: Rare) {
        let item = Item::Rare(Box::new(rare));
        self.weight += item.weight();
        self.staged.push_back(item);
    }

    /// How many messages wait here.
    pub(crate) fn waiting(&self) -> usize {
        self.weight + self.open.len() + usize::from(self.in_line.is_some())
    }

    /// The next one, which stands in line for the others too.
    fn next_single(&mut self) -> Option<Item<M>> {
        let first = self.staged.front_mut()?;
        self.weight -= 1;
        if first.weight() > 1 { first.cut(1) } else { self.staged.pop_front() }
    }

    /// The lane is gone: whoever asked learns it.
    fn discard(item: Item<M>) {
        let Item::Rare(rare) = item else { return };
        let Rare::Packet(mut packet) = *rare else { return };
        packet.refuse();
    }

    fn discard_staged(&mut self) {
        self.weight = 0;
        for item in std::mem::take(&mut self.staged) {
            Self::discard(item);
        }
    }
}

impl<M: Message> LaneInlet<M> {
    /// Moves what was taken into the lane; ready when nothing waits here any more.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.seal();
        loop {
            if let Some(ticket) = self.in_line {
                let outcome = std::task::ready!(self.lane.mailbox.poll_waiting(ticket, cx.waker()));
                self.in_line = None;
                if let Err(item) = outcome {
                    Self::discard(item);
                }
            }
            self.weight -= self.lane.mailbox.push_all(&mut self.staged, self.weight);
            if self.lane.mailbox.is_closed() {
                self.discard_staged();
            }
            let Some(item) = self.next_single() else { return Poll::Ready(()) };
            match self.lane.mailbox.push_or_wait(item, cx.waker()) {
                Ok(ticket) => self.in_line = ticket,
                Err(refusal) => match refusal {
                    borough_actor::resident::Refusal::Full(item)
                    | borough_actor::resident::Refusal::Refused(item)
                    | borough_actor::resident::Refusal::Closed(item)
                    | borough_actor::resident::Refusal::Displaced(item)
                    | borough_actor::resident::Refusal::Dropped(item) => Self::discard(item),
                },
            }
        }
    }
}

impl<M> Drop for LaneInlet<M> {
    fn drop(&mut self) {
        if let Some(item) = self.in_line.take().and_then(|ticket| self.lane.mailbox.withdraw(ticket)) {
            Self::discard(item);
        }
        self.seal();
        self.discard_staged();
    }
}
