//! A peer that is not there: its messages are written as it would write them, and what is said to it is kept.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use borough_actor::remote::{
    self, Carrier, Exports, Head, Home, Inlet, Interruption, Lost, Message, RUN_BYTES, RUN_MESSAGES, Sending,
    Unsent, WatchAway,
};
use borough_actor::{Actor, ActorId, ActorRef, Context, Fault, Reply, System, SystemHandle};
use borough_wire::codec::CodecId;
use borough_wire::frame::{FrameBuffer, put_ask, put_tell};
use borough_wire::limits::FRAME_MAX;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::sync::{oneshot, watch};

/// What a listener is told.
#[derive(Serialize, Deserialize)]
pub(crate) enum Word {
    Note(#[serde(deserialize_with = "counted")] u64),
    Fail,
    Panic,
    Stop,
    StopFromOutside,
    Hang,
    /// Panics as it is decoded.
    Poison(#[serde(deserialize_with = "poison")] ()),
    Answer(Asker),
    /// Put aside, and noted when it comes back.
    Stash(u64),
    Unstash,
    /// Takes so many milliseconds.
    Work(u64),
    /// After so many milliseconds, this note.
    SetTimer(u64, u64),
    #[serde(skip)]
    Hold(oneshot::Sender<()>, oneshot::Receiver<()>),
    #[serde(skip)]
    Adapter(oneshot::Sender<ActorRef<u64>>),
}

/// Who waits for an answer: an ask of the peer, and once decoded the reply to it.
pub(crate) enum Asker {
    OfPeer(u64),
    Reply(Reply<u64>),
}

/// A reply as the node that asks writes it.
#[derive(Serialize)]
struct Written {
    whose: Whose,
    ask: u64,
}

#[derive(Serialize)]
enum Whose {
    Sender,
}

impl Serialize for Asker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OfPeer(ask) => Written { whose: Whose::Sender, ask: *ask }.serialize(serializer),
            Self::Reply(reply) => reply.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Asker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Reply::deserialize(deserializer).map(Self::Reply)
    }
}

thread_local! {
    /// Each test has its thread.
    static DECODED: AtomicU64 = const { AtomicU64::new(0) };
}

fn counted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    DECODED.with(|decoded| decoded.fetch_add(1, Ordering::Relaxed));
    u64::deserialize(deserializer)
}

fn poison<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    <()>::deserialize(deserializer).map_err(|_| D::Error::custom("no poison"))?;
    panic!("poison")
}

/// What listeners have heard.
#[derive(Clone, Default)]
pub(crate) struct Said {
    notes: Arc<watch::Sender<Vec<u64>>>,
}

impl Said {
    pub(crate) fn listener(&self) -> impl FnMut() -> Listener + Send + 'static {
        DECODED.with(|decoded| decoded.store(0, Ordering::Relaxed));
        let said = self.clone();
        move || Listener { said: said.clone(), stashed: false }
    }

    pub(crate) fn all(&self) -> Vec<u64> {
        self.notes.borrow().clone()
    }

    /// How many notes were decoded on this thread.
    pub(crate) fn decoded() -> u64 {
        DECODED.with(|decoded| decoded.load(Ordering::Relaxed))
    }

    /// Waits until so much was heard.
    pub(crate) async fn until(&self, count: u64) {
        let mut heard = self.notes.subscribe();
        let enough = heard.wait_for(|notes| notes.len() as u64 >= count);
        let waited = tokio::time::timeout(Duration::from_secs(10), enough).await.map(drop);
        assert!(waited.is_ok(), "heard only {:?}", self.all());
    }

    /// Has the actor stay in a turn until the sender is used or dropped.
    pub(crate) async fn hold(&self, actor: &ActorRef<Word>) -> oneshot::Sender<()> {
        let (began, begins) = oneshot::channel();
        let (release, released) = oneshot::channel();
        actor.tell(Word::Hold(began, released)).await.unwrap();
        begins.await.unwrap();
        release
    }

    pub(crate) async fn adapter(&self, actor: &ActorRef<Word>) -> ActorRef<u64> {
        let (give, given) = oneshot::channel();
        actor.tell(Word::Adapter(give)).await.unwrap();
        given.await.unwrap()
    }

    fn note(&self, number: u64) {
        self.notes.send_modify(|notes| notes.push(number));
    }
}

/// Writes down what it hears.
pub(crate) struct Listener {
    said: Said,
    stashed: bool,
}

impl Actor for Listener {
    type Msg = Word;

    async fn receive(&mut self, word: Word, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match word {
            Word::Note(number) => self.said.note(number),
            Word::Fail => return Err(Fault::new("as told")),
            Word::Panic => panic!("as told"),
            Word::Stop => ctx.stop(),
            Word::StopFromOutside => {
                let me = ctx.self_ref();
                std::thread::spawn(move || me.stop()).join().unwrap();
            }
            Word::Hang => pending().await,
            Word::Poison(()) => return Err(Fault::new("poison is never decoded")),
            Word::Answer(Asker::Reply(reply)) => reply.send(1),
            Word::Answer(Asker::OfPeer(_)) => return Err(Fault::new("it was never sent")),
            Word::Stash(number) if self.stashed => self.said.note(number),
            Word::Stash(number) => {
                self.stashed = true;
                ctx.stash(Word::Stash(number)).unwrap();
            }
            Word::Unstash => ctx.unstash_all(),
            Word::Work(millis) => {
                tokio::time::advance(Duration::from_millis(millis)).await;
                self.said.note(0);
            }
            Word::SetTimer(millis, note) => {
                ctx.timers().once("timer", Duration::from_millis(millis), Word::Note(note));
            }
            Word::Hold(began, released) => {
                began.send(()).unwrap();
                let _ = released.await;
            }
            Word::Adapter(give) => drop(give.send(ctx.adapter(Word::Note))),
        }
        Ok(())
    }
}

/// The node that is not there, seen from a system.
pub(crate) struct Peer {
    way: Arc<Way>,
    carrier: Arc<dyn Carrier>,
}

impl Peer {
    pub(crate) fn of(system: &System) -> Self {
        let here = Here { system: system.handle(), exports: Arc::default() };
        let home: Arc<dyn Home> = Arc::new(here);
        let way = Arc::new(Way {
            home,
            lost: Mutex::default(),
            answered: Mutex::default(),
            takes_no_answers: AtomicBool::new(false),
        });
        Self { carrier: way.clone(), way }
    }

    pub(crate) fn inlet_to<M: Message>(&self, actor: &ActorRef<M>) -> Box<dyn Inlet> {
        let exports = self.way.home.exports();
        exports.find(exports.export(actor)).expect("it was exported").inlet()
    }

    /// Messages that want no answer arrive.
    pub(crate) fn tell<M: Message>(&self, inlet: &mut dyn Inlet, messages: Vec<M>) {
        self.send(inlet, messages, |_| None);
    }

    /// Messages arrive; `asked` says of each whether it is an ask: its number, and how many milliseconds its asker waits.
    pub(crate) fn send<M: Message>(
        &self,
        inlet: &mut dyn Inlet,
        messages: impl IntoIterator<Item = M>,
        asked: impl Fn(u64) -> Option<(u64, Option<u32>)>,
    ) {
        let mut bytes = Vec::new();
        for (at, message) in (0..).zip(messages) {
            let mut body = Vec::new();
            remote::within(&self.carrier, || CodecId::Postcard.encode(&message, &mut body)).unwrap();
            match asked(at) {
                None => put_tell(&mut bytes, 1, CodecId::Postcard, &body),
                Some((ask, deadline)) => put_ask(&mut bytes, 1, ask, CodecId::Postcard, deadline, &body),
            }
        }
        self.arrive(inlet, &bytes);
    }

    /// So many messages arrive that are none.
    pub(crate) fn garbage(&self, inlet: &mut dyn Inlet, count: usize) {
        let mut bytes = Vec::new();
        for _ in 0..count {
            put_tell(&mut bytes, 1, CodecId::Postcard, &[0xff; 5]);
        }
        self.arrive(inlet, &bytes);
    }

    fn arrive(&self, inlet: &mut dyn Inlet, bytes: &[u8]) {
        let mut buffer = FrameBuffer::new(FRAME_MAX);
        buffer.extend(bytes);
        remote::within(&self.carrier, || {
            while let Some(run) = buffer.next_run(RUN_MESSAGES, RUN_BYTES) {
                inlet.take_run(&run);
            }
        });
        assert_eq!(buffer.left(), 0);
    }
}

impl Peer {
    /// A reply to that ask of the peer, to be sent.
    pub(crate) fn reply(ask: u64) -> Asker {
        Asker::OfPeer(ask)
    }

    /// There is no room for answers any more.
    pub(crate) fn take_no_answers(&self) {
        self.way.takes_no_answers.store(true, Ordering::Relaxed);
    }

    /// The asks of the peer that will have no answer.
    pub(crate) fn lost(&self) -> Vec<(u64, Lost)> {
        self.way.lost.lock().unwrap().clone()
    }

    /// The asks of the peer that were answered.
    pub(crate) fn answered(&self) -> Vec<u64> {
        self.way.answered.lock().unwrap().clone()
    }
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
        1
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn carrier_to(self: Arc<Self>, _: u64, _: &str) -> Arc<dyn Carrier> {
        unreachable!("there is no third node")
    }
}

/// The way to the peer.
struct Way {
    home: Arc<dyn Home>,
    lost: Mutex<Vec<(u64, Lost)>>,
    answered: Mutex<Vec<u64>>,
    takes_no_answers: AtomicBool,
}

/// A message that nobody takes.
struct Nowhere;

impl Future for Nowhere {
    type Output = Result<(), Unsent>;

    fn poll(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Self::Output> {
        Poll::Ready(Err(Unsent::Lost))
    }
}

impl Sending for Nowhere {
    fn withdraw(self: Pin<Box<Self>>) -> bool {
        true
    }
}

impl Carrier for Way {
    fn number(&self) -> u32 {
        2
    }

    fn home(&self) -> &Arc<dyn Home> {
        &self.home
    }

    fn uid(&self) -> u64 {
        2
    }

    fn address(&self) -> &'static str {
        "peer"
    }

    fn codec(&self) -> CodecId {
        CodecId::Postcard
    }

    fn reads(&self, _: CodecId) -> bool {
        true
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn try_send(&self, _: Head, _: &[u8]) -> Result<(), Unsent> {
        Err(Unsent::Lost)
    }

    fn send(self: Arc<Self>, _: Head, _: Vec<u8>) -> Pin<Box<dyn Sending>> {
        Box::pin(Nowhere)
    }

    fn answer(&self, ask: u64, _: CodecId, _: &[u8]) -> Result<(), Unsent> {
        if self.takes_no_answers.load(Ordering::Relaxed) {
            return Err(Unsent::Full);
        }
        self.answered.lock().unwrap().push(ask);
        Ok(())
    }

    fn lose(&self, ask: u64, why: Lost) {
        self.lost.lock().unwrap().push((ask, why));
    }

    fn interrupt(&self, _: u64, _: Interruption) {}

    fn watch(&self, _: u64, _: u64, _: Option<ActorId>, _: WatchAway) {}

    fn unwatch(&self, _: u64, _: u64) {}
}
