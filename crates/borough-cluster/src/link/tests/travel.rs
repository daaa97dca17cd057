//! Refs, replies and watches that travel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use borough_actor::{
    Actor, ActorRef, AskError, Context, DeadLetterReason, Fault, LookupError, Reply, StopReason,
};
use borough_protocol::incarnation::Uid;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::rig::{Note, Place, place, soon};
use crate::transport::memory::MemoryNetwork;

/// An actor with a small mailbox that handles a message only when it is allowed to, and counts.
pub(super) fn stuck(place: &Place) -> (Arc<AtomicU64>, Arc<Semaphore>) {
    struct Stuck(Arc<AtomicU64>, Arc<Semaphore>);
    impl Actor for Stuck {
        type Msg = u64;
        async fn receive(&mut self, number: u64, _: &mut Context<Self>) -> Result<(), Fault> {
            self.1.acquire().await.map_err(|error| Fault::new(error.to_string()))?.forget();
            assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), number);
            Ok(())
        }
    }
    let (count, allowed) = (Arc::new(AtomicU64::new(0)), Arc::new(Semaphore::new(0)));
    let make = {
        let (count, allowed) = (count.clone(), allowed.clone());
        move || Stuck(count.clone(), allowed.clone())
    };
    let actor = place.system.actor(make).name("stuck").spawn().unwrap();
    place.hub.exports().expose(&actor).unwrap();
    (count, allowed)
}

#[tokio::test(start_paused = true)]
async fn a_ref_inside_a_message_works_on_a_third_node() {
    let network = MemoryNetwork::new(11);
    let (a, b, c) = (place(&network, 1).await, place(&network, 2).await, place(&network, 3).await);
    b.keeper();
    let kept_by_c = c.keeper();
    soon(kept_by_c.tell(Note::Keep(33))).await.unwrap();
    let (of_b, of_c) = (a.keeper_of(&b).await, a.keeper_of(&c).await);
    // A asks B, which passes the reply on to C, which answers A.
    let kept = soon(of_b.ask(|reply| Note::PassOn(of_c.clone(), reply))).await.unwrap();
    assert_eq!(kept, [33]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_comes_home_answers_the_ask_it_was_made_for() {
    let network = MemoryNetwork::new(12);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let own = a.keeper();
    soon(own.tell(Note::Keep(1))).await.unwrap();
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let kept = soon(of_b.ask(|reply| Note::PassOn(own.clone(), reply))).await.unwrap();
    assert_eq!(kept, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_to_an_actor_and_an_adapted_one_can_travel() {
    let network = MemoryNetwork::new(13);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let (count, allowed) = stuck(&a);
    allowed.add_permits(10);
    let counter: ActorRef<u64> = a.system.lookup("/stuck").unwrap();
    soon(of_b.tell(Note::Kept(Reply::to_actor(counter).adapt(|kept: Vec<u64>| kept.len() as u64))))
        .await
        .unwrap();
    soon(async {
        while count.load(Ordering::Relaxed) < 1 {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_dropped_there_fails_the_ask_here_at_once() {
    let network = MemoryNetwork::new(14);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let failed = soon(of_b.ask(Note::Forget).timeout(Duration::from_secs(3600))).await.unwrap_err();
    assert!(matches!(failed, AskError::NoAnswer { .. }), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn an_ask_to_an_actor_that_is_gone_fails_at_once_and_was_not_handled() {
    let network = MemoryNetwork::new(15);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let keeper = b.keeper();
    let of_b = a.keeper_of(&b).await;
    keeper.stop();
    soon(keeper.stopped()).await;
    let failed = soon(of_b.ask(Note::Kept).timeout(Duration::from_secs(3600))).await.unwrap_err();
    assert!(matches!(failed, AskError::Discarded { .. }) && !failed.may_have_been_handled(), "{failed}");
    assert_eq!(b.system.dead_letters().count(DeadLetterReason::Stopped), 1);
}

#[tokio::test(start_paused = true)]
async fn work_whose_asker_gave_up_is_dropped_unhandled_and_counted() {
    let network = MemoryNetwork::new(16);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    soon(of_b.tell(Note::Busy(1000))).await.unwrap();
    let late = of_b.ask(Note::Ignore).timeout(Duration::from_millis(100)).await.unwrap_err();
    assert!(matches!(late, AskError::Timeout { accepted: true, .. }), "{late}");
    soon(of_b.ask(Note::Kept)).await.unwrap();
    assert_eq!(b.system.dead_letters().count(DeadLetterReason::AskerGone), 1);
}

#[tokio::test(start_paused = true)]
async fn an_actor_there_is_watched_until_it_stops() {
    let network = MemoryNetwork::new(17);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let (watcher, subject) = (a.keeper(), b.keeper());
    let of_b = a.keeper_of(&b).await;
    soon(watcher.tell(Note::Watch(of_b.clone()))).await.unwrap();
    soon(watcher.ask(Note::Kept)).await.unwrap();
    soon(of_b.ask(Note::Kept)).await.unwrap();
    subject.stop();
    let gone = soon(watcher.ask(Note::Gone)).await.unwrap();
    assert_eq!(gone.as_deref(), Some("node-2:1/keeper Some(Requested)"));
}

#[tokio::test(start_paused = true)]
async fn that_an_actor_is_gone_is_said_again_after_a_lane_was_given_up() {
    let network = MemoryNetwork::new(22);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let (watcher, subject) = (a.keeper(), b.keeper());
    let of_b = a.keeper_of(&b).await;
    soon(watcher.tell(Note::Watch(of_b.clone()))).await.unwrap();
    soon(watcher.ask(Note::Kept)).await.unwrap();
    soon(of_b.ask(Note::Kept)).await.unwrap();
    network.cut(&b.me.address, &a.me.address);
    subject.stop();
    let told = tokio::spawn(async move { watcher.ask(Note::Gone).timeout(Duration::from_secs(600)).await });
    for _ in 0..120 {
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!told.is_finished(), "nothing comes through");
    }
    network.heal_all();
    let gone = soon(told).await.unwrap().unwrap();
    assert_eq!(gone.as_deref(), Some("node-2:1/keeper Some(Requested)"));
}

#[tokio::test(start_paused = true)]
async fn an_actor_of_a_life_that_ended_unnoticed_is_gone() {
    let network = MemoryNetwork::new(24);
    let (a, b) = (place(&network, 1).await, place(&network, 2002).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let stopped = of_b.stopped();
    soon(of_b.ask(Note::Kept)).await.unwrap();
    // Everything is acknowledged; nothing is left to say when the connection breaks.
    tokio::time::advance(Duration::from_secs(5)).await;
    b.hub.end_life();
    b.myself.begin(Uid::new(3002).unwrap());
    b.hub.begin_life();
    assert_eq!(soon(stopped).await.reason, Some(StopReason::NodeLost));
}

#[tokio::test(start_paused = true)]
async fn one_that_is_no_member_and_cannot_be_reached_counts_as_gone() {
    let network = MemoryNetwork::new(25);
    let (a, b) = (place(&network, 1).await, place(&network, 2005).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let stopped = of_b.stopped();
    soon(of_b.ask(Note::Kept)).await.unwrap();
    network.refuse(&a.me.address, &b.me.address);
    network.reset(&a.me.address, &b.me.address);
    let stopped = timeout(Duration::from_secs(120), stopped).await.unwrap();
    assert_eq!(stopped.reason, Some(StopReason::NodeLost));
    assert!(of_b.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn a_type_with_an_endless_name_is_looked_up_like_any_other() {
    type Nested = Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Note>>>>>>>>>>>>>>>>;
    type Long = (Nested, Nested, Nested, Nested);
    assert!(std::any::type_name::<Long>().len() > 512);
    let network = MemoryNetwork::new(23);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    b.keeper();
    let other = soon(a.hub.look_up::<Long>(&b.me, "/keeper")).await.unwrap().unwrap_err();
    assert!(matches!(other, LookupError::OtherMessages { .. }), "{other}");
    let path = "x".repeat(2000);
    let not_found = soon(a.hub.look_up::<Note>(&b.me, &path)).await.unwrap().unwrap_err();
    assert!(matches!(not_found, LookupError::NotFound { .. }), "{not_found}");
}

#[tokio::test(start_paused = true)]
async fn an_actor_on_a_node_that_is_lost_is_gone() {
    let network = MemoryNetwork::new(18);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let watcher = a.keeper();
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    soon(watcher.tell(Note::Watch(of_b.clone()))).await.unwrap();
    soon(watcher.ask(Note::Kept)).await.unwrap();
    let stopped = of_b.stopped();
    a.hub.close(b.me.uid);
    assert_eq!(soon(stopped).await.reason, Some(StopReason::NodeLost));
    let gone = soon(watcher.ask(Note::Gone)).await.unwrap();
    assert_eq!(gone.as_deref(), Some("node-2:1/keeper Some(NodeLost)"));
    // Watched only now, it is gone already.
    assert_eq!(soon(of_b.stopped()).await.reason, Some(StopReason::NodeLost));
}

#[tokio::test(start_paused = true)]
async fn an_actor_there_can_be_stopped_from_here() {
    let network = MemoryNetwork::new(19);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let keeper = b.keeper();
    let of_b = a.keeper_of(&b).await;
    for number in 0..100 {
        soon(of_b.tell(Note::Keep(number))).await.unwrap();
    }
    of_b.stop_when_drained();
    assert_eq!(soon(of_b.stopped()).await.reason, Some(StopReason::Requested));
    assert!(keeper.is_stopped());
    assert_eq!(b.system.dead_letters().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_ref_that_comes_back_to_its_own_node_is_local_again() {
    let network = MemoryNetwork::new(20);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    b.keeper();
    let of_b = a.keeper_of(&b).await;
    let told: ActorRef<Note> = soon(of_b.ask(Note::Whoami)).await.unwrap();
    assert_eq!(told, of_b);
    let own = a.keeper();
    soon(of_b.tell(Note::Watch(own.clone()))).await.unwrap();
    soon(of_b.ask(Note::Kept)).await.unwrap();
    // The watch itself is on its way back: what is asked after it comes after it.
    let back: ActorRef<Note> = soon(b.hub.look_up(&a.me, "/keeper")).await.unwrap().unwrap();
    soon(back.ask(Note::Kept)).await.unwrap();
    own.stop();
    let gone = soon(of_b.ask(Note::Gone)).await.unwrap();
    assert_eq!(gone.as_deref(), Some("node-1:1/keeper Some(Requested)"));
}

#[tokio::test(start_paused = true)]
async fn only_what_was_exposed_is_found_and_only_with_its_own_messages() {
    let network = MemoryNetwork::new(21);
    let (a, b) = (place(&network, 1).await, place(&network, 2).await);
    let secret = b.system.actor(super::rig::Keeper::default).name("secret").spawn().unwrap();
    b.keeper();
    let not_found = soon(a.hub.look_up::<Note>(&b.me, "/secret")).await.unwrap().unwrap_err();
    assert_eq!(not_found, LookupError::NotFound { path: "node-2:1/secret".into() });
    let other = soon(a.hub.look_up::<u64>(&b.me, "/keeper")).await.unwrap().unwrap_err();
    assert!(other.to_string().contains("takes") && other.to_string().contains("u64"), "{other}");
    drop(secret);
}
