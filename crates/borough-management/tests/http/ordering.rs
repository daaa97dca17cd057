//! Orders are done, wherever they are given, and refused with words where they cannot be.

use std::net::SocketAddr;

use borough_cluster::{Standing, TopologySnapshot};
use borough_management::view::{Accepted, Location, Members, Problem, Shards, Stats};
use tokio::time::timeout;

use crate::client::{BOUND, post};
use crate::fleet::{Count, counters, fill, fleet, node, until};

/// How many shards that node owns.
fn owned(shards: &Shards, node: &str) -> usize {
    let places = shards.kinds.iter().flat_map(|kind| &kind.places);
    places.filter(|place| place.owner.as_deref() == Some(node)).count()
}

async fn refused(address: SocketAddr, path: &str, body: &str) -> (u16, String) {
    let answer = post(address, path, body).await;
    let problem: Problem = answer.of();
    assert!(!problem.what.is_empty() && !problem.advice.is_empty(), "{problem:?}");
    (answer.status, problem.error)
}

#[tokio::test]
async fn another_node_is_drained_and_stays_a_member_and_a_proxy() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    until(a.address(), "/api/shards", |shards: &Shards| owned(shards, "b") == 4).await;
    let answer = post(a.address(), "/api/drain/b", "").await;
    assert_eq!(answer.status, 202, "{answer:?}");
    assert!(answer.of::<Accepted>().accepted.contains("b gives its shards away"));
    let drained = |shards: &Shards| owned(shards, "a") == 8 && shards.kinds[0].hosts == ["a"];
    until(b.address(), "/api/shards", drained).await;
    assert_eq!(b.node.topology().current().up().count(), 2);
    let departed = |stats: &Stats| {
        let of_b = stats.nodes.iter().find(|node| node.node == "b").unwrap();
        of_b.kinds[0].moves.departed == 4 && !of_b.kinds[0].hosts
    };
    until(a.address(), "/api/stats", departed).await;
    // What was counted before the drain has moved with its entity.
    for number in 0..64 {
        let asked = b.counters.ask(format!("counter-{number}"), Count::Up);
        assert_eq!(timeout(BOUND, asked).await.unwrap().unwrap(), 2);
    }
}

#[tokio::test]
async fn a_drain_says_which_types_have_nowhere_to_go() {
    let [a] = fleet(["a"]).await;
    fill(&a.counters).await;
    let answer = post(a.address(), "/api/drain/a", "").await;
    assert_eq!(answer.status, 202);
    let words = answer.of::<Accepted>().accepted;
    assert!(words.contains("counters") && words.contains("until another node hosts them"), "{words}");
    // Given again it adds nothing, and the entities live on.
    assert_eq!(post(a.address(), "/api/drain/a", "").await.status, 202);
    assert_eq!(timeout(BOUND, a.counters.ask("counter-1", Count::Up)).await.unwrap().unwrap(), 2);
}

#[tokio::test]
async fn a_node_leaves_when_another_is_told_and_when_it_is_told_itself() {
    let [a, b, c] = fleet(["a", "b", "c"]).await;
    fill(&a.counters).await;
    assert_eq!(post(a.address(), "/api/leave/c", "").await.status, 202);
    let left = |topology: &borough_cluster::Topology| {
        let topology = topology.clone();
        async move { timeout(BOUND, topology.wait_until(|_| false)).await.unwrap().unwrap_err() }
    };
    assert_eq!(left(&c.node.topology()).await, borough_cluster::Ended::Over(Standing::Left));
    until(a.address(), "/api/members", |members: &Members| members.members.len() == 2).await;
    assert_eq!(post(b.address(), "/api/leave", "").await.status, 202);
    assert_eq!(left(&b.node.topology()).await, borough_cluster::Ended::Over(Standing::Left));
    until(a.address(), "/api/members", |members: &Members| members.members.len() == 1).await;
    // The management of one that has left still tells how it stands.
    let members: Members = until(b.address(), "/api/members", |_| true).await;
    assert_eq!(members.standing, "left");
    assert_eq!(timeout(BOUND, a.counters.ask("counter-1", Count::Up)).await.unwrap().unwrap(), 2);
}

#[tokio::test]
async fn a_shard_moves_where_it_is_told_to() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let shards: Shards = until(a.address(), "/api/shards", |shards| owned(shards, "b") == 4).await;
    let place = shards.kinds[0].places.iter().find(|place| place.owner.as_deref() == Some("a")).unwrap();
    let order = format!(r#"{{"kind":"counters","shard":{},"node":"b"}}"#, place.shard);
    let answer = post(b.address(), "/api/move", &order).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let moved = |shards: &Shards| {
        let now = shards.kinds[0].places.iter().find(|now| now.shard == place.shard).unwrap();
        now.epoch > place.epoch && now.owner.as_deref() == Some("b") && now.moving_to.is_none()
    };
    until(a.address(), "/api/shards", moved).await;
    let _: Location = until(a.address(), "/api/explain/counters/counter-1", |_| true).await;
}

#[tokio::test]
async fn a_member_that_is_downed_is_removed_and_comes_back_as_another() {
    let [a, b, _c] = fleet(["a", "b", "c"]).await;
    let before = b.node.uid().to_string();
    assert_eq!(post(a.address(), "/api/down/b", "").await.status, 202);
    let is_back = |members: &Members| {
        members
            .members
            .iter()
            .any(|member| member.node == "b" && member.state == "up" && member.uid != before)
    };
    until(a.address(), "/api/members", is_back).await;
}

#[tokio::test]
async fn orders_for_nobody_are_refused_with_words() {
    let [a] = fleet(["a"]).await;
    let address = a.address();
    for path in ["/api/leave/nobody", "/api/drain/nobody", "/api/down/nobody", "/api/down/%2e%2e%2f"] {
        assert_eq!(refused(address, path, "").await, (404, "unknown-node".to_owned()), "{path}");
    }
    for path in ["/api/leave/%FF", "/api/drain/%FF", "/api/down/%C3%28"] {
        assert_eq!(refused(address, path, "").await, (400, "bad-request".to_owned()), "{path}");
    }
    for (body, status, error) in [
        ("", 400, "bad-request"),
        ("{}", 400, "bad-request"),
        ("null", 400, "bad-request"),
        (r#"{"kind":"counters","shard":-1,"node":"a"}"#, 400, "bad-request"),
        (r#"{"kind":"counters","shard":4294967296,"node":"a"}"#, 400, "bad-request"),
        (r#"{"kind":"counters","shard":0,"node":"nobody"}"#, 404, "unknown-node"),
        (r#"{"kind":"nothing","shard":0,"node":"a"}"#, 404, "unknown-type"),
        (r#"{"kind":"counters","shard":8,"node":"a"}"#, 404, "unknown-shard"),
    ] {
        assert_eq!(refused(address, "/api/move", body).await, (status, error.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn a_node_without_management_cannot_be_told_and_that_is_said() {
    let [a] = fleet(["a"]).await;
    let bare = node("bare", Some(&a.node)).await;
    timeout(BOUND, a.node.wait_for(2)).await.unwrap().unwrap();
    assert_eq!(refused(a.address(), "/api/leave/bare", "").await, (409, "not-managed".to_owned()));
    assert_eq!(refused(a.address(), "/api/drain/bare", "").await, (409, "not-managed".to_owned()));
    let order = r#"{"kind":"counters","shard":0,"node":"bare"}"#;
    assert_eq!(refused(a.address(), "/api/move", order).await, (409, "no-host".to_owned()));
    let _hosts = counters(&bare).await;
    // The others knew it as a member before it had a lease.
    let is_member = |topology: &TopologySnapshot| topology.standing == Standing::Member;
    timeout(BOUND, bare.topology().wait_until(is_member)).await.unwrap().unwrap();
}
