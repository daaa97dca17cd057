//! The way to one life of one peer: two lanes, what is watched by them, and what is looked up.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use borough_actor::remote::{
    self, AnswerGate, Carrier, Exports, Head, Home, Inlet, Interruption, Lost, Sending, Unsent, WatchAway,
};
use borough_actor::{ActorId, DeadLetterReason, LookupError, StopReason, SystemHandle};
use borough_protocol::incarnation::Incarnation;
use borough_wire::codec::{CodecId, Codecs};
use borough_wire::frame::{Frame, put_answer, put_ask, put_chunks, put_tell};
use borough_wire::limits::{
    ANSWERS_FULL, ANSWERS_MAX, FRAME_MAX_RANGE, Limits, NOTICES_MAX, PATH_MAX, Sizes, TEXT_MAX,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::codes;
use super::outbound::{NoWay, Outbound, Owner};
use super::queue::{Enter, Queue, Refused};
use super::{Dial, Dialler, Hub};
use crate::door::seldom::Seldom;
use crate::door::{Connection, Lane};

/// What a message's head takes at most, beside its body.
const HEAD_MAX: usize = 64;

/// See the module.
pub(crate) struct Link {
    number: u32,
    peer: Incarnation,
    hub: Arc<Hub>,
    /// The same, as the actors' side wants it.
    home: Arc<dyn Home>,
    runtime: Handle,
    dialler: Arc<dyn Dialler>,
    messages: Arc<Outbound>,
    answers: Arc<Outbound>,
    lost: AtomicBool,
    codec: AtomicU8,
    /// What the peer can decode; everything, until it has said so.
    codecs: AtomicU8,
    frame_max: AtomicUsize,
    own_frame_max: usize,
    message_max: AtomicUsize,
    unacked_max: usize,
    watches: Mutex<Watches>,
    lookups: Mutex<BTreeMap<u64, oneshot::Sender<Result<u64, LookupError>>>>,
    last_lookup: AtomicU64,
    /// How often the peer left no room for what it should know.
    deaf: Seldom,
    /// Itself, for the tasks it starts.
    me: Weak<Link>,
}

#[derive(Default)]
struct Watches {
    /// Actors there that are watched from here.
    ours: BTreeMap<u64, Ours>,
    /// Actors here that are watched from there: the peer's watch, its target, and the watch here.
    theirs: BTreeMap<u64, (u64, u64)>,
    /// What the peer was told of them, and may not have heard: said again if the lane is given up.
    told: VecDeque<(u64, u8)>,
}

/// How many words about actors that are gone are kept until they have arrived. Beyond it the oldest are as good as heard: they
/// were said long before the lane broke.
const TOLD_KEPT: usize = 4096;

struct Ours {
    target: u64,
    by: Option<ActorId>,
    watcher: WatchAway,
}

/// A number that no other carrier of this process has.
pub(crate) fn next_number() -> u32 {
    /// Carriers and ask tables are told apart by numbers; these count from the other end.
    static LAST: AtomicU32 = AtomicU32::new(u32::MAX);
    LAST.fetch_sub(1, Ordering::Relaxed)
}

impl Link {
    pub(super) fn new(hub: &Arc<Hub>, peer: Incarnation, limits: &Limits, codec: CodecId) -> Arc<Self> {
        let queue = || Queue::new(limits.queue_messages, limits.queue_bytes);
        let answers = queue().with_gate(ANSWERS_FULL, AnswerGate::new(&hub.system, peer.uid.get()));
        Arc::new_cyclic(|me| Self {
            number: next_number(),
            peer,
            hub: hub.clone(),
            home: hub.clone(),
            runtime: hub.runtime.clone(),
            dialler: hub.dialler.clone(),
            messages: Arc::new(Outbound::new(Lane::Messages, queue())),
            answers: Arc::new(Outbound::new(Lane::Answers, answers)),
            lost: AtomicBool::new(false),
            codec: AtomicU8::new(codec.number()),
            codecs: AtomicU8::new(u8::MAX),
            // Until the peer has said what it takes, what every node takes.
            frame_max: AtomicUsize::new(*FRAME_MAX_RANGE.start()),
            own_frame_max: limits.frame_max,
            message_max: AtomicUsize::new(limits.message_max),
            unacked_max: limits.unacked_max,
            watches: Mutex::default(),
            lookups: Mutex::default(),
            last_lookup: AtomicU64::new(0),
            deaf: Seldom::default(),
            me: me.clone(),
        })
    }

    pub(super) fn system(&self) -> &SystemHandle {
        &self.hub.system
    }

    pub(super) fn exports(&self) -> &Arc<Exports> {
        &self.hub.exports
    }

    /// The way in for what this peer sends to a type of entities.
    pub(super) fn inlet_of_kind(&self, target: u64) -> Option<Box<dyn Inlet>> {
        let me: Arc<dyn Carrier> = self.me.upgrade()?;
        self.hub.inlet_of_kind(target, me)
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            frame_max: self.frame_max.load(Ordering::Relaxed),
            message_max: self.message_max.load(Ordering::Relaxed),
        }
    }

    #[inline]
    fn started<'a>(&self, lane: &'a Arc<Outbound>) -> &'a Outbound {
        if lane.begins() {
            self.begin(lane.clone());
        }
        lane
    }

    #[cold]
    fn begin(&self, lane: Arc<Outbound>) {
        if let Some(me) = self.me.upgrade() {
            drop(self.runtime.spawn(lane.run(me, self.me.clone())));
        }
    }

    /// Says something that does not wait for room, on the lane of messages.
    fn post(&self, frame: Frame<'_>) {
        let put = |out: &mut Vec<u8>| put_own(out, frame);
        let pushed = self.started(&self.messages).queue.push_beyond(NOTICES_MAX, 0, put);
        if pushed == Err(Refused::Full)
            && let Some(left_out) = self.deaf.happened()
        {
            tracing::warn!(peer = %self.peer, left_out, "peer does not read the message lane: a control message for it was dropped");
        }
    }

    /// Says something that is no answer on the lane of answers: small, and not held up by those.
    fn notify(&self, put: impl FnOnce(&mut Vec<u8>)) {
        let pushed = self.started(&self.answers).queue.push_beyond(ANSWERS_MAX + NOTICES_MAX, 0, put);
        if pushed == Err(Refused::Full)
            && let Some(left_out) = self.deaf.happened()
        {
            tracing::warn!(peer = %self.peer, left_out, "peer does not read the answer lane: a control message for it was dropped");
        }
    }

    /// Asks for the actor that is exposed at that path.
    pub(super) async fn look_up(&self, path: &str, type_name: &str) -> Option<Result<u64, LookupError>> {
        let request = self.last_lookup.fetch_add(1, Ordering::Relaxed) + 1;
        let (tell, found) = oneshot::channel();
        self.lookups().insert(request, tell);
        let _forget = Forget { link: self, request };
        if self.is_lost() {
            return None;
        }
        if path.len() > PATH_MAX {
            return Some(Err(LookupError::NotFound { path: path.to_owned() }));
        }
        self.post(Frame::LookUp { request, type_name: &shortened(type_name), path });
        found.await.ok()
    }

    /// The peer asks for an actor that is exposed here.
    pub(super) fn look_up_for_peer(&self, request: u64, type_name: &str, path: &str) {
        let found = self.exports().named(path, |takes| shortened(takes) == type_name);
        let (outcome, target, text) = match &found {
            Ok(target) => (codes::FOUND, *target, "".into()),
            Err(LookupError::OtherMessages { takes, .. }) => (codes::OTHER_MESSAGES, 0, shortened(takes)),
            Err(_) => (codes::NOT_FOUND, 0, "".into()),
        };
        self.notify(|out| put_own(out, Frame::Found { request, outcome, target, text: &text }));
    }

    /// The peer found the actor, or not.
    pub(super) fn found(&self, request: u64, outcome: u8, target: u64, text: &str) {
        let Some(asker) = self.lookups().remove(&request) else { return };
        let found = match outcome {
            codes::FOUND => Ok(target),
            codes::OTHER_MESSAGES => Err(LookupError::OtherMessages {
                path: String::new(),
                takes: text.to_owned().into(),
                wanted: "".into(),
            }),
            _ => Err(LookupError::NotFound { path: String::new() }),
        };
        let _ = asker.send(found);
    }

    /// The peer watches an actor here.
    pub(super) fn watched_by_peer(&self, target: u64, watch: u64) {
        let Some(export) = self.exports().find(target) else { return self.tell_gone(watch, None) };
        let me = self.me.clone();
        // Noted first: the actor may be gone at once. Said twice it is one watch.
        match self.watches().theirs.entry(watch) {
            Entry::Occupied(_) => return,
            Entry::Vacant(vacant) => drop(vacant.insert((target, 0))),
        }
        let here = export.watch(Box::new(move |gone| {
            let Some(link) = me.upgrade() else { return };
            // A lock that lasts no longer than the look.
            let was_watched = link.watches().theirs.remove(&watch).is_some();
            if was_watched {
                link.tell_gone(watch, gone.reason);
            }
        }));
        if let Some(kept) = self.watches().theirs.get_mut(&watch) {
            kept.1 = here;
        }
    }

    /// Tells the peer that an actor it watches is gone.
    fn tell_gone(&self, watch: u64, reason: Option<StopReason>) {
        let reason = codes::of_stop_reason(reason);
        let mut watches = self.watches();
        if self.messages.is_settled() || watches.told.len() >= TOLD_KEPT {
            // Everything has arrived; or the oldest has, long ago.
            let keep = if self.messages.is_settled() { 0 } else { TOLD_KEPT - 1 };
            let heard = watches.told.len().saturating_sub(keep);
            watches.told.drain(..heard);
        }
        watches.told.push_back((watch, reason));
        drop(watches);
        self.post(Frame::Terminated { watch, reason });
    }

    pub(super) fn unwatched_by_peer(&self, watch: u64) {
        let kept = self.watches().theirs.remove(&watch);
        if let Some((target, here)) = kept
            && let Some(export) = self.exports().find(target)
        {
            export.unwatch(here);
        }
    }

    /// Which actor here keeps that watch, if one does.
    pub(super) fn watcher(&self, watch: u64) -> Option<ActorId> {
        self.watches().ours.get(&watch)?.by
    }

    /// An actor there that is watched from here is gone.
    pub(super) fn terminated(&self, watch: u64, reason: Option<StopReason>) {
        let ours = self.watches().ours.remove(&watch);
        if let Some(ours) = ours {
            (ours.watcher)(reason);
        }
    }

    /// Whether everything that was accepted for the peer has arrived.
    pub(super) fn is_settled(&self) -> bool {
        self.messages.is_settled() && self.answers.is_settled()
    }

    /// Nothing goes to that life of the peer any more, and nothing that was asked of it is answered.
    ///
    /// It may be the control thread that says so: whoever waits is told on the actors' runtime, because that can be user code.
    pub(super) fn close(&self) {
        if self.lost.swap(true, Ordering::AcqRel) {
            return;
        }
        let waited = [(Lane::Messages, self.messages.close()), (Lane::Answers, self.answers.close())];
        if let Some(me) = self.me.upgrade() {
            drop(self.runtime.spawn(async move { me.tell_all_that_it_is_lost(waited) }));
        }
    }

    fn tell_all_that_it_is_lost(&self, waited: [(Lane, usize); 2]) {
        for (lane, lost) in waited {
            self.bury(lane, lost);
        }
        remote::carrier_lost(self.system(), self.number);
        self.lookups().clear();
        let watches = std::mem::take(&mut *self.watches());
        for (_, (target, here)) in watches.theirs {
            if let Some(export) = self.exports().find(target) {
                export.unwatch(here);
            }
        }
        for (_, ours) in watches.ours {
            (ours.watcher)(Some(StopReason::NodeLost));
        }
    }

    fn bury(&self, lane: Lane, lost: usize) {
        let what = if lane == Lane::Answers { remote::ANSWER } else { remote::MESSAGE };
        for _ in 0..lost {
            remote::bury(self.system(), what, || self.peer.to_string(), DeadLetterReason::NodeLost);
        }
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lookups(&self) -> MutexGuard<'_, BTreeMap<u64, oneshot::Sender<Result<u64, LookupError>>>> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that stands in line for room on the lane.
struct InLine(Enter);

impl Future for InLine {
    type Output = Result<(), Unsent>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(|_| Unsent::Lost)
    }
}

impl Sending for InLine {
    fn withdraw(mut self: Pin<Box<Self>>) -> bool {
        self.0.withdraw()
    }
}

/// Whoever looked something up waits no more.
struct Forget<'a> {
    link: &'a Link,
    request: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.link.lookups().remove(&self.request);
    }
}

/// Appends a message, in one frame or in parts.
#[inline]
fn put(out: &mut Vec<u8>, head: Head, body: &[u8], frame_max: usize) {
    if body.len() + HEAD_MAX > frame_max {
        return put_in_parts(out, head, body, frame_max);
    }
    match head.ask {
        None => put_tell(out, head.target, head.codec, body),
        Some((ask, left)) => put_ask(out, head.target, ask, head.codec, Some(milliseconds(left)), body),
    }
}

#[cold]
fn put_in_parts(out: &mut Vec<u8>, head: Head, body: &[u8], frame_max: usize) {
    let mut whole = Vec::with_capacity(body.len() + HEAD_MAX);
    put(&mut whole, head, body, usize::MAX);
    put_chunks(out, &whole[4..], frame_max);
}

/// Appends a frame that we made ourselves.
fn put_own(out: &mut Vec<u8>, frame: Frame<'_>) {
    if let Err(error) = frame.put(out) {
        tracing::error!(%error, "a frame of our own cannot be written");
    }
}

/// A type's name as it travels: of deeply nested types the beginning, and a number made of all of it.
fn shortened(type_name: &str) -> Cow<'_, str> {
    if type_name.len() <= TEXT_MAX {
        return type_name.into();
    }
    // FNV-1a, written down here because both nodes must agree on it for ever.
    let number = type_name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let fits = (0..=TEXT_MAX - 17).rev().find(|end| type_name.is_char_boundary(*end));
    format!("{}#{number:016x}", &type_name[..fits.unwrap_or(0)]).into()
}

fn milliseconds(left: Duration) -> u32 {
    u32::try_from(left.as_millis()).unwrap_or(u32::MAX)
}

impl Carrier for Link {
    fn number(&self) -> u32 {
        self.number
    }

    fn home(&self) -> &Arc<dyn Home> {
        &self.home
    }

    fn uid(&self) -> u64 {
        self.peer.uid.get()
    }

    fn address(&self) -> &str {
        self.peer.address.as_str()
    }

    #[inline]
    fn codec(&self) -> CodecId {
        CodecId::from_number(self.codec.load(Ordering::Relaxed)).unwrap_or(CodecId::Postcard)
    }

    #[inline]
    fn reads(&self, codec: CodecId) -> bool {
        Codecs::from_mask(self.codecs.load(Ordering::Relaxed)).contains(codec)
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    #[inline]
    fn try_send(&self, head: Head, body: &[u8]) -> Result<(), Unsent> {
        let sizes = self.sizes();
        if body.len() + HEAD_MAX > sizes.message_max {
            return Err(Unsent::TooLarge { size: body.len(), max: sizes.message_max - HEAD_MAX });
        }
        let lane = self.started(&self.messages);
        let pushed = lane.queue.push(|out| put(out, head, body, sizes.frame_max));
        pushed.map_err(|refused| if refused == Refused::Full { Unsent::Full } else { Unsent::Lost })
    }

    fn send(self: Arc<Self>, head: Head, body: Vec<u8>) -> Pin<Box<dyn Sending>> {
        let mut frame = Vec::with_capacity(body.len() + HEAD_MAX);
        put(&mut frame, head, &body, self.sizes().frame_max);
        Box::pin(InLine(self.started(&self.messages).queue.clone().enter(frame)))
    }

    fn say(&self, head: Head, body: &[u8]) {
        let frame_max = self.sizes().frame_max;
        self.notify(|out| put(out, head, body, frame_max));
    }

    fn answer(&self, ask: u64, codec: CodecId, body: &[u8]) -> Result<(), Unsent> {
        let sizes = self.sizes();
        if body.len() + HEAD_MAX > sizes.message_max {
            return Err(Unsent::TooLarge { size: body.len(), max: sizes.message_max - HEAD_MAX });
        }
        let put = |out: &mut Vec<u8>| {
            if body.len() + HEAD_MAX <= sizes.frame_max {
                return put_answer(out, ask, codec, body);
            }
            let mut whole = Vec::with_capacity(body.len() + HEAD_MAX);
            put_answer(&mut whole, ask, codec, body);
            put_chunks(out, &whole[4..], sizes.frame_max);
        };
        let pushed = self.started(&self.answers).queue.push_beyond(ANSWERS_MAX, 1, put);
        let posted =
            pushed.map_err(|refused| if refused == Refused::Full { Unsent::Full } else { Unsent::Lost });
        if posted == Err(Unsent::Full) {
            let peer = || self.peer.to_string();
            remote::bury(self.system(), remote::ANSWER, peer, DeadLetterReason::Overflow);
        }
        posted
    }

    fn lose(&self, ask: u64, why: Lost) {
        self.notify(|out| put_own(out, Frame::Lost { ask, why: codes::of_lost(why) }));
    }

    fn interrupt(&self, target: u64, what: Interruption) {
        self.post(Frame::Interrupt { target, what: codes::of_interruption(what) });
    }

    fn watch(&self, target: u64, watch: u64, by: Option<ActorId>, watcher: WatchAway) {
        self.watches().ours.insert(watch, Ours { target, by, watcher });
        if self.is_lost() {
            return self.terminated(watch, Some(StopReason::NodeLost));
        }
        self.post(Frame::Watch { target, watch });
    }

    fn unwatch(&self, target: u64, watch: u64) {
        if self.watches().ours.remove(&watch).is_some() {
            self.post(Frame::Unwatch { target, watch });
        }
    }
}

impl Dial for Link {
    fn dial(
        &self,
        lane: Lane,
        session: u64,
    ) -> Pin<Box<dyn Future<Output = Result<Connection, NoWay>> + Send + '_>> {
        self.dialler.dial(&self.peer, lane, session)
    }

    fn unacked_max(&self) -> usize {
        self.unacked_max
    }
}

impl Owner for Link {
    fn peer_is_gone(&self) -> bool {
        if self.hub.is_member(self.peer.uid) {
            // The cluster will say so, if it is true.
            return false;
        }
        self.hub.close(self.peer.uid);
        self.close();
        true
    }

    fn expects(&self) -> bool {
        !self.watches().ours.is_empty()
    }

    fn given_up(&self, lane: Lane, lost: usize) {
        self.bury(lane, lost);
        if self.is_lost() {
            return;
        }
        if !self.hub.is_member(self.peer.uid) {
            // Nobody will ever say that it was removed.
            tracing::warn!(peer = %self.peer, lost, "one that is no member cannot be reached; it counts as gone");
            self.hub.close(self.peer.uid);
            return self.close();
        }
        tracing::warn!(peer = %self.peer, ?lane, lost, "a peer cannot be reached; what was on its way is lost");
        if lane == Lane::Answers {
            return;
        }
        remote::carrier_lost(self.system(), self.number);
        // What is watched, and what was said of those that are gone, is said again in the session to come.
        let watches = self.watches();
        let subjects: Vec<_> = watches.ours.iter().map(|(watch, ours)| (ours.target, *watch)).collect();
        let told: Vec<_> = watches.told.iter().copied().collect();
        drop(watches);
        for (target, watch) in subjects {
            self.post(Frame::Watch { target, watch });
        }
        for (watch, reason) in told {
            self.post(Frame::Terminated { watch, reason });
        }
    }

    fn connected(&self, connection: &Connection) {
        let frame_max = usize::try_from(connection.frame_max).unwrap_or(usize::MAX);
        self.frame_max.store(frame_max.min(self.own_frame_max), Ordering::Relaxed);
        let message_max = usize::try_from(connection.message_max).unwrap_or(usize::MAX);
        self.message_max.fetch_min(message_max, Ordering::Relaxed);
        self.codecs.store(connection.codecs, Ordering::Relaxed);
        if !self.reads(self.codec()) {
            tracing::error!(peer = %self.peer, codec = %self.codec(), "a peer cannot read this codec: build it in there; postcard is used");
            self.codec.store(CodecId::Postcard.number(), Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.peer)
    }
}
