//! Lanes without a cluster: what is around them is written down, and a shard moves from one to another by hand.

use std::any::Any;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;
use std::time::Duration;

use borough_actor::remote::{
    Carrier, Exports, Head, Home, Interruption, Lost, Message, Sending, Unsent, WatchAway, within,
};
use borough_actor::resident::{self, AskId, Asked, House, Recipient, Route, SystemRef};
use borough_actor::{
    Actor, ActorId, ActorRef, AskError, EntityId, IntoEntityId, Reply, System, SystemHandle, Tell,
    TryTellError,
};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::version::Version;
use borough_wire::codec::CodecId;

use super::super::{
    Barrier, Fencing, Forwarded, Lane, LaneReport, Order, Parcel, PolledApart, Settings, Sight, Surroundings,
    start,
};
use crate::sharding::crowd::{Admitted, Crowd};
use crate::sharding::hold::Held;
use crate::sharding::settings::EpochRefused;

pub(super) const SHARDS: u32 = 8;

pub(super) fn e(number: u64) -> Epoch {
    Epoch::new(number)
}

pub(super) fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

/// Waits until something holds.
pub(super) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..120_000 {
        if holds() {
            return;
        }
        let _ = tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
    }
    panic!("in vain: {what}");
}

/// A shard that was sent away: which, by which epoch, in which parts.
type Sent = (u32, Epoch, Vec<Vec<u8>>);

/// What is around the lanes of one node.
pub(super) struct Around<M> {
    system: SystemHandle,
    me: std::sync::Weak<Self>,
    lanes: OnceLock<Box<[Lane<M>]>>,
    pub(super) may_run: AtomicBool,
    pub(super) halt: Arc<AtomicBool>,
    /// The way to other nodes is full of shards that move.
    pub(super) is_busy: AtomicBool,
    crowd: Arc<Crowd<Held<M>>>,
    /// After so many more looks the lease is over.
    pub(super) looks: AtomicU64,
    waits: Mutex<Vec<Waker>>,
    pub(super) reports: Mutex<Vec<LaneReport>>,
    pub(super) forwarded: Mutex<Vec<(Epoch, Forwarded<M>)>>,
    pub(super) transfers: Mutex<Vec<Sent>>,
    pub(super) refused: AtomicU64,
    /// Whom was said that an entity has room: the life, its shard, its id, how much.
    pub(super) admitted: Mutex<Vec<(u64, u32, String, usize)>>,
    pub(super) codec: Mutex<CodecId>,
    /// What the store says when it is fenced next; without it there is no store.
    pub(super) fence: Mutex<Option<tokio::sync::oneshot::Receiver<Result<(), EpochRefused>>>>,
    /// The epochs at which the store was fenced.
    pub(super) fenced: Mutex<Vec<Epoch>>,
    carrier: Arc<dyn Carrier>,
    polled_apart: PolledApart,
}

impl<M: Message> House<M> for Around<M> {
    fn kind(&self) -> &'static str {
        "things"
    }

    fn address(&self, id: &EntityId) -> ActorRef<M> {
        resident::through(Arc::new(Way { node: self.me.upgrade().unwrap(), id: id.clone() }))
    }
}

impl<M: Message> Surroundings<M> for Around<M> {
    fn system(&self) -> &SystemHandle {
        &self.system
    }

    fn seed(&self) -> u64 {
        7
    }

    fn shards(&self) -> u32 {
        SHARDS
    }

    fn codec(&self) -> CodecId {
        *self.codec.lock().unwrap()
    }

    fn may_run(&self) -> bool {
        let looks = self.looks.load(Ordering::Acquire);
        self.looks.store(looks.saturating_sub(1), Ordering::Release);
        looks > 0 && self.may_run.load(Ordering::Acquire)
    }

    fn polled_apart(&self) -> &PolledApart {
        &self.polled_apart
    }

    fn resumed(&self, waker: &Waker) {
        self.waits.lock().unwrap().push(waker.clone());
        if self.may_run() {
            waker.wake_by_ref();
        }
    }

    fn report(&self, report: LaneReport) {
        self.reports.lock().unwrap().push(report);
    }

    fn forward(&self, _to: Uid, _shard: u32, tag: Epoch, what: Forwarded<M>) {
        self.forwarded.lock().unwrap().push((tag, what));
    }

    fn transfer(&self, _to: Uid, shard: u32, epoch: Epoch, parts: Vec<Vec<u8>>) {
        self.transfers.lock().unwrap().push((shard, epoch, parts));
    }

    fn carrier(&self, _to: Uid) -> Option<Arc<dyn Carrier>> {
        Some(self.carrier.clone())
    }

    fn refuse(&self, _id: &EntityId, message: M, _ask: Option<AskId>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        resident::discard(message);
    }

    fn halt(&self) -> Arc<AtomicBool> {
        self.halt.clone()
    }

    fn is_busy(&self, _to: Uid) -> bool {
        self.is_busy.load(Ordering::Acquire)
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn crowd(&self) -> Arc<Crowd<Held<M>>> {
        self.crowd.clone()
    }

    fn say_room(&self, shard: u32, id: &EntityId, admitted: &Admitted) {
        let told = admitted.warned.iter().map(|way| (way.uid(), shard, id.to_string(), admitted.room));
        self.admitted.lock().unwrap().extend(told);
    }

    fn ending(&self) -> Box<dyn Send> {
        Box::new(())
    }

    fn fence(&self, _shard: u32, epoch: Epoch) -> Option<Fencing> {
        let fence = self.fence.lock().unwrap().take()?;
        self.fenced.lock().unwrap().push(epoch);
        Some(Box::pin(async move {
            Ok(fence.await.map_err(|_| borough_actor::Fault::new("the store is away"))??)
        }))
    }
}

/// A node that has nothing but lanes.
pub(super) struct Node<M> {
    pub(super) around: Arc<Around<M>>,
    pub(super) lanes: Box<[Lane<M>]>,
    nonce: AtomicU64,
}

impl<M: Message> Node<M> {
    pub(super) fn new<A: Actor<Msg = M>>(system: &System, settings: Settings<A>) -> Self {
        let handle = system.handle();
        let around = Arc::new_cyclic(|me| Around {
            polled_apart: PolledApart::default(),
            carrier: Arc::new(Loop {
                home: Arc::new(Here { system: handle.clone(), exports: Arc::default() }),
            }),
            system: handle,
            me: me.clone(),
            lanes: OnceLock::new(),
            may_run: AtomicBool::new(true),
            halt: Arc::default(),
            is_busy: AtomicBool::new(false),
            crowd: Arc::default(),
            looks: AtomicU64::new(u64::MAX),
            waits: Mutex::default(),
            reports: Mutex::default(),
            forwarded: Mutex::default(),
            transfers: Mutex::default(),
            refused: AtomicU64::new(0),
            admitted: Mutex::default(),
            codec: Mutex::new(CodecId::Postcard),
            fence: Mutex::default(),
            fenced: Mutex::default(),
        });
        let lanes = start(settings, around.clone());
        let _ = around.lanes.set(lanes.clone());
        let node = Self { around, lanes, nonce: AtomicU64::new(1000) };
        node.look(1000);
        node
    }

    /// The table is newer, and epochs up to that one were handed out.
    pub(super) fn look(&self, issued: u64) {
        self.look_at(Table { issued, called_off: None });
    }

    /// The table is newer, and the move of that epoch does not take place.
    pub(super) fn look_after_call_off(&self, epoch: u64) {
        self.look_at(Table { issued: 1000, called_off: Some(e(epoch)) });
    }

    fn look_at(&self, table: Table) {
        for lane in &self.lanes {
            lane.order(Order::Look(Arc::new(table)));
        }
    }

    /// A node whose shards all run at epoch 1.
    pub(super) fn running<A: Actor<Msg = M>>(system: &System, settings: Settings<A>) -> Self {
        let node = Self::new(system, settings);
        (0..SHARDS).for_each(|shard| node.order(Order::Start { shard, epoch: e(1) }));
        node
    }

    pub(super) fn lane(&self, shard: u32) -> &Lane<M> {
        &self.lanes[shard as usize % self.lanes.len()]
    }

    pub(super) fn order(&self, order: Order) {
        self.lane(order.shard().unwrap_or(0)).order(order);
    }

    pub(super) fn send(&self, id: impl IntoEntityId, tag: u64, message: M) -> Tell<M> {
        let id = id.into_entity_id().unwrap();
        let shard = shard_of(&id);
        self.lane(shard).send(Parcel { shard, tag: e(tag), id, message }, None)
    }

    pub(super) async fn tell(&self, id: impl IntoEntityId, message: M) {
        self.send(id, 1, message).await.unwrap();
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        id: impl IntoEntityId,
        message: impl FnOnce(Reply<T>) -> M,
    ) -> Result<T, AskError> {
        self.ask_by(id, 1, message).await
    }

    pub(super) async fn ask_by<T: Send + 'static>(
        &self,
        id: impl IntoEntityId,
        tag: u64,
        message: impl FnOnce(Reply<T>) -> M,
    ) -> Result<T, AskError> {
        let id = id.into_entity_id().unwrap();
        resident::ask(Whom { node: self, id, tag }, None, message).await
    }

    pub(super) fn suspend(&self) {
        self.around.halt.store(true, Ordering::Release);
        self.around.may_run.store(false, Ordering::Release);
    }

    pub(super) fn resume(&self) {
        self.around.may_run.store(true, Ordering::Release);
        self.around.halt.store(false, Ordering::Release);
        self.around.looks.store(u64::MAX, Ordering::Release);
        self.around.waits.lock().unwrap().drain(..).for_each(Waker::wake);
    }

    pub(super) async fn reported(&self, report: LaneReport) {
        eventually(&format!("{report:?}"), || self.around.reports.lock().unwrap().contains(&report)).await;
    }

    /// Waits until everything that was sent so far was attended to.
    pub(super) async fn attended(&self) {
        for shard in 0..u32::try_from(self.lanes.len()).unwrap() {
            let nonce = self.nonce.fetch_add(1, Ordering::Relaxed);
            let barrier = Self::barrier(shard, 1, nonce);
            self.lane(shard).barrier(barrier).await;
            let around = self.around.clone();
            let is_it = move |report: &LaneReport| match report {
                LaneReport::Done(done) => *done == barrier,
                LaneReport::Broken { barrier: broken, .. } => *broken == barrier,
                _ => false,
            };
            eventually("a barrier", || around.reports.lock().unwrap().iter().any(&is_it)).await;
        }
    }

    /// Takes what was sent away in the last transfer over to another node.
    pub(super) async fn carry_to(&self, other: &Self) {
        let (shard, epoch, parts) = self.around.transfers.lock().unwrap().pop().unwrap();
        other.take_parts(shard, epoch, &parts).await;
        other.reported(LaneReport::Installed { shard, epoch }).await;
    }

    pub(super) async fn take_parts(&self, shard: u32, epoch: Epoch, parts: &[Vec<u8>]) {
        let mut inlet = self.lane(shard).inlet(self.around.carrier.clone());
        for (number, part) in parts.iter().enumerate() {
            inlet.take_part(shard, epoch, u32::try_from(number).unwrap(), number + 1 == parts.len(), part);
        }
        std::future::poll_fn(|cx| inlet.poll_flush(cx)).await;
    }

    /// Messages as if they had come from another node.
    pub(super) fn come(&self, messages: &[(&str, u64, M)]) -> Vec<super::super::LaneInlet<M>> {
        let mut inlets: Vec<_> =
            self.lanes.iter().map(|lane| lane.inlet(self.around.carrier.clone())).collect();
        for (id, tag, message) in messages {
            let mut body = Vec::new();
            within(&self.around.carrier, || CodecId::Postcard.encode(message, &mut body)).unwrap();
            let shard = shard_of(&id.into_entity_id().unwrap());
            let lanes = inlets.len();
            inlets[shard as usize % lanes].take(super::super::Came {
                shard,
                tag: e(*tag),
                id: id.as_bytes(),
                ask: None,
                codec: CodecId::Postcard,
                body: &body,
            });
        }
        inlets
    }

    pub(super) fn barrier(shard: u32, tag: u64, nonce: u64) -> Barrier {
        Barrier { shard, tag: e(tag), origin: uid(9), nonce, min_version: None }
    }
}

pub(super) fn shard_of(id: &EntityId) -> u32 {
    id.with_bytes(|id| id.iter().map(|byte| u32::from(*byte)).sum::<u32>()) % SHARDS
}

struct Whom<'a, M> {
    node: &'a Node<M>,
    id: EntityId,
    tag: u64,
}

impl<M: Message> Recipient for Whom<'_, M> {
    type Message = M;

    fn send(&self, message: M, ask: Asked) -> Tell<M> {
        let shard = shard_of(&self.id);
        let parcel = Parcel { shard, tag: e(self.tag), id: self.id.clone(), message };
        self.node.lane(shard).send(parcel, Some(ask))
    }

    fn system(&self) -> SystemRef<'_> {
        (&self.node.around.system).into()
    }

    fn id_here(&self) -> Option<ActorId> {
        Some(resident::actor_id(resident::hash(7, &self.id)))
    }

    fn path(&self) -> String {
        format!("/things/{}", self.id)
    }
}

/// A ref to an entity.
struct Way<M> {
    node: Arc<Around<M>>,
    id: EntityId,
}

impl<M: Message> Route<M> for Way<M> {
    fn send(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        let shard = shard_of(&self.id);
        let lanes = self.node.lanes.get().unwrap();
        let parcel = Parcel { shard, tag: e(1), id: self.id.clone(), message };
        lanes[shard as usize % lanes.len()].send(parcel, ask)
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        self.send(message, None).at_once().unwrap_or(Ok(())).map_err(Into::into)
    }

    fn post(&self, message: M) {
        let _ = self.try_tell(message);
    }

    fn stop_when_drained(&self) {}

    fn system(&self) -> SystemRef<'_> {
        (&self.node.system).into()
    }

    fn id(&self) -> ActorId {
        resident::actor_id(resident::hash(7, &self.id))
    }

    fn path(&self) -> String {
        format!("/things/{}", self.id)
    }

    fn is_lasting(&self) -> bool {
        true
    }
}

/// A way that leads back to the node itself.
struct Loop {
    home: Arc<dyn Home>,
}

struct Here {
    system: SystemHandle,
    exports: Arc<Exports>,
}

impl Home for Here {
    fn system(&self) -> &SystemHandle {
        &self.system
    }

    fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    fn uid(&self) -> u64 {
        2
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn carrier_to(self: Arc<Self>, _uid: u64, _address: &str) -> Arc<dyn Carrier> {
        Arc::new(Loop { home: self })
    }
}

impl Carrier for Loop {
    fn number(&self) -> u32 {
        1
    }

    fn home(&self) -> &Arc<dyn Home> {
        &self.home
    }

    fn uid(&self) -> u64 {
        2
    }

    fn address(&self) -> &'static str {
        "loop:1"
    }

    fn codec(&self) -> CodecId {
        CodecId::Postcard
    }

    fn reads(&self, _codec: CodecId) -> bool {
        true
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn try_send(&self, _head: Head, _body: &[u8]) -> Result<(), Unsent> {
        Ok(())
    }

    fn send(self: Arc<Self>, _head: Head, _body: Vec<u8>) -> Pin<Box<dyn Sending>> {
        unreachable!("nothing waits in tests")
    }

    /// What is answered to the node at the other end is answered here: it is the same.
    fn answer(&self, ask: u64, codec: CodecId, body: &[u8]) -> Result<(), Unsent> {
        let asker = borough_actor::remote::answer(self.home.system(), ask, codec, body);
        asker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn lose(&self, ask: u64, why: Lost) {
        borough_actor::remote::lose(self.home.system(), ask, why);
    }

    fn interrupt(&self, _target: u64, _what: Interruption) {}

    fn watch(&self, _target: u64, _watch: u64, _by: Option<ActorId>, _watcher: WatchAway) {}

    fn unwatch(&self, _target: u64, _watch: u64) {}
}

/// What the table says.
#[derive(Clone, Copy, Debug)]
struct Table {
    issued: u64,
    called_off: Option<Epoch>,
}

impl Sight for Table {
    fn issued(&self, _shard: u32) -> Epoch {
        e(self.issued)
    }

    fn may_come(&self, _shard: u32, epoch: Epoch) -> bool {
        self.called_off != Some(epoch)
    }

    fn version(&self) -> Version {
        Version::ZERO
    }

    fn is_member(&self, _uid: Uid) -> bool {
        true
    }
}
