//! Probes get what is sent, in order, and say what came instead.

use std::fmt::Debug;

use borough_actor::{Reply, StopReason, System};
use borough_testkit::Probe;

#[derive(Debug, PartialEq)]
enum Word {
    Number(u32),
    Text(&'static str),
}

/// What the panic of a task said.
async fn panic_of<T: Debug + Send + 'static>(test: impl Future<Output = T> + Send + 'static) -> String {
    let failed = tokio::spawn(test).await.unwrap_err();
    *failed.into_panic().downcast::<String>().unwrap()
}

#[tokio::test(start_paused = true)]
async fn messages_come_in_the_order_they_were_sent() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    for number in 0..3 {
        probe.actor_ref().tell(Word::Number(number)).await.unwrap();
    }
    assert_eq!(probe.expect_msg().await, Word::Number(0));
    probe.expect_eq(&Word::Number(1)).await;
    probe.expect_where(|word| matches!(word, Word::Number(2))).await;
    probe.expect_no_msg().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_come_fails_the_test_where_it_was_expected() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::<Word>::new(&system);
    let line = line!() + 1;
    let said = panic_of(async move { probe.expect_msg().await }).await;
    assert!(said.contains(&format!("probe.rs:{line}:")), "{said}");
    assert!(said.ends_with("expected a message within 3s, but none came"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn another_message_than_the_expected_is_named() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    probe.actor_ref().tell(Word::Text("other")).await.unwrap();
    let said = panic_of(async move { probe.expect_eq(&Word::Number(1)).await }).await;
    assert!(said.ends_with("expected Number(1), but Text(\"other\") came"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_message_where_none_should_come_is_named() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    probe.actor_ref().tell(Word::Number(4)).await.unwrap();
    let said = panic_of(async move { probe.expect_no_msg().await }).await;
    assert!(said.ends_with("expected no message for 100ms, but Number(4) came"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn what_is_passed_over_while_fishing_stays_in_its_order() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    for number in 1..=3 {
        probe.actor_ref().tell(Word::Number(number)).await.unwrap();
    }
    assert_eq!(probe.fish(|word| *word == Word::Number(3)).await, Word::Number(3));
    assert_eq!(probe.fish(|word| *word == Word::Number(2)).await, Word::Number(2));
    assert_eq!(probe.expect_msg().await, Word::Number(1));
    probe.actor_ref().tell(Word::Number(9)).await.unwrap();
    let said = panic_of(async move { probe.fish(|word| *word == Word::Text("no")).await }).await;
    assert!(said.ends_with("but these came: [Number(9)]"), "{said}");
}

#[derive(Debug)]
enum Shop {
    Price(Reply<u32>),
    Note(u32),
}

#[tokio::test(start_paused = true)]
async fn an_ask_is_answered_by_hand() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    let shop = probe.actor_ref();
    let asked = tokio::spawn(async move { shop.ask(Shop::Price).await });
    let reply = probe.expect_map(|message| match message {
        Shop::Price(reply) => Ok(reply),
        other @ Shop::Note(_) => Err(other),
    });
    reply.await.send(7);
    assert_eq!(asked.await.unwrap().unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_answers_by_itself_shows_only_what_it_leaves() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::answering(&system, |message| match message {
        Shop::Price(reply) => {
            reply.send(8);
            None
        }
        note @ Shop::Note(_) => Some(note),
    });
    assert_eq!(probe.actor_ref().ask(Shop::Price).await.unwrap(), 8);
    probe.actor_ref().tell(Shop::Note(1)).await.unwrap();
    assert!(matches!(probe.expect_msg().await, Shop::Note(1)));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_actor_is_told_with_its_reason() {
    let system = System::new("test").unwrap();
    let probe = Probe::<Word>::new(&system);
    let other = Probe::<Word>::named(&system, "other").unwrap();
    let actor = other.actor_ref();
    let (lives, watcher) = (actor.clone(), Probe::<Word>::new(&system));
    let said = panic_of(async move { watcher.expect_terminated(&lives).await }).await;
    assert!(said.ends_with("expected /other to end within 3s, but it lives"), "{said}");
    drop(other);
    assert_eq!(probe.expect_terminated(&actor).await.reason, Some(StopReason::Requested));
}
