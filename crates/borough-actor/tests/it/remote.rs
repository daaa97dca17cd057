//! Messages of another node: what becomes of a run of them between its arrival and the actor's turn.

mod rig;

use std::time::Duration;

use borough_actor::remote::{Inlet, Lost};
use borough_actor::{ActorRef, DeadLetterReason, MailboxKind, StopReason, System, TryTellError};
use tokio::time::{advance, timeout};

use self::rig::{Peer, Said, Word};
use crate::support::eventually;

/// Waits until nothing is left in the inlet.
async fn flushed(inlet: &mut dyn Inlet) {
    let flushing = std::future::poll_fn(|cx| inlet.poll_flush(cx));
    timeout(Duration::from_secs(3600), flushing).await.expect("it takes too long");
}

/// Moves on what can.
async fn flush_some(inlet: &mut dyn Inlet) {
    let _ = timeout(Duration::ZERO, std::future::poll_fn(|cx| inlet.poll_flush(cx))).await;
}

/// An actor with this mailbox that writes down what it hears, and the peer that sends to it.
fn listener(kind: MailboxKind<Word>) -> (System, Peer, Said, ActorRef<Word>) {
    let system = System::new("remote").unwrap();
    let said = Said::default();
    let actor = system.actor(said.listener()).mailbox(kind).spawn().unwrap();
    let peer = Peer::of(&system);
    (system, peer, said, actor)
}

fn notes(numbers: std::ops::Range<u64>) -> Vec<Word> {
    numbers.map(Word::Note).collect()
}

#[tokio::test(start_paused = true)]
async fn single_messages_and_runs_are_handled_in_the_order_they_came() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut next = 0;
    for length in [1, 2, 300, 1, 4, 3, 5, 1000, 1] {
        peer.tell(&mut *inlet, notes(next..next + length));
        next += length;
    }
    flushed(&mut *inlet).await;
    said.until(next).await;
    assert_eq!(said.all(), (0..next).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_decoded_by_its_actor_and_not_on_arrival() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..100));
    assert_eq!(Said::decoded(), 0);
    flushed(&mut *inlet).await;
    said.until(100).await;
    assert_eq!(Said::decoded(), 100);
}

#[tokio::test(start_paused = true)]
async fn mailboxes_that_rank_refuse_or_drop_get_decoded_messages() {
    let rank = |word: &Word| if let Word::Note(number) = word { i64::try_from(*number).unwrap() } else { 0 };
    let kinds = [
        MailboxKind::priority(100, rank),
        MailboxKind::rejecting(100),
        MailboxKind::dropping_oldest(100),
        MailboxKind::dropping_newest(100),
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let (_system, peer, said, actor) = listener(kind);
        let mut inlet = peer.inlet_to(&actor);
        peer.tell(&mut *inlet, notes(0..50));
        assert_eq!(Said::decoded(), 50);
        flushed(&mut *inlet).await;
        said.until(50).await;
        let expected: Vec<u64> = if at == 0 { (0..50).rev().collect() } else { (0..50).collect() };
        assert_eq!(said.all(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_dropping_mailbox_has_no_room_for_is_counted() {
    let (system, peer, said, actor) = listener(MailboxKind::dropping_newest(10));
    let release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..50));
    flushed(&mut *inlet).await;
    assert_eq!(system.dead_letters().count(DeadLetterReason::Overflow), 40);
    release.send(()).unwrap();
    said.until(10).await;
    assert_eq!(said.all(), (0..10).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_adapter_gets_a_run_in_order() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let adapter = said.adapter(&actor).await;
    let mut inlet = peer.inlet_to(&adapter);
    peer.tell(&mut *inlet, (0..100_u64).collect());
    flushed(&mut *inlet).await;
    said.until(100).await;
    assert_eq!(said.all(), (0..100).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_bound_counts_the_messages_of_a_run() {
    let (_system, peer, said, actor) = listener(MailboxKind::bounded(8));
    let release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..100));
    assert_eq!(inlet.waiting(), 100);
    flush_some(&mut *inlet).await;
    assert_eq!(inlet.waiting(), 92);
    assert!(matches!(actor.try_tell(Word::Note(7)), Err(TryTellError::Full(Word::Note(7)))));
    release.send(()).unwrap();
    flushed(&mut *inlet).await;
    assert_eq!(inlet.waiting(), 0);
    said.until(100).await;
    assert_eq!(said.all(), (0..100).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_the_room_there_is_and_no_more() {
    let (_system, peer, said, actor) = listener(MailboxKind::bounded(20));
    let release = said.hold(&actor).await;
    for number in 0..13 {
        actor.try_tell(Word::Note(number)).unwrap();
    }
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(13..18));
    flushed(&mut *inlet).await;
    actor.try_tell(Word::Note(18)).unwrap();
    actor.try_tell(Word::Note(19)).unwrap();
    assert!(actor.try_tell(Word::Note(20)).unwrap_err().is_full());
    release.send(()).unwrap();
    said.until(20).await;
    assert_eq!(said.all(), (0..20).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_sender_in_line_behind_a_run_gets_its_turn_before_the_next_run() {
    let (_system, peer, said, actor) = listener(MailboxKind::bounded(8));
    let release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..9));
    flush_some(&mut *inlet).await;
    let local = tokio::spawn({
        let actor = actor.clone();
        async move { actor.tell(Word::Note(1000)).await }
    });
    tokio::task::yield_now().await;
    peer.tell(&mut *inlet, notes(9..500));
    release.send(()).unwrap();
    flushed(&mut *inlet).await;
    local.await.unwrap().unwrap();
    said.until(501).await;
    assert_eq!(said.all()[9], 1000);
}

#[tokio::test(start_paused = true)]
async fn a_fault_loses_its_own_message_alone() {
    for failing in [0, 3, 10, 40, 90, 99] {
        let (system, peer, said, actor) = listener(MailboxKind::default());
        let mut inlet = peer.inlet_to(&actor);
        let mut words = notes(0..100);
        words[failing] = if failing % 2 == 0 { Word::Fail } else { Word::Panic };
        peer.tell(&mut *inlet, words);
        flushed(&mut *inlet).await;
        said.until(99).await;
        let expected: Vec<u64> = (0..100).filter(|number| *number != failing as u64).collect();
        assert_eq!(said.all(), expected);
        assert_eq!(system.dead_letters().total(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_stops_buries_the_rest_of_a_run_and_fails_its_asks_at_once() {
    for stopping in [0, 3, 10, 40, 90, 98] {
        let (system, peer, said, actor) = listener(MailboxKind::default());
        let mut inlet = peer.inlet_to(&actor);
        let mut words = notes(0..100);
        words[stopping] = Word::Stop;
        words[99] = Word::Answer(Peer::reply(7));
        peer.send(&mut *inlet, words, |at| (at == 99).then_some((7, None)));
        flushed(&mut *inlet).await;
        assert_eq!(actor.stopped().await.reason, Some(StopReason::Requested));
        assert_eq!(said.all(), (0..stopping as u64).collect::<Vec<_>>());
        let unhandled = system.dead_letters().count(DeadLetterReason::Unhandled);
        assert_eq!(unhandled, 99 - stopping as u64);
        assert_eq!(peer.lost(), [(7, Lost::Discarded)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_kill_buries_the_rest_of_a_run_and_tells_whoever_waits_for_something_in_it() {
    let (system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut words = notes(0..30);
    words[20] = Word::Hang;
    // Not an ask by its head: the reply was handed on in a message.
    words[25] = Word::Answer(Peer::reply(5));
    peer.tell(&mut *inlet, words);
    flushed(&mut *inlet).await;
    said.until(20).await;
    actor.kill();
    assert_eq!(actor.stopped().await.reason, Some(StopReason::Killed));
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 9);
    assert_eq!(peer.lost(), [(5, Lost::Dropped)]);
}

#[tokio::test(start_paused = true)]
async fn a_quick_actor_that_is_stopped_by_another_thread_looks_within_a_run() {
    let (system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    // Batches are large by now.
    peer.tell(&mut *inlet, notes(0..1000));
    flushed(&mut *inlet).await;
    said.until(1000).await;
    let mut words = notes(1000..1250);
    words[100] = Word::StopFromOutside;
    peer.tell(&mut *inlet, words);
    flushed(&mut *inlet).await;
    assert_eq!(actor.stopped().await.reason, Some(StopReason::Requested));
    let handled = said.all().len();
    assert!((1100..=1116).contains(&handled), "{handled} were handled");
    let unhandled = system.dead_letters().count(DeadLetterReason::Unhandled);
    assert_eq!(unhandled, 1249 - handled as u64);
}

#[tokio::test(start_paused = true)]
async fn what_comes_for_an_actor_that_is_gone_is_counted_and_its_asks_fail() {
    let (system, peer, _said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    actor.stop();
    actor.stopped().await;
    peer.send(&mut *inlet, (0..10).map(|ask| Word::Answer(Peer::reply(ask))), |at| Some((at, None)));
    flushed(&mut *inlet).await;
    assert_eq!(system.dead_letters().count(DeadLetterReason::Stopped), 10);
    let asks: Vec<u64> = peer.lost().into_iter().map(|(ask, _)| ask).collect();
    assert_eq!(asks, (0..10).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_inlet_that_goes_buries_what_waits_in_it() {
    let (system, peer, said, actor) = listener(MailboxKind::bounded(8));
    let _release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..100));
    flush_some(&mut *inlet).await;
    peer.tell(&mut *inlet, notes(100..150));
    drop(inlet);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 142);
}

#[tokio::test(start_paused = true)]
async fn an_ask_whose_time_is_up_is_dropped_unhandled_and_not_even_decoded() {
    let (system, peer, said, actor) = listener(MailboxKind::default());
    let release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.send(&mut *inlet, notes(0..20), |at| Some((at, Some(if at < 15 { 100 } else { 1000 }))));
    flushed(&mut *inlet).await;
    advance(Duration::from_millis(200)).await;
    release.send(()).unwrap();
    said.until(5).await;
    assert_eq!(said.all(), (15..20).collect::<Vec<_>>());
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 15);
    assert_eq!(Said::decoded(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_an_ask_counts_from_its_arrival_also_while_there_is_no_room() {
    let (system, peer, said, actor) = listener(MailboxKind::bounded(4));
    let release = said.hold(&actor).await;
    let mut inlet = peer.inlet_to(&actor);
    peer.send(&mut *inlet, notes(0..20), |at| Some((at, Some(100))));
    flush_some(&mut *inlet).await;
    advance(Duration::from_millis(60)).await;
    peer.send(&mut *inlet, notes(20..40), |at| Some((at, Some(100))));
    flush_some(&mut *inlet).await;
    advance(Duration::from_millis(60)).await;
    release.send(()).unwrap();
    flushed(&mut *inlet).await;
    said.until(20).await;
    assert_eq!(said.all(), (20..40).collect::<Vec<_>>());
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 20);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_decoded_is_counted_its_ask_fails_and_the_others_are_handled() {
    let (system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut words = notes(0..30);
    words[12] = Word::Poison(());
    words[29] = Word::Poison(());
    peer.send(&mut *inlet, words, |at| (at >= 12).then_some((at, None)));
    peer.garbage(&mut *inlet, 6);
    flushed(&mut *inlet).await;
    eventually("all are seen", || system.dead_letters().count(DeadLetterReason::Unreadable) == 8).await;
    said.until(28).await;
    let expected: Vec<u64> = (0..29).filter(|number| *number != 12).collect();
    assert_eq!(said.all(), expected);
    assert_eq!(peer.lost(), [(12, Lost::Discarded), (29, Lost::Discarded)]);
    assert_eq!(system.dead_letters().total(), 8);
    assert!(!actor.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn a_stop_when_drained_comes_after_the_run_before_it() {
    let (system, peer, said, actor) = listener(MailboxKind::bounded(16));
    let mut inlet = peer.inlet_to(&actor);
    peer.tell(&mut *inlet, notes(0..100));
    inlet.stop_when_drained();
    flushed(&mut *inlet).await;
    assert_eq!(actor.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(said.all(), (0..100).collect::<Vec<_>>());
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stashed_message_comes_back_before_the_rest_of_its_run() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut words = notes(0..40);
    words[8] = Word::Stash(8);
    words[10] = Word::Unstash;
    peer.tell(&mut *inlet, words);
    flushed(&mut *inlet).await;
    said.until(39).await;
    let expected: Vec<u64> = (0..8).chain([9, 8]).chain(11..40).collect();
    assert_eq!(said.all(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_timer_rings_within_a_run_that_takes_long() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut words: Vec<Word> = (0..200).map(|_| Word::Work(1)).collect();
    words[0] = Word::SetTimer(10, 1000);
    peer.tell(&mut *inlet, words);
    flushed(&mut *inlet).await;
    said.until(200).await;
    let rang = said.all().iter().position(|number| *number == 1000).expect("it rang");
    assert!((9..30).contains(&rang), "after {rang} messages");
}

#[tokio::test(start_paused = true)]
async fn a_reply_in_a_run_leads_to_the_node_it_came_from() {
    let (_system, peer, said, actor) = listener(MailboxKind::default());
    let mut inlet = peer.inlet_to(&actor);
    let mut words = notes(0..10);
    words[9] = Word::Answer(Peer::reply(77));
    peer.send(&mut *inlet, words, |at| (at == 9).then_some((77, None)));
    flushed(&mut *inlet).await;
    said.until(9).await;
    eventually("the answer", || peer.answered() == [77]).await;
    assert!(peer.lost().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_finds_no_room_fails_its_ask_at_once() {
    let (_system, peer, _said, actor) = listener(MailboxKind::default());
    peer.take_no_answers();
    let mut inlet = peer.inlet_to(&actor);
    peer.send(&mut *inlet, [Word::Answer(Peer::reply(77))], |_| Some((77, None)));
    flushed(&mut *inlet).await;
    eventually("the word that there is no answer", || peer.lost() == [(77, Lost::Dropped)]).await;
}
