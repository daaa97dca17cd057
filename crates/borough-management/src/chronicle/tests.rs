//! Numbers without gaps, for whoever listens.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use borough_cluster::{GaveUp, Uid};

use super::ring::{Chronicle, KEPT, News};
use super::words;
use crate::view::{ClusterEvent, EventKind, StateLoss};

fn chronicle(events: usize) -> Chronicle {
    let chronicle = Chronicle::new("n1".to_owned(), Uid::new(7).unwrap());
    for number in 1..=events {
        let text = number.to_string();
        chronicle.write(News::new(EventKind::Other, text));
    }
    chronicle
}

fn now(chronicle: &Chronicle, after: u64) -> Option<ClusterEvent> {
    let mut next = std::pin::pin!(chronicle.after(after));
    match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => Some(event),
        Poll::Pending => None,
    }
}

#[test]
fn events_are_numbered_from_one_and_each_comes_after_the_one_before() {
    let chronicle = chronicle(3);
    let read: Vec<_> = (0..3).map(|after| now(&chronicle, after).unwrap()).collect();
    assert_eq!(read.iter().map(|event| event.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(read[2].text, "3");
    assert_eq!(chronicle.newest(), 3);
    assert_eq!(now(&chronicle, 3), None);
}

#[test]
fn who_was_away_for_too_long_is_told_how_many_it_missed_and_goes_on() {
    let chronicle = chronicle(KEPT + 10);
    let missed = now(&chronicle, 4).unwrap();
    assert_eq!((missed.what, missed.number), (EventKind::Missed, 10));
    assert!(missed.text.starts_with("6 events"), "{}", missed.text);
    assert_eq!(now(&chronicle, missed.number).unwrap().text, "11");
}

#[test]
fn an_id_is_known_to_its_own_chronicle_alone_even_if_the_node_is_the_same() {
    let (before, now) = (chronicle(3), chronicle(5));
    assert_eq!(now.number_of(&now.id(3)), Some(3));
    assert_eq!(now.number_of(&before.id(3)), None);
    for elsewhere in ["", "-", "3-", "-3", "soon", "6", "18446744073709551616", &now.id(6)] {
        assert_eq!(now.number_of(elsewhere), None, "{elsewhere:?}");
    }
    // A number alone says nothing of where it comes from; it is believed.
    assert_eq!(now.number_of("5"), Some(5));
}

#[tokio::test]
async fn who_waits_is_woken_by_the_next_event() {
    let chronicle = std::sync::Arc::new(chronicle(1));
    let waiting = tokio::spawn({
        let chronicle = chronicle.clone();
        async move { chronicle.after(1).await }
    });
    tokio::task::yield_now().await;
    chronicle.write(News::new(EventKind::Other, "two".into()));
    assert_eq!(waiting.await.unwrap().text, "two");
}

#[test]
fn a_loss_says_why_and_how_much_and_that_entities_were_not_counted() {
    let loss = |shards, entities| StateLoss { reason: "removed".into(), yielded_to: None, shards, entities };
    let text = |why, shards, entities| words::of_loss("n1", why, loss(shards, entities)).text;
    assert_eq!(
        text(GaveUp::Removed, 1, Some(1)),
        "n1 was removed by its cluster, which goes on without it, and dropped 1 shard and 1 entity"
    );
    assert_eq!(
        text(GaveUp::Over, 8, None),
        "n1 gave up, because the voters of its cluster are gone for good, and dropped 8 shards and an unknown number of entities"
    );
    let news = words::of_loss("n1", GaveUp::Over, loss(8, None));
    assert_eq!((news.what, news.node.as_deref()), (EventKind::StateLost, Some("n1")));
    assert_eq!(news.loss, Some(loss(8, None)));
}

#[test]
fn an_event_of_a_kind_that_is_not_known_yet_can_be_read() {
    let read = |text| serde_json::from_str::<EventKind>(text).unwrap();
    assert_eq!([read("\"state-lost\""), read("\"not-yet\"")], [EventKind::StateLost, EventKind::Other]);
}
