//! How the desk steers a type: its ways close and open as the table says, and what was held goes first.

use std::any::{Any, type_name};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use borough_actor::remote::{Carrier, Inlet, Message};
use borough_actor::{EntityId, Unsendable};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::Pace;
use borough_protocol::sharding::{Epoch, Kind, KindId};
use borough_protocol::table::Table;
use borough_protocol::version::Version;

use super::counts::Why;
use super::error::ShardError;
use super::hold::{Held, Hold, Next};
use super::host::{Barrier, Depth, Order, Parcel, Woken};
use super::inlet::KindInlet;
use super::kind::{KindCore, weight};
use super::listing::Listed;
use super::loss::Hosted;
use super::queries::KindStats;
use super::routes::{Used, Way, is_unused};
use super::shell::{Closed, Closing, Opening, Shell};
use super::view::View;
use super::watchdog::WedgedWorker;
use super::wire;

impl<M: Message> KindCore<M> {
    fn way(&self, opening: &Opening) -> Way<M> {
        let Opening { shard, to, tag } = *opening;
        let used = Used::default();
        let view = self.view.load();
        if let Some(lane) = self.lane(shard).filter(|_| view.life == Some(to)) {
            return Way::Here { lane: lane.clone(), tag, used };
        }
        let open = |table| self.peers.open(shard, (to, tag), table, self.sharding.hub());
        match view.table.as_deref().and_then(open) {
            Some(carrier) => Way::There { carrier, tag, used },
            // It will be closed again: the table that names it is about to name another.
            None => Way::Held(self.holds[shard as usize].clone()),
        }
    }

    /// Lets go what is held, one after the other; the way is published when nothing is left.
    async fn release(self: Arc<Self>, shard: u32, way: Arc<Way<M>>, release: u64) {
        let hold = &self.holds[shard as usize];
        while let Some(letter) = self.next_held(hold, shard, &way, release) {
            if matches!(&*way, Way::There { carrier, .. } if carrier.is_lost()) {
                // Another way will be opened, once the table says that the node is gone.
                let weight = weight(&letter);
                hold.put_back(&self.budget, letter, weight);
                break;
            }
            self.send_by(&way, shard, letter).await;
        }
        hold.lock().released(release);
    }

    /// The next message to let go. If there is none the way is published, before anybody can be held again.
    fn next_held(&self, hold: &Hold<M>, shard: u32, way: &Arc<Way<M>>, release: u64) -> Option<Held<M>> {
        match hold.next(release, &self.budget) {
            Next::Message(letter) => Some(letter),
            Next::Superseded => None,
            Next::Empty(mut state) => {
                self.board.publish(shard, way.clone());
                state.open();
                drop(state);
                self.budget.line.wake_shard(shard);
                None
            }
        }
    }

    async fn send_by(&self, way: &Way<M>, shard: u32, letter: Held<M>) {
        let tell = match way {
            Way::Here { lane, tag, used } => {
                used.mark();
                let Held { id, message, ask } = letter;
                lane.send(Parcel { shard, tag: *tag, id, message }, ask)
            }
            Way::There { carrier, tag, used } => {
                used.mark();
                self.send_there(carrier, shard, *tag, letter)
            }
            Way::Held(_) => return self.refuse(letter.message, Why::Ended),
        };
        if let Err(refused) = tell.await {
            self.refuse(refused.into_message(), Why::Ended);
        }
    }

    /// The cluster has agreed on other settings for the type: nothing is taken here.
    fn compare(&self, agreed: &Kind) {
        let Some(error) = ShardError::differing(&self.kind, agreed) else { return };
        let ShardError::Differs { kind, setting, ours: here, theirs: there } = &error else { return };
        let differs =
            Unsendable::Differs { kind: kind.clone(), setting, here: here.clone(), there: there.clone() };
        if self.differs.set(differs).is_ok() {
            tracing::error!(%error, "messages to its entities are refused here");
            self.refuse_held();
        }
    }
}

impl<M: Message> Shell for KindCore<M> {
    fn kind(&self) -> &Arc<Kind> {
        &self.kind
    }

    fn hosts(&self) -> bool {
        self.hosts.load(Ordering::Relaxed)
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    fn force(&self) {
        for lane in self.lanes() {
            lane.order(Order::Force);
        }
    }

    fn stop_hosting(&self) {
        self.hosts.store(false, Ordering::Relaxed);
    }

    fn follow(&self, life: Uid, id: Option<KindId>, table: &Arc<Table>, news: bool) {
        self.view.store(View { life: Some(life), id, table: Some(table.clone()) });
        if !news {
            return;
        }
        if let Some(agreed) = id.and_then(|id| table.kind(id)) {
            self.compare(agreed.kind());
        }
        self.peers.follow(id, table, self.sharding.hub());
    }

    fn look(&self) {
        for lane in self.lanes() {
            lane.order(Order::Look(self.view()));
        }
    }

    fn take_wanted(&self) -> Vec<u32> {
        let wants = |hold: &Arc<Hold<M>>| hold.lock().announce();
        (0..).zip(&self.holds).filter(|(_, hold)| wants(hold)).map(|(number, _)| number).collect()
    }

    fn close(&self, shards: &[u32]) -> Closing {
        let close = |shard: &u32| {
            let hold = &self.holds[*shard as usize];
            let mut state = hold.lock();
            // Closed before there is no way: a sender that reads the old route must not find the hold open.
            state.close();
            // Under its lock, as a release publishes the way it went by. What is held may be on its way to whom it was opened for last.
            let replaced = self.board.publish(*shard, Arc::new(Way::Held(hold.clone())));
            let used = replaced.used().or_else(|| state.releasing().cloned());
            Closed { shard: *shard, used, replaced }
        };
        let ways = shards.iter().map(close).collect();
        self.disperse(shards);
        Closing { ways }
    }

    fn is_quiet(&self, closing: &Closing) -> bool {
        let is_releasing = |shard: u32| self.holds[shard as usize].lock().releasing().is_some();
        closing.ways.iter().all(|way| is_unused(&way.replaced) && !is_releasing(way.shard))
    }

    fn open(&self, openings: &[Opening]) {
        for opening in openings {
            let way = self.way(opening);
            let mut state = self.holds[opening.shard as usize].lock();
            if matches!(way, Way::Held(_)) {
                continue;
            }
            let (shard, way) = (opening.shard, Arc::new(way));
            if state.is_empty() {
                // Under its lock: nobody can be held by a shard that has a way.
                self.board.publish(shard, way);
                state.open();
                drop(state);
                self.budget.line.wake_shard(shard);
                continue;
            }
            let release = state.release(way.used());
            if let Some(me) = self.me.upgrade() {
                self.sharding.runtime().spawn(me.release(shard, way, release));
            }
        }
    }

    fn barrier(&self, shard: u32, to: Uid, tag: Epoch, nonce: u64, min_version: Option<Version>) {
        let view = self.view.load();
        let Some(origin) = view.life else { return };
        let barrier = Barrier { shard, tag, origin, nonce, min_version };
        if to == origin {
            if let Some(lane) = self.lane(shard).cloned() {
                self.sharding.runtime().spawn(async move { lane.barrier(barrier).await });
            }
        } else if let Some(carrier) = self.carrier_to(to) {
            self.sharding.runtime().spawn(carrier.send(self.head(), wire::put_barrier(&barrier)));
        }
    }

    fn order(&self, order: Order) {
        if let Some(lane) = self.lane(order.shard().unwrap_or(0)) {
            lane.order(order);
        }
    }

    fn shut_holds(&self) {
        self.budget.shut();
        // Whoever was about to be held is held by now, or finds it shut.
        for hold in &self.holds {
            drop(hold.lock());
        }
    }

    fn close_all(&self) -> Closing {
        let shards: Vec<u32> = (0..self.kind.shards).collect();
        self.close(&shards)
    }

    fn is_settled(&self) -> bool {
        self.budget.held() == 0 && self.forwards.waiting() == 0 && Arc::strong_count(&self.ending) == 1
    }

    fn reset(&self) {
        self.close_all();
        self.view.store(View::default());
        self.peers.clear(self.sharding.hub());
        for lane in self.lanes() {
            lane.order(Order::DropAll);
        }
        for hold in &self.holds {
            hold.lock().forget_wanted();
        }
        if self.ended.load(Ordering::Relaxed) {
            self.refuse_held();
        }
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.reset();
        self.crowd.close();
        for lane in self.lanes() {
            lane.end();
        }
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn message_type(&self) -> &'static str {
        type_name::<M>()
    }

    fn shard_of(&self, id: &EntityId) -> u32 {
        KindCore::shard_of(self, id)
    }

    fn wake(&self, id: EntityId) -> Pin<Box<dyn Future<Output = Woken> + Send>> {
        self.wake_here(id)
    }

    fn list(&self, shard: u32, after: Option<EntityId>) -> Listed {
        self.list_shard(shard, after)
    }

    fn look_around(&self) {
        self.ask_for_room();
    }

    fn ping(&self, starts_over: bool) -> Vec<WedgedWorker> {
        self.ping_lanes(starts_over)
    }

    fn silent_workers(&self) -> Vec<WedgedWorker> {
        self.silent_lanes()
    }

    fn held(&self) -> usize {
        self.budget.held()
    }

    fn stats(&self, depth: Depth) -> Pin<Box<dyn Future<Output = KindStats> + Send + '_>> {
        Box::pin(self.take_stats(depth))
    }

    fn hosted_now(&self) -> Pin<Box<dyn Future<Output = Option<Hosted>> + Send + '_>> {
        Box::pin(async {
            let mut hosted = Hosted::default();
            for lane in self.lanes() {
                let shards = lane.stats_now(Depth::Counts).await?.shards;
                hosted.shards += shards.len();
                hosted.entities += shards.iter().map(|(_, _, entities)| entities).sum::<usize>();
            }
            Some(hosted)
        })
    }

    fn flushed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            for lane in self.lanes() {
                lane.flushed().await;
            }
        })
    }

    fn inlet(&self, carrier: Arc<dyn Carrier>) -> Box<dyn Inlet> {
        match self.me.upgrade() {
            Some(me) => Box::new(KindInlet::new(me, carrier)),
            None => unreachable!("it is called through itself"),
        }
    }
}
