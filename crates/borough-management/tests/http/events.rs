//! What happens is told as it happens.

use borough_management::view::{ClusterEvent, EventKind};
use tokio::time::timeout;

use crate::client::{BOUND, Listener, get};
use crate::fleet::{counters, fill, fleet, node};

async fn next(listener: &mut Listener) -> ClusterEvent {
    let (id, data) = listener.next().await.expect("the stream has ended");
    let event: ClusterEvent = serde_json::from_str(&data).unwrap();
    assert_eq!(event.number, id);
    event
}

/// The next event as wanted; all that were before it have numbers without gaps.
async fn until(listener: &mut Listener, wanted: impl Fn(&ClusterEvent) -> bool) -> ClusterEvent {
    let mut last = None;
    loop {
        let event = next(listener).await;
        assert!(last.is_none_or(|last| event.number == last + 1), "a gap before {event:?}");
        if wanted(&event) {
            return event;
        }
        last = Some(event.number);
    }
}

#[tokio::test]
async fn who_listens_hears_of_members_and_shards() {
    let [a] = fleet(["a"]).await;
    let (status, mut listener) = Listener::open(a.address(), "/api/events", None).await;
    assert_eq!(status, 200);
    fill(&a.counters).await;
    let given = until(&mut listener, |event| event.what == EventKind::Allocated).await;
    assert_eq!((given.node.as_deref(), given.kind.as_deref()), (Some("a"), Some("counters")));
    assert!(given.shard.is_some_and(|shard| shard < 8));
    assert_eq!(given.seen_by, "a");
    let b = node("b", Some(&a.node)).await;
    until(&mut listener, |event| {
        event.what == EventKind::Member && event.node.as_deref() == Some("b") && event.text == "b is up"
    })
    .await;
    let _hosts = counters(&b).await;
    let moved = until(&mut listener, |event| event.what == EventKind::Moved).await;
    assert_eq!(moved.node.as_deref(), Some("b"));
    assert!(moved.text.contains("has moved to b"), "{}", moved.text);
    timeout(BOUND, b.leave()).await.unwrap().unwrap();
    until(&mut listener, |event| event.text == "b was removed").await;
}

#[tokio::test]
async fn who_was_away_goes_on_where_it_was() {
    let [a] = fleet(["a"]).await;
    let (_, mut first) = Listener::open(a.address(), "/api/events?after=0", None).await;
    fill(&a.counters).await;
    let allocated = |event: &ClusterEvent| event.what == EventKind::Allocated;
    let one = until(&mut first, allocated).await;
    let two = until(&mut first, allocated).await;
    drop(first);
    let (_, mut again) = Listener::open(a.address(), "/api/events", Some(one.number)).await;
    assert_eq!(next(&mut again).await.number, one.number + 1);
    // The header is newer than the address, which a browser keeps.
    let (_, mut both) = Listener::open(a.address(), "/api/events?after=0", Some(two.number - 1)).await;
    assert_eq!(next(&mut both).await, two);
    // One that is ahead of all there is comes from an earlier process: it hears all that is kept.
    let (_, mut ahead) = Listener::open(a.address(), "/api/events", Some(u64::MAX)).await;
    assert_eq!(next(&mut ahead).await.number, 1);
    assert_eq!(get(a.address(), "/api/events?after=soon").await.status, 400);
}

#[tokio::test]
async fn only_so_many_listen_at_once_and_a_place_is_free_again_when_one_goes() {
    let [a] = fleet(["a"]).await;
    let mut listeners = Vec::new();
    for _ in 0..64 {
        let (status, listener) = Listener::open(a.address(), "/api/events", None).await;
        assert_eq!(status, 200);
        listeners.push(listener);
    }
    assert_eq!(get(a.address(), "/api/events").await.status, 503);
    assert_eq!(get(a.address(), "/api/members").await.status, 200, "others are answered");
    listeners.clear();
    let free = async {
        loop {
            let (status, listener) = Listener::open(a.address(), "/api/events", None).await;
            if status == 200 {
                return listener;
            }
        }
    };
    timeout(BOUND, free).await.unwrap();
}

#[tokio::test]
async fn listeners_are_sent_away_when_management_ends() {
    let [a] = fleet(["a"]).await;
    let (_, mut listener) = Listener::open(a.address(), "/api/events", None).await;
    timeout(BOUND, a.management.shutdown()).await.unwrap();
    let ended = async { while listener.next().await.is_some() {} };
    timeout(BOUND, ended).await.unwrap();
}
