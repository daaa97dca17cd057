//! What happens is told as it happens.

use borough_management::Management;
use borough_management::view::{ClusterEvent, EventKind};
use tokio::time::timeout;

use crate::client::{BOUND, Listener, get};
use crate::fleet::{Counter, counters, fill, fleet, node};

/// The next event, and its id.
async fn identified(listener: &mut Listener) -> (String, ClusterEvent) {
    let (id, data) = listener.next().await.expect("the stream has ended");
    let event: ClusterEvent = serde_json::from_str(&data).unwrap();
    assert!(id.ends_with(&format!("-{}", event.number)), "{id} is the id of {event:?}");
    (id, event)
}

async fn next(listener: &mut Listener) -> ClusterEvent {
    identified(listener).await.1
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

/// All that is kept, with its ids, up to so many that were given away.
async fn given_away(listener: &mut Listener, count: usize) -> Vec<(String, ClusterEvent)> {
    let mut heard = Vec::new();
    while heard.iter().filter(|(_, event)| is_given(event)).count() < count {
        heard.push(identified(listener).await);
    }
    heard
}

fn is_given(event: &ClusterEvent) -> bool {
    event.what == EventKind::Allocated
}

#[tokio::test]
async fn who_listens_hears_of_members_and_shards() {
    let [a] = fleet(["a"]).await;
    let (status, mut listener) = Listener::open(a.address(), "/api/events", None).await;
    assert_eq!(status, 200);
    fill(&a.counters).await;
    let given = until(&mut listener, is_given).await;
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
    let heard = given_away(&mut first, 3).await;
    drop(first);
    let [.., (before, _), last] = heard.as_slice() else { panic!("{heard:?}") };
    let (_, mut again) = Listener::open(a.address(), "/api/events", Some(before)).await;
    assert_eq!(&identified(&mut again).await, last);
    // A number alone will do, and the header is newer than the address, which a browser keeps.
    let number = (last.1.number - 1).to_string();
    for (path, header) in
        [("/api/events?after=0", Some(number.as_str())), (&format!("/api/events?after={number}"), None)]
    {
        let (_, mut by_number) = Listener::open(a.address(), path, header).await;
        assert_eq!(&identified(&mut by_number).await, last, "{path}");
    }
    assert_eq!(get(a.address(), "/api/events?after=soon").await.status, 400);
}

#[tokio::test]
async fn who_comes_from_an_earlier_process_is_told_and_hears_all_there_is() {
    let node = node("a", None).await;
    let first = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let (_, mut listener) = Listener::open(first.address(), "/api/events?after=0", None).await;
    let region = counters(&node).await;
    fill(&region).await;
    let heard = given_away(&mut listener, 1).await;
    let (earlier, _) = heard.last().unwrap();
    first.shutdown().await;
    // A management of its own has events of its own, as another process has; soon more of them than the listener has heard.
    let second = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let other =
        node.shard("others", |_| Counter::default()).shards(64).migrate_state().start().await.unwrap();
    fill(&other).await;
    let (_, mut watcher) = Listener::open(second.address(), "/api/events?after=0", None).await;
    given_away(&mut watcher, heard.len() + 1).await;
    for last in [earlier.as_str(), &u64::MAX.to_string()] {
        let (_, mut again) = Listener::open(second.address(), "/api/events", Some(last)).await;
        let told = next(&mut again).await;
        assert_eq!((told.what, told.number), (EventKind::Missed, 0), "{last}: {told:?}");
        assert!(told.text.contains("begin anew"), "{}", told.text);
        assert_eq!(next(&mut again).await.number, 1, "{last}");
    }
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
