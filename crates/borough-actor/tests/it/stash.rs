//! A7: putting messages aside and taking them back.

use std::time::Duration;

use borough_actor::{ActorRef, AskError, DeadLetterReason, Fault, StashFull, System};
use tokio::time::timeout;

use crate::puppet::{Log, Order, Puppet, act, call, hold};
use crate::support::eventually;

/// An order to put `order` aside.
fn stash(order: Order) -> Order {
    act(move |_, ctx| ctx.stash(order).map_err(|_| Fault::new("the stash is full")))
}

fn unstash_all() -> Order {
    act(|_, ctx| {
        ctx.unstash_all();
        Ok(())
    })
}

async fn stashed(puppet: &ActorRef<Order>) -> usize {
    call(puppet, |_, ctx| ctx.stashed()).await
}

#[tokio::test]
async fn stashed_messages_come_back_in_the_order_they_were_put_aside() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for n in 0..10 {
        puppet.tell(stash(Order::Note(n))).await.unwrap();
    }
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    puppet.tell(unstash_all()).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn stashed_messages_come_back_in_front_of_those_that_wait() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for order in [stash(Order::Note(1)), stash(Order::Note(2)), unstash_all(), Order::Note(3), Order::Note(4)]
    {
        puppet.try_tell(order).unwrap();
    }
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_message_may_be_put_aside_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    puppet.tell(stash(stash(Order::Note(1)))).await.unwrap();
    puppet.tell(unstash_all()).await.unwrap();
    assert_eq!(stashed(&puppet).await, 1);
    puppet.tell(unstash_all()).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_full_stash_gives_the_message_back() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let given_back = call(&puppet, |_, ctx| {
        for n in 0..1024 {
            assert!(ctx.stash(Order::Note(n)).is_ok());
        }
        ctx.stash(Order::Note(1024))
    })
    .await;
    assert!(matches!(given_back, Err(StashFull(Order::Note(1024)))));
    assert_eq!(stashed(&puppet).await, 1024);
}

#[tokio::test]
async fn a_stash_that_was_emptied_has_room_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for n in 0..3000_u64 {
        puppet.tell(stash(Order::Note(n))).await.unwrap();
        if n % 1000 == 999 {
            puppet.tell(unstash_all()).await.unwrap();
        }
    }
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), (0..3000).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_ask_put_aside_is_answered_when_it_comes_back() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let (answer, ()) = tokio::join!(puppet.ask(|reply| stash(Order::Notes(reply))), async {
        puppet.tell(Order::Note(1)).await.unwrap();
        puppet.tell(unstash_all()).await.unwrap();
    });
    assert_eq!(answer.unwrap(), [1]);
}

#[tokio::test(start_paused = true)]
async fn an_ask_put_aside_whose_asker_gave_up_is_dropped_and_counted() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let asked = puppet
        .ask(|reply: borough_actor::Reply<()>| {
            stash(act(move |puppet, _| {
                puppet.notes.push(1);
                reply.send(());
                Ok(())
            }))
        })
        .timeout(Duration::from_millis(50))
        .await;
    assert!(matches!(asked, Err(AskError::Timeout { .. })), "{asked:?}");
    assert_eq!(stashed(&puppet).await, 1);
    puppet.tell(unstash_all()).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 1);
}

/// What is put aside need not be the message of the turn: here it is work left over from an ask
/// that is answered in the same turn.
#[tokio::test]
async fn a_message_of_ones_own_put_aside_in_the_turn_of_an_ask_outlives_the_ask() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    // Somebody else has given up an ask that waits at somebody else: no affair of this actor.
    let busy = system.spawn(Puppet::new("busy", &log).maker());
    let _gate = hold(&busy);
    assert!(timeout(Duration::ZERO, busy.ask(Order::Notes)).await.is_err());
    assert!(call(&puppet, |_, ctx| ctx.stash(Order::Note(1)).is_ok()).await);
    puppet.tell(unstash_all()).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
}

#[tokio::test]
async fn what_is_put_aside_becomes_dead_letters_when_the_actor_stops() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let (asked, ()) = tokio::join!(puppet.ask(|reply| stash(Order::Notes(reply))), async {
        puppet.tell(stash(Order::Note(1))).await.unwrap();
        eventually_stashed(&puppet, 2).await;
        puppet.stop();
    });
    assert!(matches!(asked, Err(AskError::Discarded { .. })), "{asked:?}");
    puppet.stopped().await;
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 2);
}

async fn eventually_stashed(puppet: &ActorRef<Order>, count: usize) {
    while stashed(puppet).await < count {}
}

#[tokio::test]
async fn unstash_all_without_a_stash_does_nothing() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    puppet.tell(unstash_all()).await.unwrap();
    puppet.tell(Order::Note(1)).await.unwrap();
    eventually("the actor goes on", || log.has("p 1")).await;
    assert_eq!(stashed(&puppet).await, 0);
}
