//! Numbers without gaps, for whoever listens.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use super::ring::{Chronicle, KEPT, News};
use crate::view::{ClusterEvent, EventKind};

fn chronicle(events: usize) -> Chronicle {
    let chronicle = Chronicle::new("n1".to_owned());
    for number in 1..=events {
        let text = number.to_string();
        chronicle.write(News { what: EventKind::Other, node: None, kind: None, shard: None, text });
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

#[tokio::test]
async fn who_waits_is_woken_by_the_next_event() {
    let chronicle = std::sync::Arc::new(chronicle(1));
    let waiting = tokio::spawn({
        let chronicle = chronicle.clone();
        async move { chronicle.after(1).await }
    });
    tokio::task::yield_now().await;
    chronicle.write(News { what: EventKind::Other, node: None, kind: None, shard: None, text: "two".into() });
    assert_eq!(waiting.await.unwrap().text, "two");
}
