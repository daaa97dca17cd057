//! One type of entities on this node: its ways, its holds, its lanes; and the way of a message that is sent.

use std::any::type_name;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use borough_actor::remote::{self, Carrier, Head, Message, Outgoing};
use borough_actor::resident::{self, Asked, discard};
use borough_actor::{
    ActorId, DeadLetterReason, EntityId, HoldFull, Tell, TellError, TryTellError, Unsendable,
};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::allocation::Custom;
use borough_protocol::sharding::region::{Input, Pace};
use borough_protocol::sharding::{Epoch, Kind, ShardId};
use borough_wire::codec::CodecId;

use super::Sharding;
use super::counts::{Counts, Why};
use super::crowd::Crowd;
use super::desk::Errand;
use super::forward::{Forwards, LostForward, ReportLost};
use super::hold::{Budget, Held, Hold, Limit, Pushed};
use super::host::{Lane, Parcel, PolledApart};
use super::peers::Peers;
use super::retry::Retry;
use super::routes::{Board, Way};
use super::settings::{Fence, ShardBy};
use super::view::{Outlook, View};
use super::weigh::weigh;
use super::wire;

/// See the module.
pub(super) struct KindCore<M: Message> {
    pub(super) kind: Arc<Kind>,
    pub(super) shard_by: ShardBy,
    pub(super) target: u64,
    /// How its messages and states are encoded.
    pub(super) codec: CodecId,
    pub(super) sharding: Arc<Sharding>,
    pub(super) board: Board<M>,
    /// Entities that have as many messages waiting as they may, here or on other nodes, and who waits for them here.
    pub(super) crowd: Arc<Crowd<Held<M>>>,
    pub(super) holds: Box<[Arc<Hold<M>>]>,
    pub(super) budget: Budget,
    /// Set once the lanes are made; none for a proxy.
    lanes: OnceLock<Box<[Lane<M>]>>,
    pub(super) hosts: AtomicBool,
    pub(super) pace: Pace,
    pub(super) view: Outlook,
    pub(super) peers: Peers,
    pub(super) forwards: Forwards,
    pub(super) fence: Option<Arc<dyn Fence>>,
    pub(super) strategy: Option<Custom>,
    pub(super) counts: Counts,
    /// For types whose turns run in tasks of their own.
    pub(super) polled_apart: PolledApart,
    pub(super) ended: AtomicBool,
    /// As many others have it as entities are ending.
    pub(super) ending: Arc<()>,
    /// In which setting the cluster has agreed on something else.
    pub(super) differs: OnceLock<Unsendable>,
    pub(super) me: Weak<Self>,
}

/// What a type is started with.
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) codec: CodecId,
    pub(super) shard_by: ShardBy,
    pub(super) hosts: bool,
    /// How long its shards may take to move away from here.
    pub(super) pace: Pace,
    pub(super) hold_limit: Limit,
    pub(super) fence: Option<Arc<dyn Fence>>,
    pub(super) strategy: Option<Custom>,
}

impl<M: Message> KindCore<M> {
    pub(super) fn new(sharding: Arc<Sharding>, plan: Plan) -> Arc<Self> {
        let Plan { kind, codec, shard_by, hosts, pace, hold_limit, fence, strategy } = plan;
        let holds: Box<[_]> = (0..kind.shards).map(|_| Arc::new(Hold::new())).collect();
        Arc::new_cyclic(|me| Self {
            target: wire::target(&kind.name),
            codec,
            board: Board::new(&holds),
            crowd: Arc::default(),
            holds,
            budget: Budget::new(hold_limit),
            lanes: OnceLock::new(),
            hosts: AtomicBool::new(hosts),
            pace,
            view: Outlook::default(),
            peers: Peers::new(codec),
            forwards: Forwards::new(sharding.runtime().clone(), hold_limit.messages, report_lost(me)),
            fence,
            strategy,
            counts: Counts::default(),
            polled_apart: PolledApart::default(),
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
        self.dispatch(Held { id, message, ask }, true)
    }

    /// Sends it; if its entity is crowded, only once that has room, unless it `waits` no more.
    #[inline]
    pub(super) fn dispatch(&self, mut letter: Held<M>, waits: bool) -> Tell<M> {
        let shard = self.shard_of(&letter.id);
        loop {
            match &**self.board.read(shard) {
                Way::There { carrier, .. } if carrier.is_lost() => return self.retry(letter),
                Way::Here { .. } | Way::There { .. } if waits && self.crowd.is_crowded(shard, &letter.id) => {
                    match self.stand_in_line(shard, letter) {
                        Ok(tell) => return tell,
                        Err(again) => letter = again,
                    }
                }
                Way::Here { lane, tag, used } => {
                    used.mark();
                    let Held { id, message, ask } = letter;
                    return lane.send(Parcel { shard, tag: *tag, id, message }, ask);
                }
                Way::There { carrier, tag, used } => {
                    used.mark();
                    return self.send_there(carrier, shard, *tag, letter);
                }
                Way::Held(hold) => match self.hold(hold, shard, letter, None) {
                    Attempt::Done(tell) => return tell,
                    Attempt::Full(letter) => return self.wait_for_hold(shard, letter),
                    Attempt::Open(again) => letter = again,
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
        let is_lost = matches!(&**self.board.read(shard), Way::There { carrier, .. } if carrier.is_lost());
        if is_lost { Err(message) } else { Ok(self.send(id, message, ask)) }
    }

    /// Sends a message if it can be accepted at once.
    pub(super) fn try_send(&self, id: EntityId, message: M) -> Result<(), TryTellError<M>> {
        let shard = self.shard_of(&id);
        let mut letter = Held { id, message, ask: None };
        loop {
            match &**self.board.read(shard) {
                Way::Here { .. } | Way::There { .. } if self.crowd.is_crowded(shard, &letter.id) => {
                    return Err(TryTellError::Full(letter.message));
                }
                Way::Here { lane, tag, used } => {
                    used.mark();
                    let Held { id, message, .. } = letter;
                    return lane.try_send(Parcel { shard, tag: *tag, id, message });
                }
                Way::There { carrier, tag, used } => {
                    used.mark();
                    let Held { id, message, .. } = letter;
                    return self.outgoing(carrier, shard, *tag, &id).try_send(message);
                }
                Way::Held(hold) => match self.hold(hold, shard, letter, None) {
                    Attempt::Done(tell) => {
                        return tell.at_once().unwrap_or_else(|_| Ok(())).map_err(Into::into);
                    }
                    Attempt::Full(letter) => {
                        self.counts.refuse(Why::Full, 1);
                        return Err(TryTellError::HoldFull(letter.message, self.hold_full()));
                    }
                    Attempt::Open(again) => letter = again,
                },
            }
        }
    }

    /// Whether messages for that shard go to that life of a node.
    pub(super) fn leads_to(&self, shard: u32, uid: u64) -> bool {
        let is_shard = shard < self.kind.shards;
        is_shard && matches!(&**self.board.read(shard), Way::There { carrier, .. } if carrier.uid() == uid)
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
    pub(super) fn send_there(
        &self,
        carrier: &Arc<dyn Carrier>,
        shard: u32,
        tag: Epoch,
        letter: Held<M>,
    ) -> Tell<M> {
        let Held { id, message, ask } = letter;
        self.outgoing(carrier, shard, tag, &id).send(message, ask)
    }

    /// How a message for that entity leaves for the node that has its shard by that tag.
    #[inline]
    pub(super) fn outgoing<'a>(
        &'a self,
        carrier: &'a Arc<dyn Carrier>,
        shard: u32,
        tag: Epoch,
        id: &'a EntityId,
    ) -> Outgoing<'a, impl Fn(&mut Vec<u8>) + 'a, impl Fn() -> String + 'a> {
        let head = move |out: &mut Vec<u8>| wire::put_message_head(out, shard, tag, id);
        Outgoing { carrier, target: self.target, head, recipient: move || self.path_of(id) }
    }

    /// Why a message is not held: as much is as may be.
    fn hold_full(&self) -> HoldFull {
        let Limit { messages, bytes } = self.budget.limit;
        HoldFull::new(self.kind.name.to_string(), messages, bytes)
    }

    /// Holds a message that has no way, if there is none by now and there is room. `ticket`: of who waited for that.
    #[cold]
    pub(super) fn hold(
        &self,
        hold: &Hold<M>,
        shard: u32,
        letter: Held<M>,
        ticket: Option<u64>,
    ) -> Attempt<M> {
        if self.ended.load(Ordering::Relaxed) {
            return Attempt::Done(Tell::refused(TellError::Stopped(letter.message)));
        }
        if let Some(differs) = self.differs.get() {
            return Attempt::Done(Tell::refused(TellError::Unsendable(letter.message, differs.clone())));
        }
        let weight = weight(&letter);
        match hold.push(&self.budget, letter, weight, ticket) {
            Pushed::Waits(is_first) => {
                if is_first {
                    self.want(shard);
                }
                // It may have ended between the look and the push.
                if self.ended.load(Ordering::Relaxed) || self.differs.get().is_some() {
                    self.refuse_held();
                }
                Attempt::Done(Tell::accepted())
            }
            Pushed::Full(letter) => Attempt::Full(letter),
            Pushed::Shut(letter) => Attempt::Done(Tell::refused(TellError::Stopped(letter.message))),
            Pushed::Open(letter) => Attempt::Open(letter),
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

    /// What stands before barriers and parts, which are our own and in no codec.
    pub(super) fn head(&self) -> Head {
        Head { target: self.target, codec: self.codec, ask: None }
    }

    pub(super) fn path_of(&self, id: &EntityId) -> String {
        format!("{}/{id}", self.kind.name)
    }

    pub(super) fn carrier_to(&self, uid: Uid) -> Option<Arc<dyn Carrier>> {
        let view = self.view.load();
        self.peers.to(uid, view.table.as_ref()?, self.sharding.hub())
    }

    /// Why nothing is taken here, if so.
    pub(super) fn refusal(&self) -> Option<String> {
        let ended = || self.ended.load(Ordering::Relaxed).then(|| "its node has ended".to_owned());
        self.differs.get().map(ToString::to_string).or_else(ended)
    }

    pub(super) fn refuse_held(&self) {
        self.budget.line.wake_all();
        for hold in &self.holds {
            for letter in hold.take_all(&self.budget) {
                self.refuse(letter.message, Why::Ended);
            }
        }
    }

    /// Whether that entity lives here, as far as is known.
    pub(super) fn is_here(&self, id: &EntityId) -> bool {
        matches!(&**self.board.read(self.shard_of(id)), Way::Here { .. })
    }

    /// As who an entity counts in its system.
    pub(super) fn actor_id(&self, id: &EntityId) -> ActorId {
        resident::actor_id(resident::hash(self.target, id))
    }

    /// Counts a message that could not be taken, and drops it.
    pub(super) fn bury(&self, id: &EntityId, message: M, reason: DeadLetterReason) {
        self.note_dead_letter(id, reason);
        discard(message);
    }

    /// A message for that entity is a dead letter; it was dropped before, or is held by somebody else.
    fn note_dead_letter(&self, id: &EntityId, reason: DeadLetterReason) {
        let system = self.sharding.hub().system_handle();
        remote::bury(system, type_name::<M>(), || self.path_of(id), reason);
        self.counts.bury(reason);
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

/// What becomes of messages that were to be sent on to a node, and whose way was lost first. An asker learns it from the table.
fn report_lost<M: Message>(kind: &Weak<KindCore<M>>) -> ReportLost {
    let kind = kind.clone();
    Arc::new(move |LostForward { id, is_ask }| {
        let Some(kind) = kind.upgrade() else { return };
        kind.counts.refuse(Why::Unforwarded, 1);
        if !is_ask {
            kind.note_dead_letter(&id, DeadLetterReason::NodeLost);
        }
    })
}

/// What came of holding a message.
pub(super) enum Attempt<M> {
    /// It is held, or refused.
    Done(Tell<M>),
    /// There is no room.
    Full(Held<M>),
    /// There is a way by now.
    Open(Held<M>),
}

/// How many bytes a message takes while it is held.
pub(super) fn weight<M: Message>(letter: &Held<M>) -> usize {
    // User code: one that panics weighs what is known of every message.
    size_of::<Held<M>>() + letter.id.len() + resident::catch(|| weigh(&letter.message)).unwrap_or(0)
}
