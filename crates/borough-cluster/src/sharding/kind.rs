//! One type of entities on this node: its ways, its holds, its lanes.

use std::any::{Any, type_name};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use borough_actor::remote::{self, Carrier, Head, Inlet, Message, Outgoing};
use borough_actor::resident::{self, Asked, discard};
use borough_actor::{ActorId, DeadLetterReason, EntityId, Tell, TellError, TryTellError, Unsendable};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::allocation::Custom;
use borough_protocol::sharding::region::Input;
use borough_protocol::sharding::{Epoch, Kind, KindId, ShardId};
use borough_protocol::table::Table;
use borough_protocol::version::Version;

use super::Sharding;
use super::counts::{Counts, Why};
use super::desk::Errand;
use super::error::ShardError;
use super::forward::Forwards;
use super::hold::{Budget, Held, Hold, Limit, Next, Pushed};
use super::host::{Barrier, Depth, Lane, Order, Parcel, Woken};
use super::inlet::KindInlet;
use super::peers::Peers;
use super::queries::KindStats;
use super::retry::Retry;
use super::routes::{Board, Used, Way};
use super::settings::{Fence, ShardBy};
use super::shell::{Closing, Opening, Shell};
use super::view::{Outlook, View};
use super::weigh::weigh;
use super::wire::{self, HEAD_MAX};

/// See the module.
pub(super) struct KindCore<M: Message> {
    pub(super) kind: Arc<Kind>,
    pub(super) shard_by: ShardBy,
    pub(super) target: u64,
    pub(super) sharding: Arc<Sharding>,
    board: Board<M>,
    pub(super) holds: Box<[Arc<Hold<M>>]>,
    pub(super) budget: Budget,
    /// Set once the lanes are made; none for a proxy.
    lanes: OnceLock<Box<[Lane<M>]>>,
    hosts: AtomicBool,
    view: Outlook,
    peers: Peers,
    pub(super) forwards: Forwards,
    pub(super) fence: Option<Arc<dyn Fence>>,
    pub(super) strategy: Option<Custom>,
    pub(super) counts: Counts,
    ended: AtomicBool,
    /// As many others have it as entities are ending.
    pub(super) ending: Arc<()>,
    /// In which setting the cluster has agreed on something else.
    differs: OnceLock<Unsendable>,
    pub(super) me: Weak<Self>,
}

/// What a type is started with.
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) shard_by: ShardBy,
    pub(super) hosts: bool,
    pub(super) hold_limit: Limit,
    pub(super) fence: Option<Arc<dyn Fence>>,
    pub(super) strategy: Option<Custom>,
}

impl<M: Message> KindCore<M> {
    pub(super) fn new(sharding: Arc<Sharding>, plan: Plan) -> Arc<Self> {
        let Plan { kind, shard_by, hosts, hold_limit, fence, strategy } = plan;
        let holds: Box<[_]> = (0..kind.shards).map(|_| Arc::new(Hold::new())).collect();
        Arc::new_cyclic(|me| Self {
            target: wire::target(&kind.name),
            board: Board::new(&holds),
            holds,
            budget: Budget::new(hold_limit),
            lanes: OnceLock::new(),
            hosts: AtomicBool::new(hosts),
            view: Outlook::default(),
            peers: Peers::default(),
            forwards: Forwards::new(sharding.runtime().clone(), hold_limit.messages),
            fence,
            strategy,
            counts: Counts::default(),
            ended: AtomicBool::new(false),
            ending: Arc::default(),
            differs: OnceLock::new(),
            kind: Arc::new(kind),
            shard_by,
            sharding,
            me: me.clone(),
        })
    }

    /// Its lanes are ready.
    pub(super) fn set_lanes(&self, lanes: Box<[Lane<M>]>) {
        let _ = self.lanes.set(lanes);
    }

    pub(super) fn lanes(&self) -> &[Lane<M>] {
        self.lanes.get().map_or(&[], |lanes| lanes)
    }

    pub(super) fn lane(&self, shard: u32) -> Option<&Lane<M>> {
        let lanes = self.lanes();
        (!lanes.is_empty()).then(|| &lanes[shard as usize % lanes.len()])
    }

    /// Which life of the node this lives in.
    #[inline]
    pub(super) fn life(&self) -> Option<Uid> {
        self.view.life()
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    pub(super) fn shard_of(&self, id: &EntityId) -> u32 {
        id.with_bytes(|id| self.shard_by.shard_of(id, self.kind.shards))
    }

    /// Sends a message to an entity, wherever it lives.
    #[inline]
    pub(super) fn send(&self, id: EntityId, message: M, ask: Option<Asked>) -> Tell<M> {
        let shard = self.shard_of(&id);
        let mut letter = Held { id, message, ask };
        loop {
            let routes = self.board.read();
            match &routes[shard as usize] {
                Way::Here { lane, tag, used } => {
                    used.mark();
                    let Held { id, message, ask } = letter;
                    return lane.send(Parcel { shard, tag: *tag, id, message }, ask);
                }
                Way::There { carrier, .. } if carrier.is_lost() => return self.retry(letter),
                Way::There { carrier, tag, used } => {
                    used.mark();
                    return self.send_there(carrier, shard, *tag, letter);
                }
                Way::Held(hold) => match self.hold(hold, shard, letter) {
                    Ok(tell) => return tell,
                    Err(again) => letter = again,
                },
            }
        }
    }

    /// Sends a message, unless it would go to a node that is lost: then it is given back.
    pub(super) fn send_unless_lost(
        &self,
        id: EntityId,
        message: M,
        ask: Option<Asked>,
    ) -> Result<Tell<M>, M> {
        let shard = self.shard_of(&id);
        let is_lost =
            matches!(&self.board.read()[shard as usize], Way::There { carrier, .. } if carrier.is_lost());
        if is_lost { Err(message) } else { Ok(self.send(id, message, ask)) }
    }

    /// Sends a message if it can be accepted at once.
    pub(super) fn try_send(&self, id: EntityId, message: M) -> Result<(), TryTellError<M>> {
        let shard = self.shard_of(&id);
        let mut letter = Held { id, message, ask: None };
        loop {
            let routes = self.board.read();
            match &routes[shard as usize] {
                Way::Here { lane, tag, used } => {
                    used.mark();
                    let Held { id, message, .. } = letter;
                    return lane.try_send(Parcel { shard, tag: *tag, id, message });
                }
                Way::There { carrier, tag, used } => {
                    used.mark();
                    let mut head = [0; HEAD_MAX];
                    let length = wire::message_head(&mut head, shard, *tag, &letter.id);
                    let recipient = || self.path_of(&letter.id);
                    let head = &head[..length];
                    let outgoing = Outgoing { carrier, target: self.target, head, recipient: &recipient };
                    return outgoing.try_send(letter.message);
                }
                Way::Held(hold) => match self.hold(hold, shard, letter) {
                    Ok(tell) => return tell.at_once().unwrap_or_else(|_| Ok(())).map_err(Into::into),
                    Err(again) => letter = again,
                },
            }
        }
    }

    /// The node it would go to is lost, and the table does not say so yet: it waits for that.
    #[cold]
    fn retry(&self, letter: Held<M>) -> Tell<M> {
        match self.me.upgrade() {
            Some(me) => Tell::waiting(Box::pin(Retry::new(me, letter))),
            None => Tell::refused(TellError::Stopped(letter.message)),
        }
    }

    #[inline]
    fn send_there(&self, carrier: &Arc<dyn Carrier>, shard: u32, tag: Epoch, letter: Held<M>) -> Tell<M> {
        let mut head = [0; HEAD_MAX];
        let length = wire::message_head(&mut head, shard, tag, &letter.id);
        let Held { id, message, ask } = letter;
        let recipient = || self.path_of(&id);
        Outgoing { carrier, target: self.target, head: &head[..length], recipient: &recipient }
            .send(message, ask)
    }

    /// Holds a message that has no way; gives it back if there is one by now.
    #[cold]
    fn hold(&self, hold: &Hold<M>, shard: u32, letter: Held<M>) -> Result<Tell<M>, Held<M>> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(Tell::refused(TellError::Stopped(letter.message)));
        }
        if let Some(differs) = self.differs.get() {
            return Ok(Tell::refused(TellError::Unsendable(letter.message, differs.clone())));
        }
        let weight = weight(&letter);
        match hold.push(&self.budget, letter, weight) {
            Pushed::Waits(is_first) => {
                if is_first {
                    self.want(shard);
                }
                // It may have ended between the look and the push.
                if self.ended.load(Ordering::Relaxed) || self.differs.get().is_some() {
                    self.refuse_held();
                }
                Ok(Tell::accepted())
            }
            Pushed::Full(letter) => {
                self.counts.refuse(Why::Full, 1);
                Ok(Tell::refused(TellError::Full(letter.message)))
            }
            Pushed::Shut(letter) => Ok(Tell::refused(TellError::Stopped(letter.message))),
            Pushed::Open(letter) => Err(letter),
        }
    }

    /// Asks for an owner of that shard.
    pub(super) fn want(&self, shard: u32) {
        if let Some(shard) = self.shard_id(shard) {
            return self.sharding.errand(Errand::Tell(Input::Want(shard)));
        }
        // Said again once the type is known to the cluster; which may be so by now.
        let mut state = self.holds[shard as usize].lock();
        state.forget_wanted();
        if self.view.load().id.is_some() && state.announce() {
            drop(state);
            self.want(shard);
        }
    }

    pub(super) fn shard_id(&self, number: u32) -> Option<ShardId> {
        self.view.load().id.map(|kind| ShardId { kind, number })
    }

    pub(super) fn path_of(&self, id: &EntityId) -> String {
        format!("{}/{id}", self.kind.name)
    }

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

    pub(super) fn carrier_to(&self, uid: Uid) -> Option<Arc<dyn Carrier>> {
        let view = self.view.load();
        self.peers.to(uid, view.table.as_ref()?, self.sharding.hub())
    }

    /// Lets go what is held, one after the other; the way is published when nothing is left.
    async fn release(self: Arc<Self>, shard: u32, way: Way<M>, release: u64) {
        let hold = &self.holds[shard as usize];
        while let Some(letter) = self.next_held(hold, shard, &way, release) {
            if matches!(&way, Way::There { carrier, .. } if carrier.is_lost()) {
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
    fn next_held(&self, hold: &Hold<M>, shard: u32, way: &Way<M>, release: u64) -> Option<Held<M>> {
        match hold.next(release, &self.budget) {
            Next::Message(letter) => Some(letter),
            Next::Superseded => None,
            Next::Empty(mut state) => {
                self.board.publish([(shard, way.clone())]);
                state.open();
                None
            }
        }
    }

    async fn send_by(&self, way: &Way<M>, shard: u32, letter: Held<M>) {
        let tell = match way {
            Way::Here { lane, tag, used } => {
                used.mark();
                let Held { id, message, ask } = letter;
                lane.release(Parcel { shard, tag: *tag, id, message }, ask)
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

    /// Why nothing is taken here, if so.
    pub(super) fn refusal(&self) -> Option<String> {
        let ended = || self.ended.load(Ordering::Relaxed).then(|| "its node has ended".to_owned());
        self.differs.get().map(ToString::to_string).or_else(ended)
    }

    fn refuse_held(&self) {
        for hold in &self.holds {
            for letter in hold.take_all(&self.budget) {
                self.refuse(letter.message, Why::Ended);
            }
        }
    }

    /// Whether that entity lives here, as far as is known.
    pub(super) fn is_here(&self, id: &EntityId) -> bool {
        matches!(self.board.read()[self.shard_of(id) as usize], Way::Here { .. })
    }

    /// As who an entity counts in its system.
    pub(super) fn actor_id(&self, id: &EntityId) -> ActorId {
        resident::actor_id(resident::hash(self.target, id))
    }

    /// Counts a message that could not be taken, and drops it.
    pub(super) fn bury(&self, id: &EntityId, message: M, reason: DeadLetterReason) {
        let system = self.sharding.hub().system_handle();
        remote::bury(system, type_name::<M>(), || self.path_of(id), reason);
        self.counts.bury(reason);
        discard(message);
    }

    /// Drops a message that no handler will see; whoever asked learns it.
    pub(super) fn refuse(&self, message: M, why: Why) {
        self.counts.refuse(why, 1);
        discard(message);
    }

    pub(super) fn input(&self, shard: u32, input: impl FnOnce(ShardId) -> Input) {
        if let Some(shard) = self.shard_id(shard) {
            self.sharding.errand(Errand::Tell(input(shard)));
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

    fn stop_hosting(&self) {
        self.hosts.store(false, Ordering::Relaxed);
    }

    fn follow(&self, life: Uid, id: Option<KindId>, table: &Arc<Table>) {
        self.view.store(View { life: Some(life), id, table: Some(table.clone()) });
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
        let routes = self.board.read();
        // What is held may be on its way to whom it was opened for last.
        let used = |shard: u32| match &routes[shard as usize] {
            Way::Here { used, .. } | Way::There { used, .. } => Some(used.clone()),
            Way::Held(hold) => hold.lock().releasing().cloned(),
        };
        let ways = shards.iter().map(|shard| (*shard, used(*shard))).collect();
        drop(routes);
        // Closed before it is published: whoever comes by an old snapshot of a hold must not find it open.
        for shard in shards {
            self.holds[*shard as usize].lock().close();
        }
        let no_way = |shard: &u32| (*shard, Way::Held(self.holds[*shard as usize].clone()));
        let number = self.board.publish(shards.iter().map(no_way));
        Closing { number, ways }
    }

    fn is_quiet(&self, closing: &Closing) -> bool {
        let is_releasing = |shard: u32| self.holds[shard as usize].lock().releasing().is_some();
        !closing.ways.iter().any(|(shard, _)| is_releasing(*shard)) && self.board.is_quiet(closing.number)
    }

    fn open(&self, openings: &[Opening]) {
        let mut empty = Vec::new();
        let mut ways = Vec::new();
        for opening in openings {
            let way = self.way(opening);
            let mut state = self.holds[opening.shard as usize].lock();
            if matches!(way, Way::Held(_)) {
                continue;
            }
            if state.is_empty() {
                ways.push((opening.shard, way));
                empty.push(state);
                continue;
            }
            let (shard, release) = (opening.shard, state.release(way.used()));
            if let Some(me) = self.me.upgrade() {
                self.sharding.runtime().spawn(me.release(shard, way, release));
            }
        }
        // All under their locks: nobody can be held by a shard that has a way.
        self.board.publish(ways);
        for mut state in empty {
            state.open();
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
            let head = Head { target: self.target, ask: None };
            self.sharding.runtime().spawn(carrier.send(head, wire::put_barrier(&barrier)));
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
        self.budget.held() == 0 && self.forwards.is_empty() && Arc::strong_count(&self.ending) == 1
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

    fn held(&self) -> usize {
        self.budget.held()
    }

    fn stats(&self, depth: Depth) -> Pin<Box<dyn Future<Output = KindStats> + Send + '_>> {
        Box::pin(self.take_stats(depth))
    }

    fn inlet(&self, carrier: Arc<dyn Carrier>) -> Box<dyn Inlet> {
        match self.me.upgrade() {
            Some(me) => Box::new(KindInlet::new(me, carrier)),
            None => unreachable!("it is called through itself"),
        }
    }
}

/// How many bytes a message takes while it is held.
fn weight<M: Message>(letter: &Held<M>) -> usize {
    // User code: one that panics weighs what is known of every message.
    size_of::<Held<M>>() + letter.id.len() + resident::catch(|| weigh(&letter.message)).unwrap_or(0)
}
