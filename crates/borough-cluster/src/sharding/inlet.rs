//! Where sharding's messages from one other node come in.
//!
//! Promise: in order for each shard, none lost and none twice. The lane of a shard decodes; here only heads are read.

use std::sync::Arc;
use std::task::{Context, Poll};

use borough_actor::EntityId;
use borough_actor::remote::{Arrived, Carrier, Inlet, Lost, Message};
use borough_wire::codec::CodecError;
use borough_wire::frame::{Plain, Run};

use super::Sharding;
use super::abroad::{Crowding, ROOM, What};
use super::counts::Why;
use super::host::{Came as Parcel, LaneInlet};
use super::kind::KindCore;
use super::wire::{self, Other};

/// For one type of entities.
pub(super) struct KindInlet<M: Message> {
    core: Arc<KindCore<M>>,
    carrier: Arc<dyn Carrier>,
    lanes: Vec<LaneInlet<M>>,
}

impl<M: Message> KindInlet<M> {
    pub(super) fn new(core: Arc<KindCore<M>>, carrier: Arc<dyn Carrier>) -> Self {
        let lanes = core.lanes().iter().map(|lane| lane.inlet(carrier.clone())).collect();
        Self { core, carrier, lanes }
    }

    #[inline]
    fn lane(&mut self, shard: u32) -> Option<&mut LaneInlet<M>> {
        let lanes = self.lanes.len();
        (shard < self.core.kind.shards && lanes > 0).then(|| &mut self.lanes[shard as usize % lanes])
    }

    #[inline]
    fn came(&mut self, plain: &Plain<'_>) {
        // In no other codec: a type may have chosen one for what bytes cannot do with it.
        if let Some(wire::Message { shard, tag, id, body }) = wire::read_message(plain.body)
            && plain.codec == self.core.codec
            && let Some(lane) = self.lane(shard)
        {
            if lane.take(Parcel { shard, tag, id, ask: plain.ask, codec: plain.codec, body }) {
                self.warn(shard, id);
            }
            return;
        }
        self.came_otherwise(plain);
    }

    #[cold]
    fn came_otherwise(&mut self, plain: &Plain<'_>) {
        let taken = match wire::read_other(plain.body) {
            Some(Other::Barrier(barrier)) => self.lane(barrier.shard).map(|lane| lane.take_barrier(barrier)),
            Some(Other::Part { shard, epoch, number, is_last, bytes }) => {
                self.lane(shard).map(|lane| lane.take_part(shard, epoch, number, is_last, bytes))
            }
            Some(Other::Crowding(word)) => self.heard(&word),
            Some(Other::Word(_)) | None => None,
        };
        if taken.is_none() {
            self.core.counts.refuse(Why::Misdirected, 1);
            if let Some((ask, _)) = plain.ask {
                self.carrier.lose(ask, Lost::Discarded);
            }
        }
    }

    /// The node this is for learns that the entity it sends to is crowded.
    #[cold]
    fn warn(&self, shard: u32, id: &[u8]) {
        if let Ok(id) = EntityId::new(id) {
            self.core.say_of(&self.carrier, shard, &id, What::Crowded);
        }
    }

    #[cold]
    fn heard(&mut self, word: &Crowding) -> Option<()> {
        let Crowding { shard, id, what } = word;
        if *shard >= self.core.kind.shards {
            return None;
        }
        match what {
            What::Crowded => self.core.hear_crowded(&self.carrier, *shard, id),
            What::Room(room) => self.core.hear_room(&self.carrier, *shard, id, *room),
            What::InLine => {
                // Of what does not live here nothing is known: senders go on, and learn where it is.
                if self.lane(*shard).is_none_or(|lane| lane.enlist(*shard, id)) {
                    self.core.say_of(&self.carrier, *shard, id, What::Room(ROOM));
                }
            }
        }
        Some(())
    }
}

impl<M: Message> Inlet for KindInlet<M> {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        let Arrived { codec, ask, body, .. } = message;
        self.came(&Plain { target: self.core.target, ask, codec, body });
        Ok(())
    }

    fn take_run(&mut self, run: &Run<'_>) {
        for plain in run.messages() {
            self.came(&plain);
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let flushed = self.lanes.iter_mut().fold(true, |all, lane| lane.poll_flush(cx).is_ready() & all);
        if flushed { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Types of entities are stopped by their own node alone.
    fn stop_when_drained(&mut self) {}

    fn waiting(&self) -> usize {
        self.lanes.iter().map(LaneInlet::waiting).sum()
    }
}

/// For words between desks.
pub(super) struct WordInlet {
    sharding: Arc<Sharding>,
    carrier: Arc<dyn Carrier>,
}

impl WordInlet {
    pub(super) fn new(sharding: Arc<Sharding>, carrier: Arc<dyn Carrier>) -> Self {
        Self { sharding, carrier }
    }
}

impl Inlet for WordInlet {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        if let Some(Other::Word(word)) = wire::read_other(message.body) {
            self.sharding.heard(self.carrier.uid(), word);
        }
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn stop_when_drained(&mut self) {}

    fn waiting(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use borough_actor::{Actor, Context, EntityId, Fault};
    use borough_protocol::incarnation::{Address, Incarnation, Uid};
    use borough_protocol::sharding::Epoch;
    use borough_wire::codec::CodecId;

    use super::*;
    use crate::Node;
    use crate::testing::MemoryNetwork;

    struct Thing;

    impl Actor for Thing {
        type Msg = u64;

        async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), Fault> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_in_another_codec_than_the_type_s_is_refused() {
        let builder = Node::builder("test").listen("a:1");
        let node = builder.simulated(&MemoryNetwork::new(1), 1, 0).start().await.unwrap();
        let region = node.shard("things", |_| Thing).keeps_own_state().start().await.unwrap();
        let peer = Incarnation { address: Address::new("b:1"), uid: Uid::new(77).unwrap() };
        let sharding = node.sharding().clone();
        let link = sharding.hub().link(&peer);
        let mut inlet = sharding.inlet(wire::target("things"), link).unwrap();
        let mut body = Vec::new();
        wire::put_message_head(&mut body, 0, Epoch::new(1), &EntityId::new(b"x").unwrap());
        let body = &body[..];
        inlet.take(Arrived { codec: CodecId::Json, ask: None, body }).unwrap();
        assert_eq!((inlet.waiting(), region.state().await.refused), (0, 1));
        inlet.take(Arrived { codec: CodecId::Postcard, ask: None, body }).unwrap();
        assert_eq!((inlet.waiting(), region.state().await.refused), (1, 1));
    }
}
