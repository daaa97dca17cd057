//! What a hostile reader tried: quiet times, slow links, full links, panics, wrong answers at the door.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_actor::{Actor, ActorRef, AskError, Context, Fault, Reply};
use borough_protocol::incarnation::{Address, Uid};
use borough_wire::limits::Limits;
use serde::{Deserialize, Deserializer, Serialize};

use super::rig::{Note, Place, pass, place, place_on, place_with, soon};
use super::travel::stuck;
use crate::link::queue::{Batch, Queue};
use crate::transport::memory::MemoryNetwork;
use crate::transport::tls::TlsTransport;
use crate::transport::tls::authority::Authority;

#[tokio::test(start_paused = true)]
async fn one_reset_after_a_quiet_time_loses_nothing() {
    let network = MemoryNetwork::new(1);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    // Somebody watches, so the lane is connected again at once.
    tokio::spawn(keeper.stopped());
    pass(Duration::from_secs(1)).await;
    network.reset(&here.me.address, &there.me.address);
    // All is well for a minute.
    pass(Duration::from_secs(60)).await;
    network.delay(&here.me.address, &there.me.address, Duration::from_secs(1)..=Duration::from_secs(1));
    soon(keeper.tell(Note::Keep(1))).await.unwrap();
    pass(Duration::from_millis(100)).await;
    network.heal_all();
    network.reset(&here.me.address, &there.me.address);
    let kept = soon(keeper.ask(Note::Kept).timeout(Duration::from_secs(20))).await.unwrap();
    assert_eq!(kept, [1]);
}

#[tokio::test(start_paused = true)]
async fn an_ask_under_way_survives_a_reset_after_a_quiet_time() {
    let network = MemoryNetwork::new(1);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    tokio::spawn(keeper.stopped());
    let asked = tokio::spawn({
        let keeper = keeper.clone();
        async move { keeper.ask(Note::Ignore).timeout(Duration::from_secs(3600)).await }
    });
    pass(Duration::from_secs(1)).await;
    network.reset(&here.me.address, &there.me.address);
    pass(Duration::from_secs(60)).await;
    network.reset(&here.me.address, &there.me.address);
    pass(Duration::from_secs(1)).await;
    assert!(!asked.is_finished(), "{:?}", asked.await.unwrap().map(|_| ()));
}

#[tokio::test(start_paused = true)]
async fn a_large_message_arrives_by_a_slow_link() {
    let network = MemoryNetwork::new(2);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    network.slow(&here.me.address, &there.me.address, 500_000);
    soon(keeper.tell(Note::Load(vec![7; 7_000_000]))).await.unwrap();
    let loaded = keeper.ask(Note::Loaded).timeout(Duration::from_secs(300)).await.unwrap();
    assert_eq!(loaded, 7_000_000);
}

#[tokio::test]
async fn one_who_was_let_in_is_not_told_that_it_was_refused() {
    let queue = Arc::new(Queue::new(1, 1000));
    queue.push(|out| out.push(1)).unwrap();
    let mut entering = Box::pin(queue.enter(vec![2]));
    assert!(futures_now(entering.as_mut()).is_none());
    let mut batch = Batch::default();
    queue.take(&mut batch);
    let mut batch = Batch::default();
    queue.take(&mut batch);
    assert_eq!(batch.bytes, [2], "it is written");
    queue.close();
    assert_eq!(futures_now(entering.as_mut()), Some(Ok(())));
}

fn futures_now<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match future.poll(&mut cx) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_to_an_actor_survives_a_full_link() {
    let network = MemoryNetwork::new(5);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    let (count, allowed) = stuck(&here);
    allowed.add_permits(10);
    let counter: ActorRef<u64> = here.system.lookup("/stuck").unwrap();
    network.cut(&here.me.address, &there.me.address);
    while keeper.try_tell(Note::Load(vec![0; 10_000])).is_ok() {
        tokio::task::yield_now().await;
    }
    let reply = Reply::to_actor(counter).adapt(|_: Vec<u64>| 0);
    let waiting = tokio::spawn({
        let keeper = keeper.clone();
        async move { keeper.tell(Note::Kept(reply)).await.is_ok() }
    });
    pass(Duration::from_millis(100)).await;
    network.heal_all();
    assert!(soon(waiting).await.unwrap());
    pass(Duration::from_secs(10)).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reply_in_a_message_to_one_who_is_gone_is_let_go() {
    let network = MemoryNetwork::new(5);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    let theirs = there.keeper();
    let keeper = here.keeper_of(&there).await;
    theirs.stop();
    theirs.stopped().await;
    let (_count, _allowed) = stuck(&here);
    let counter: ActorRef<u64> = here.system.lookup("/stuck").unwrap();
    let held = Arc::new(());
    let weak = Arc::downgrade(&held);
    let reply = Reply::to_actor(counter).adapt(move |_: Vec<u64>| {
        drop(held);
        0
    });
    soon(keeper.tell(Note::Kept(reply))).await.unwrap();
    pass(Duration::from_secs(3600)).await;
    assert!(weak.upgrade().is_none(), "its place in the table is never free again");
}

/// Cannot be read.
struct Bad;
impl Serialize for Bad {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        7_u8.serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for Bad {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("a bug in somebody's Deserialize")
    }
}

#[derive(Serialize, Deserialize)]
enum Want {
    Bad(Reply<Bad>),
    Good(Reply<u64>),
}

struct Giver;
impl Actor for Giver {
    type Msg = Want;
    async fn receive(&mut self, want: Want, _: &mut Context<Self>) -> Result<(), Fault> {
        match want {
            Want::Bad(reply) => reply.send(Bad),
            Want::Good(reply) => reply.send(1),
        }
        Ok(())
    }
}

fn giver(place: &Place) {
    let actor = place.system.actor(|| Giver).name("giver").spawn().unwrap();
    place.hub.exports().expose(&actor).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_decoding_panics_harms_no_other() {
    let network = MemoryNetwork::new(6);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    giver(&there);
    let giver: ActorRef<Want> = soon(here.hub.look_up(&there.me, "/giver")).await.unwrap().unwrap();
    let failed = giver.ask(Want::Bad).await.map(|_| ()).unwrap_err();
    let good = giver.ask(Want::Good).await;
    assert!(matches!(failed, AskError::Unreadable { .. }), "{failed}; and then {good:?}");
    assert_eq!(good.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_full_actor_does_not_keep_others_from_hearing_who_is_gone() {
    let network = MemoryNetwork::new(7);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    let theirs = there.keeper();
    let keeper = here.keeper_of(&there).await;
    let (_count, _allowed) = stuck(&here);
    let to_stuck: ActorRef<u64> = soon(there.hub.look_up(&here.me, "/stuck")).await.unwrap().unwrap();
    let gone = tokio::spawn(keeper.stopped());
    for number in 0..2000 {
        soon(to_stuck.tell(number)).await.unwrap();
    }
    pass(Duration::from_secs(1)).await;
    theirs.stop();
    assert!(tokio::time::timeout(Duration::from_secs(600), gone).await.is_ok(), "the watch never fires");
}

#[tokio::test(start_paused = true)]
async fn readers_of_a_peer_that_was_cut_off_and_closed_end() {
    let network = MemoryNetwork::new(10);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    here.keeper();
    let keeper = there.keeper_of(&here).await;
    soon(keeper.ask(Note::Kept)).await.unwrap();
    pass(Duration::from_secs(5)).await;
    network.cut(&here.me.address, &there.me.address);
    network.cut(&there.me.address, &here.me.address);
    pass(Duration::from_secs(5)).await;
    let link = here.hub.link(&there.me);
    here.hub.close(there.me.uid);
    pass(Duration::from_millis(1)).await;
    pass(Duration::from_secs(3600)).await;
    // One is ours, one may be kept by this thread for the next passage.
    assert!(
        Arc::strong_count(&link) <= 2,
        "{} hold the link of a life that is over",
        Arc::strong_count(&link)
    );
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_reaches_a_node_with_smaller_frames() {
    let network = MemoryNetwork::new(11);
    let limits = Limits { frame_max: 4096, ..Limits::default() };
    let (here, there) = (place_with(&network, 1, limits).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    for number in 0..10_000 {
        soon(keeper.tell(Note::Keep(number))).await.unwrap();
    }
    // The lookup's answer has made the lane of answers known; another peer's would not.
    let kept = keeper.ask(Note::Kept).timeout(Duration::from_secs(60)).await.unwrap();
    assert_eq!(kept.len(), 10_000);
}

/// Gives away a ref.
struct Holder(ActorRef<Note>);
impl Actor for Holder {
    type Msg = Reply<ActorRef<Note>>;
    async fn receive(&mut self, reply: Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(self.0.clone());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_first_message_reaches_a_node_with_smaller_frames() {
    let network = MemoryNetwork::new(11);
    let limits = Limits { frame_max: 4096, ..Limits::default() };
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let c = place_with(&network, 3, limits).await;
    c.keeper();
    // A has C's ref from B and never spoke to C before.
    let b_of_c = b.keeper_of(&c).await;
    let own = b.keeper();
    drop(own);
    let holder = b.system.actor(move || Holder(b_of_c.clone())).name("holder").spawn().unwrap();
    b.hub.exports().expose(&holder).unwrap();
    let holder: ActorRef<Reply<ActorRef<Note>>> =
        soon(a.hub.look_up(&b.me, "/holder")).await.unwrap().unwrap();
    let keeper = soon(holder.ask(|reply| reply)).await.unwrap();
    soon(keeper.tell(Note::Load(vec![7; 100_000]))).await.unwrap();
    let loaded = keeper.ask(Note::Loaded).timeout(Duration::from_secs(60)).await.unwrap();
    assert_eq!(loaded, 100_000);
}

#[tokio::test(start_paused = true)]
async fn actors_of_two_systems_in_one_process_have_numbers_of_their_own() {
    let network = MemoryNetwork::new(17);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let (of_a, of_b) = (a.keeper(), b.keeper());
    assert_ne!(b.hub.exports().export(&of_a), b.hub.exports().export(&of_b));
}

async fn tls_place(network: &MemoryNetwork, number: u64, authority: &Authority) -> Place {
    let tls = TlsTransport::new(
        Arc::new(network.transport(Address::new(format!("node-{number}:1")))),
        &authority.tls(&format!("node-{number}")),
    )
    .unwrap();
    place_on(Arc::new(tls), number, Limits::default()).await
}

#[tokio::test(start_paused = true)]
async fn the_tail_of_a_burst_leaves_at_once_with_tls() {
    let network = MemoryNetwork::new(15);
    let authority = Authority::new();
    let here = tls_place(&network, 1, &authority).await;
    let there = tls_place(&network, 2, &authority).await;
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    pass(Duration::from_secs(1)).await;
    for size in [60_000, 64_000, 66_000, 70_000, 80_000, 100_000, 130_000] {
        let begun = tokio::time::Instant::now();
        let mut ask =
            Box::pin(keeper.ask(|reply| Note::Pour(vec![7; size], reply)).timeout(Duration::from_secs(60)));
        let poured = (&mut ask).await.unwrap();
        assert_eq!(poured, size);
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(1), "{size} bytes took {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_wrong_answer_at_the_door_does_not_shut_out_a_healthy_peer() {
    let network = MemoryNetwork::new(16);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    pass(Duration::from_secs(1)).await;
    // Somebody else answers at that address, once: nobody has proved anything.
    there.myself.begin(Uid::new(77).unwrap());
    network.reset(&here.me.address, &there.me.address);
    let _ = keeper.tell(Note::Keep(1)).await;
    pass(Duration::from_millis(50)).await;
    there.myself.begin(there.me.uid);
    pass(Duration::from_secs(60)).await;
    let found = here.hub.look_up::<Note>(&there.me, "/keeper").await;
    assert!(found.is_some(), "a member that lives is lost for as long as this node lives");
}

/// Whether something is being read that takes its time.
static IS_BEING_READ: AtomicBool = AtomicBool::new(false);

/// Takes its time to be read.
struct Slow;
impl Serialize for Slow {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        7_u8.serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for Slow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer)?;
        IS_BEING_READ.store(true, Ordering::Release);
        let (_keep, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(Duration::from_secs(3));
        Ok(Self)
    }
}
struct Taker;
impl Actor for Taker {
    type Msg = Slow;
    async fn receive(&mut self, _: Slow, _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_the_control_thread_calls_does_not_wait_for_user_code() {
    let network = MemoryNetwork::new(20);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    let actor = there.system.actor(|| Taker).name("taker").spawn().unwrap();
    there.hub.exports().expose(&actor).unwrap();
    let taker: ActorRef<Slow> = soon(here.hub.look_up(&there.me, "/taker")).await.unwrap().unwrap();
    taker.tell(Slow).await.unwrap();
    soon(async {
        while !IS_BEING_READ.load(Ordering::Acquire) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let begun = std::time::Instant::now();
    there.hub.close(here.me.uid);
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn many_in_line_are_let_in_one_after_the_other() {
    let queue = Arc::new(Queue::new(1, 1_000_000));
    queue.push(|out| out.push(1)).unwrap();
    let mut entering: Vec<_> = (0..10_000).map(|_| Box::pin(queue.enter(vec![2]))).collect();
    for one in &mut entering {
        assert!(futures_now(one.as_mut()).is_none());
    }
    let turned_away = entering.split_off(9000);
    for one in &mut entering {
        queue.take(&mut Batch::default());
        assert_eq!(futures_now(one.as_mut()), Some(Ok(())));
    }
    queue.clear();
    for mut one in turned_away {
        assert!(matches!(futures_now(one.as_mut()), Some(Err(_))));
    }
}

#[derive(Serialize, Deserialize)]
enum Two {
    Both(Reply<u64>, Never),
}
struct Never;
impl Serialize for Never {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        7_u8.serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("never"))
    }
}
struct Both;
impl Actor for Both {
    type Msg = Two;
    async fn receive(&mut self, Two::Both(reply, _): Two, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(1);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_decoded_there_was_not_handled() {
    let network = MemoryNetwork::new(28);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    let actor = there.system.actor(|| Both).name("both").spawn().unwrap();
    there.hub.exports().expose(&actor).unwrap();
    let both: ActorRef<Two> = soon(here.hub.look_up(&there.me, "/both")).await.unwrap().unwrap();
    let failed = soon(both.ask(|reply| Two::Both(reply, Never))).await.unwrap_err();
    assert!(matches!(failed, AskError::Discarded { .. }), "{failed}");
}
