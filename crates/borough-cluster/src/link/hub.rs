//! What the links of a node share: who is linked, whose lanes come in, who is gone.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use borough_actor::remote::{Carrier, Exports, Home, Inlet, Message, actor_at};
use borough_actor::{ActorRef, LookupError, SystemHandle};
use borough_protocol::incarnation::{Address, Incarnation, Uid};
use borough_wire::codec::CodecId;
use borough_wire::limits::Limits;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use super::peer::Link;
use super::session::Session;
use super::{Dialler, inbound};
use crate::door::{Admission, Connection, Guest, Lane, NotAdmitted};
use crate::myself::Myself;
use crate::sharding::Sharding;

/// How many removed lives are remembered; older ones are refused by their own cluster's door.
const REMOVED_KEPT: usize = 4096;
/// How long a node that leaves waits for what it said to arrive, and how often it looks.
const SETTLE_TIME: Duration = Duration::from_secs(2);
const SETTLE_LOOK: Duration = Duration::from_millis(20);
/// How long a life that is no member may be silent before what is kept of it is let go, and how often that is looked at.
const STRANGER_TIME: Duration = Duration::from_secs(60);
const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// Says whether that life is a member of the cluster, as far as this node knows.
pub(crate) type Members = Box<dyn Fn(Uid) -> bool + Send + Sync>;

/// What the links of a node share.
pub(crate) struct Hub {
    pub(super) system: SystemHandle,
    pub(super) exports: Arc<Exports>,
    myself: Myself,
    pub(super) runtime: Handle,
    pub(super) dialler: Arc<dyn Dialler>,
    limits: Limits,
    codec: CodecId,
    members: Members,
    last_ticket: AtomicU64,
    /// How many times sessions were ended of which something may still arrive.
    ending: Arc<AtomicUsize>,
    sharding: OnceLock<Weak<Sharding>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    links: BTreeMap<Uid, Arc<Link>>,
    sessions: BTreeMap<(Uid, Lane), Arc<Session>>,
    /// Lives that are no members, and since when they are silent.
    strangers: BTreeMap<Uid, Instant>,
    removed: HashSet<Uid>,
    /// In the order they were removed.
    removals: VecDeque<Uid>,
    /// One life of the node is over, and the next has not begun.
    is_between_lives: bool,
    /// The node itself is gone.
    ended: bool,
}

impl Hub {
    /// The links of the node that `myself` is; its lanes run on `runtime`.
    pub(crate) fn new(
        system: SystemHandle,
        myself: Myself,
        runtime: Handle,
        dialler: Arc<dyn Dialler>,
        limits: Limits,
        codec: CodecId,
        members: Members,
    ) -> Arc<Self> {
        let exports = Arc::default();
        Arc::new(Self {
            system,
            exports,
            myself,
            runtime,
            dialler,
            limits,
            codec,
            members,
            last_ticket: AtomicU64::new(0),
            ending: Arc::default(),
            sharding: OnceLock::new(),
            state: Mutex::default(),
        })
    }

    /// From now on types of entities take what peers send to them.
    pub(crate) fn take_sharding(&self, sharding: Weak<Sharding>) {
        let _ = self.sharding.set(sharding);
    }

    /// The types of entities of this node.
    pub(crate) fn sharding(&self) -> Option<Arc<Sharding>> {
        self.sharding.get()?.upgrade()
    }

    pub(super) fn inlet_of_kind(&self, target: u64, from: Arc<dyn Carrier>) -> Option<Box<dyn Inlet>> {
        self.sharding()?.inlet(target, from)
    }

    /// The system whose actors are linked.
    pub(crate) fn system_handle(&self) -> &SystemHandle {
        &self.system
    }

    /// How messages are encoded unless their type says otherwise.
    pub(crate) fn codec(&self) -> CodecId {
        self.codec
    }

    pub(super) fn is_member(&self, uid: Uid) -> bool {
        (self.members)(uid)
    }

    /// Which actors other nodes may reach.
    pub(crate) fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    /// The link to that life.
    pub(crate) fn link(self: &Arc<Self>, peer: &Incarnation) -> Arc<Link> {
        let mut state = self.lock();
        if let Some(link) = state.links.get(&peer.uid) {
            return link.clone();
        }
        let link = Link::new(self, peer.clone(), &self.limits, self.codec);
        let is_over = state.ended || state.is_between_lives || state.removed.contains(&peer.uid);
        if is_over || peer.uid == self.myself.uid() {
            drop(state);
            link.close();
        } else {
            state.links.insert(peer.uid, link.clone());
        }
        link
    }

    /// The actor that a peer exposes at that path. `None`: the peer is lost.
    pub(crate) async fn look_up<M: Message>(
        self: &Arc<Self>,
        peer: &Incarnation,
        path: &str,
    ) -> Option<Result<ActorRef<M>, LookupError>> {
        let link = self.link(peer);
        let wanted = std::any::type_name::<M>();
        let found = link.look_up(path, wanted).await?;
        let at = format!("{}{path}", peer.address);
        Some(found.map(|target| actor_at(link, target, path)).map_err(|error| named(error, &at, wanted)))
    }

    /// The actor that is exposed here at that path.
    pub(crate) fn look_up_here<M: Message>(&self, path: &str) -> Result<ActorRef<M>, LookupError> {
        let wanted = std::any::type_name::<M>();
        let number =
            self.exports.named(path, |takes| takes == wanted).map_err(|error| named(error, path, wanted))?;
        self.exports.actor(number).ok_or_else(|| LookupError::NotFound { path: path.to_owned() })
    }

    /// Whether a peer may come in with one of its lanes, and how many bytes of it have arrived before.
    pub(crate) fn admit(self: &Arc<Self>, guest: &Guest) -> Result<Admission, NotAdmitted> {
        let session = self.session(&guest.who, guest.lane)?;
        let ticket = self.last_ticket.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = session.begin(ticket, guest.session);
        begun.map(|resume| Admission { resume, ticket }).ok_or(NotAdmitted::TooMany)
    }

    /// It came in: reads what it has to say, on the node's runtime.
    pub(crate) fn enter(self: &Arc<Self>, connection: Connection) {
        let Connection { peer, lane, ticket, mut stream, .. } = connection;
        // Not made anew: what was admitted may be over, and this life of the node too.
        let Some(session) = self.lock().sessions.get(&(peer.uid, lane)).cloned() else { return };
        let frame_max = self.limits.frame_max;
        drop(self.runtime.spawn(async move {
            if let Err(error) = stream.rehome() {
                tracing::warn!(%peer, ?lane, %error, "a connection cannot be moved to the runtime of the node");
                return;
            }
            if let Err(broken) = inbound::run(session, ticket, stream, frame_max).await {
                tracing::warn!(%peer, ?lane, %broken, "a peer broke the rules of its lane; it is disconnected");
            }
        }));
    }

    fn session(self: &Arc<Self>, peer: &Incarnation, lane: Lane) -> Result<Arc<Session>, NotAdmitted> {
        let state = self.lock();
        if state.ended || state.removed.contains(&peer.uid) {
            return Err(NotAdmitted::Removed);
        }
        if state.is_between_lives {
            return Err(NotAdmitted::TooMany);
        }
        if let Some(session) = state.sessions.get(&(peer.uid, lane)) {
            return Ok(session.clone());
        }
        if state.sessions.len() >= self.limits.connections_max {
            return Err(NotAdmitted::TooMany);
        }
        drop(state);
        let link = self.link(peer);
        let mut state = self.lock();
        if state.ended || state.is_between_lives || state.removed.contains(&peer.uid) {
            return Err(NotAdmitted::TooMany);
        }
        let session = state.sessions.entry((peer.uid, lane));
        Ok(session.or_insert_with(|| Arc::new(Session::new(link, self.limits.message_max))).clone())
    }

    /// How many links, sessions and exported actors there are.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        let state = self.lock();
        (state.links.len(), state.sessions.len(), self.exports.len())
    }

    /// That life is over: nothing of it and nothing to it any more. Asks to it fail, watches on it fire.
    pub(crate) fn close(&self, uid: Uid) {
        let mut state = self.lock();
        if state.removed.insert(uid) {
            state.removals.push_back(uid);
        }
        if state.removals.len() > REMOVED_KEPT
            && let Some(oldest) = state.removals.pop_front()
        {
            state.removed.remove(&oldest);
        }
        let link = state.links.remove(&uid);
        let sessions = [Lane::Messages, Lane::Answers].map(|lane| state.sessions.remove(&(uid, lane)));
        drop(state);
        self.let_go(link, sessions.into_iter().flatten().collect());
    }

    /// Ends links and sessions that are in no list any more. What waits in them is user code's, so it is dropped where that runs.
    fn let_go(&self, links: impl IntoIterator<Item = Arc<Link>>, sessions: Vec<Arc<Session>>) {
        for session in &sessions {
            session.end();
        }
        for link in links {
            link.close();
        }
        let ending = self.ending.clone();
        ending.fetch_add(1, Ordering::AcqRel);
        let ended = Ended(ending);
        drop(self.runtime.spawn(async move {
            for session in sessions {
                session.clear();
            }
            drop(ended);
        }));
    }

    /// Whether nothing can come any more of those that were closed.
    pub(crate) fn is_rid_of_the_closed(&self) -> bool {
        self.ending.load(Ordering::Acquire) == 0
    }

    /// Lets go of links and sessions of lives that are no members and that nobody has heard of for a while: joins that failed, refs of the
    /// dead. Such a life may still come: it is not shut out, and what it had said counts as lost.
    fn sweep(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        let State { links, sessions, strangers, .. } = &mut *state;
        let known = links.keys().copied().chain(sessions.keys().map(|(uid, _)| *uid));
        let unknown: BTreeSet<Uid> = known.filter(|uid| !self.is_member(*uid)).collect();
        strangers.retain(|uid, _| unknown.contains(uid));
        let is_read = |uid: Uid| {
            let of_peer = sessions.range((uid, Lane::Control)..).take_while(|((other, _), _)| *other == uid);
            of_peer.into_iter().any(|(_, session)| session.is_read())
        };
        let mut over = Vec::new();
        for uid in unknown {
            let since = *strangers.entry(uid).or_insert(now);
            if is_read(uid) || links.get(&uid).is_some_and(|link| !link.is_settled()) {
                strangers.insert(uid, now);
            } else if now >= since + STRANGER_TIME {
                over.push(uid);
            }
        }
        let mut ended = (Vec::new(), Vec::new());
        for uid in over {
            strangers.remove(&uid);
            ended.0.extend(links.remove(&uid));
            ended.1.extend(
                [Lane::Messages, Lane::Answers].into_iter().filter_map(|lane| sessions.remove(&(uid, lane))),
            );
        }
        drop(state);
        if !ended.0.is_empty() || !ended.1.is_empty() {
            self.let_go(ended.0, ended.1);
        }
    }

    /// Sweeps now and then, for ever.
    pub(crate) async fn keep_house(&self) {
        loop {
            sleep(SWEEP_EVERY).await;
            self.sweep();
        }
    }

    /// Waits until everything that was accepted for peers has arrived, but not for long: some may be out of reach.
    pub(crate) async fn settle(&self) {
        let until = Instant::now() + SETTLE_TIME;
        loop {
            let links: Vec<_> = self.lock().links.values().cloned().collect();
            if Instant::now() >= until || links.iter().all(|link| link.is_settled()) {
                return;
            }
            sleep(SETTLE_LOOK).await;
        }
    }

    /// This life of the node is over: every link is closed, and nobody comes in before another life begins.
    pub(crate) fn end_life(&self) {
        let (links, sessions) = {
            let mut state = self.lock();
            state.is_between_lives = true;
            (std::mem::take(&mut state.links), std::mem::take(&mut state.sessions))
        };
        self.let_go(links.into_values(), sessions.into_values().collect());
    }

    /// Another life begins, under another uid.
    pub(crate) fn begin_life(&self) {
        self.lock().is_between_lives = false;
    }

    /// The node is gone: as [`end_life`](Self::end_life), for good.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.end_life();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sessions that were ended are cleared, or their user's code panicked meanwhile.
struct Ended(Arc<AtomicUsize>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The error of a lookup, with what was looked up.
fn named(error: LookupError, path: &str, wanted: &'static str) -> LookupError {
    let path = path.to_owned();
    match error {
        LookupError::OtherMessages { takes, .. } => {
            LookupError::OtherMessages { path, takes, wanted: wanted.into() }
        }
        _ => LookupError::NotFound { path },
    }
}

/// The actors' side reaches the hub through this.
impl Home for Hub {
    fn system(&self) -> &SystemHandle {
        &self.system
    }

    fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    fn uid(&self) -> u64 {
        self.myself.uid().get()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn carrier_to(self: Arc<Self>, uid: u64, address: &str) -> Arc<dyn Carrier> {
        let uid = Uid::new(uid).unwrap_or(Uid::STORE);
        self.link(&Incarnation { address: Address::new(address), uid })
    }
}
