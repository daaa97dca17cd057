//! What arrives, in which order, and what becomes of it when the network breaks.

use std::time::Duration;

use borough_actor::{AskError, DeadLetterReason, TellError, TryTellError, Unsendable};
use borough_protocol::incarnation::Uid;
use borough_wire::limits::Limits;

use super::rig::{Note, pass, place, place_with, soon};
use crate::transport::memory::MemoryNetwork;

fn numbers(up_to: u64) -> Vec<u64> {
    (0..up_to).collect()
}

#[tokio::test(start_paused = true)]
async fn messages_of_one_sender_arrive_in_order() {
    let network = MemoryNetwork::new(1);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    for number in 0..10_000 {
        soon(keeper.tell(Note::Keep(number))).await.unwrap();
    }
    assert_eq!(soon(keeper.ask(Note::Kept)).await.unwrap(), numbers(10_000));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_again_and_again_loses_nothing_and_keeps_the_order() {
    let network = MemoryNetwork::new(2);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    for number in 0..20_000 {
        soon(keeper.tell(Note::Keep(number))).await.unwrap();
        if number % 1000 == 999 {
            network.reset(&here.me.address, &there.me.address);
            tokio::task::yield_now().await;
        }
    }
    let kept = soon(keeper.ask(Note::Kept).timeout(Duration::from_secs(30))).await.unwrap();
    assert_eq!(kept, numbers(20_000));
    assert_eq!(there.system.dead_letters().total() + here.system.dead_letters().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn every_ask_has_its_own_answer_though_the_connection_breaks_again_and_again() {
    const ASKS: usize = 2000;
    let network = MemoryNetwork::new(3);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    // So slow that it breaks between some answers and others.
    network.slow(&there.me.address, &here.me.address, 50_000);
    let ask = |length| {
        let keeper = keeper.clone();
        tokio::spawn(async move {
            let ask = keeper.ask(|reply| Note::Pour(vec![7; length], reply));
            ask.timeout(Duration::from_secs(60)).await
        })
    };
    let asks: Vec<_> = (0..ASKS).map(ask).collect();
    let mut broken_amid = 0;
    for round in 0..200 {
        pass(Duration::from_millis(10 + 7 * (round % 20))).await;
        let answered = asks.iter().filter(|ask| ask.is_finished()).count();
        if answered == ASKS {
            break;
        }
        broken_amid += usize::from(answered > 0);
        network.reset(&here.me.address, &there.me.address);
    }
    assert!(broken_amid > 3, "it broke {broken_amid} times between answers");
    for (length, ask) in asks.into_iter().enumerate() {
        assert_eq!(soon(ask).await.unwrap().unwrap(), length);
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_message_travels_in_parts_and_one_beyond_the_limit_is_given_back() {
    let network = MemoryNetwork::new(3);
    let limits = Limits { frame_max: 4096, message_max: 1024 * 1024, ..Limits::default() };
    let (here, there) =
        (place_with(&network, 1, limits.clone()).await, place_with(&network, 2, limits).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    soon(keeper.tell(Note::Load(vec![7; 900_000]))).await.unwrap();
    soon(keeper.tell(Note::Keep(1))).await.unwrap();
    assert_eq!(soon(keeper.ask(Note::Loaded)).await.unwrap(), 900_000);
    assert_eq!(soon(keeper.ask(Note::Kept)).await.unwrap(), [1]);
    let refused = soon(keeper.tell(Note::Load(vec![7; 2_000_000]))).await.unwrap_err();
    assert!(matches!(
        refused,
        TellError::Unsendable(Note::Load(bytes), Unsendable::TooLarge { .. }) if bytes.len() == 2_000_000
    ));
}

#[tokio::test(start_paused = true)]
async fn a_large_message_whose_connection_breaks_in_its_middle_arrives_once() {
    let network = MemoryNetwork::new(4);
    let limits = Limits { frame_max: 4096, ..Limits::default() };
    let (here, there) =
        (place_with(&network, 1, limits.clone()).await, place_with(&network, 2, limits).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    network.slow(&here.me.address, &there.me.address, 1_000_000);
    soon(keeper.tell(Note::Load(vec![7; 3_000_000]))).await.unwrap();
    for _ in 0..2 {
        tokio::time::advance(Duration::from_millis(500)).await;
        network.reset(&here.me.address, &there.me.address);
    }
    network.heal_all();
    let loaded = soon(keeper.ask(Note::Loaded).timeout(Duration::from_secs(30))).await.unwrap();
    assert_eq!(loaded, 3_000_000);
}

#[tokio::test(start_paused = true)]
async fn senders_wait_while_the_way_is_full_and_try_tell_gives_the_message_back() {
    let network = MemoryNetwork::new(5);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    network.cut(&here.me.address, &there.me.address);
    let mut accepted = 0;
    let refused = loop {
        match keeper.try_tell(Note::Load(vec![0; 10_000])) {
            Ok(()) => accepted += 1,
            Err(refused) => break refused,
        }
        tokio::task::yield_now().await;
        assert!(accepted < 10_000, "nothing holds the sender up");
    };
    assert!(matches!(refused, TryTellError::Full(Note::Load(_))));
    let waiting = keeper.tell(Note::Keep(1));
    let mut waiting = Box::pin(waiting);
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut waiting).await.is_err());
    network.heal_all();
    soon(waiting).await.unwrap();
    assert_eq!(soon(keeper.ask(Note::Kept)).await.unwrap(), [1]);
    assert_eq!(soon(keeper.ask(Note::Loaded)).await.unwrap(), accepted * 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_gone_fails_asks_at_once_and_gives_tells_back() {
    let network = MemoryNetwork::new(6);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    let asked = tokio::spawn({
        let keeper = keeper.clone();
        async move { keeper.ask(Note::Ignore).timeout(Duration::from_secs(3600)).await }
    });
    soon(keeper.ask(Note::Kept)).await.unwrap();
    here.hub.close(there.me.uid);
    let failed = soon(asked).await.unwrap().unwrap_err();
    assert!(matches!(&failed, AskError::NodeLost { sent: true, .. }), "{failed}");
    assert!(failed.may_have_been_handled());
    assert!(matches!(soon(keeper.tell(Note::Keep(5))).await, Err(TellError::NodeLost(Note::Keep(5)))));
    let refused = soon(keeper.ask(Note::Kept)).await.unwrap_err();
    assert!(matches!(&refused, AskError::NodeLost { sent: false, .. }) && !refused.may_have_been_handled());
    assert!(keeper.is_stopped());
    // Two were refused; two that had arrived were not acknowledged yet, and may have been lost for all that is known here.
    assert_eq!(here.system.dead_letters().count(DeadLetterReason::NodeLost), 4);
}

#[tokio::test(start_paused = true)]
async fn another_life_at_the_same_address_gets_nothing_meant_for_the_one_before() {
    let network = MemoryNetwork::new(7);
    let (here, there) = (place(&network, 1).await, place(&network, 2002).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    soon(keeper.ask(Note::Kept)).await.unwrap();
    network.refuse(&here.me.address, &there.me.address);
    network.reset(&here.me.address, &there.me.address);
    soon(keeper.tell(Note::Keep(1))).await.unwrap();
    there.leave().await;
    let again = place(&network, 102).await;
    let new_keeper = again.keeper();
    network.heal_all();
    let failed = soon(keeper.ask(Note::Kept)).await.unwrap_err();
    assert!(matches!(failed, AskError::NodeLost { .. }), "{failed}");
    assert_eq!(soon(new_keeper.ask(Note::Kept)).await.unwrap(), [0; 0]);
    let found = here.keeper_of(&again).await;
    soon(found.tell(Note::Keep(2))).await.unwrap();
    assert_eq!(soon(found.ask(Note::Kept)).await.unwrap(), [2]);
}

#[tokio::test(start_paused = true)]
async fn between_two_lives_of_a_node_nobody_comes_in_and_the_next_gets_nothing_of_the_one_before() {
    let network = MemoryNetwork::new(10);
    let (here, there) = (place(&network, 1).await, place(&network, 2002).await);
    let keeper_there = there.keeper();
    let keeper = here.keeper_of(&there).await;
    soon(keeper.ask(Note::Kept)).await.unwrap();
    there.hub.end_life();
    soon(keeper.tell(Note::Keep(1))).await.unwrap();
    tokio::time::advance(Duration::from_secs(2)).await;
    there.myself.begin(Uid::new(1002).unwrap());
    there.hub.begin_life();
    let failed = soon(keeper.ask(Note::Kept)).await.unwrap_err();
    assert!(matches!(failed, AskError::NodeLost { .. }), "{failed}");
    assert_eq!(soon(keeper_there.ask(Note::Kept)).await.unwrap(), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_out_of_reach_for_too_long_loses_what_waits_and_is_spoken_to_again_later() {
    let network = MemoryNetwork::new(8);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let keeper = here.keeper_of(&there).await;
    network.refuse(&here.me.address, &there.me.address);
    network.reset(&here.me.address, &there.me.address);
    soon(keeper.tell(Note::Keep(1))).await.unwrap();
    let failed = keeper.ask(Note::Kept).timeout(Duration::from_secs(3600)).await.unwrap_err();
    assert!(matches!(failed, AskError::NodeLost { sent: true, .. }), "{failed}");
    assert_eq!(here.system.dead_letters().count(DeadLetterReason::NodeLost), 2);
    network.heal_all();
    soon(keeper.tell(Note::Keep(2))).await.unwrap();
    assert_eq!(soon(keeper.ask(Note::Kept)).await.unwrap(), [2]);
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_is_full_holds_up_neither_others_nor_answers() {
    let network = MemoryNetwork::new(9);
    let (here, there) = (place(&network, 1).await, place(&network, 2).await);
    there.keeper();
    let (stuck, release) = super::travel::stuck(&there);
    let keeper = here.keeper_of(&there).await;
    let stuck_ref: borough_actor::ActorRef<u64> =
        soon(here.hub.look_up(&there.me, "/stuck")).await.unwrap().unwrap();
    for number in 0..5000 {
        soon(stuck_ref.tell(number)).await.unwrap();
    }
    assert_eq!(soon(keeper.ask(Note::Kept)).await.unwrap(), [0; 0]);
    release.add_permits(5000);
    soon(async {
        while stuck.load(std::sync::atomic::Ordering::Relaxed) < 5000 {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    })
    .await;
}
