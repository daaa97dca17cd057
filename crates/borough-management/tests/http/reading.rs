//! What is told is what is so.

use borough_management::Management;
use borough_management::view::{Entities, Health, Location, Members, Problem, Settings, Shards, Stats};
use serde_json::Value;
use tokio::time::timeout;

use crate::client::{BOUND, get};
use crate::fleet::{fill, fleet, node, until};

#[tokio::test]
async fn members_are_told_with_their_states_voters_and_managements() {
    let [a, b, c] = fleet(["a", "b", "c"]).await;
    let is_whole = |members: &Members| {
        let all = &members.members;
        all.len() == 3
            && all.iter().all(|member| member.state == "up" && member.management.is_some())
            && members.tolerates == 1
    };
    let members: Members = until(b.address(), "/api/members", is_whole).await;
    assert_eq!((members.cluster.as_str(), members.seen_by.as_str()), ("fleet", "b"));
    assert_eq!((members.standing.as_str(), &members.advice), ("member", &None));
    let names: Vec<_> = members.members.iter().map(|member| member.node.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"], "the oldest first");
    assert_eq!(members.members.iter().filter(|member| member.is_coordinator).count(), 1);
    for (member, managed) in members.members.iter().zip([&a, &b, &c]) {
        assert!(member.is_voter && member.is_reachable);
        assert_eq!(member.management, Some(managed.address().to_string()));
        assert_eq!(member.address, managed.node.address().to_string());
        assert_eq!(member.uid, managed.node.uid().to_string());
        assert_eq!(
            (member.roles.as_slice(), member.app_version.as_str()),
            (["worker".to_owned()].as_slice(), "1.2.3")
        );
    }
}

#[tokio::test]
async fn the_suspicion_of_those_who_are_watched_is_told() {
    let [a, b] = fleet(["a", "b"]).await;
    let of = |members: &Members, name: &str| {
        members.members.iter().find(|member| member.node == name).and_then(|member| member.phi_milli)
    };
    // A living member is not accused: if its heartbeats came late, the next is there soon.
    let calm = |members: &Members| of(members, "b").is_some_and(|phi| phi < 8000);
    let members: Members = until(a.address(), "/api/members", calm).await;
    assert_eq!(of(&members, "a"), None, "nobody watches itself");
    // One that is gone without a word is suspected more and more.
    drop(b.node);
    let gone = |members: &Members| {
        of(members, "b").is_some_and(|phi| phi > 1000)
            || members.members.iter().all(|member| member.node != "b" || !member.is_reachable)
    };
    until(a.address(), "/api/members", gone).await;
}

#[tokio::test]
async fn shards_are_told_with_owners_and_hosts() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let is_whole = |shards: &Shards| {
        shards.kinds.first().is_some_and(|kind| {
            let of =
                |name: &str| kind.places.iter().filter(|place| place.owner.as_deref() == Some(name)).count();
            (kind.hosts.len(), of("a"), of("b")) == (2, 4, 4)
        })
    };
    let shards: Shards = until(b.address(), "/api/shards", is_whole).await;
    let [kind] = shards.kinds.as_slice() else { panic!("{shards:?}") };
    assert_eq!((kind.kind.as_str(), kind.shards), ("counters", 8));
    assert_eq!(kind.hosts, ["a", "b"]);
    assert_eq!(kind.places.iter().map(|place| place.shard).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert!(kind.places.iter().all(|place| place.epoch > 0));
}

#[tokio::test]
async fn epochs_are_text_because_numbers_of_json_are_not_exact_above_2_to_the_53() {
    let [a] = fleet(["a"]).await;
    fill(&a.counters).await;
    let shards: Value = get(a.address(), "/api/shards").await.of();
    let location: Value = get(a.address(), "/api/explain/counters/counter-1").await.of();
    let wanted = a.node.explain("counters", "counter-1").unwrap().epoch.get();
    assert!(wanted > 1 << 53, "{wanted}");
    let place = &shards["kinds"][0]["places"][a.counters.shard_of("counter-1").unwrap() as usize];
    for epoch in [&place["epoch"], &location["epoch"]] {
        assert_eq!(*epoch, Value::from(wanted.to_string()));
    }
}

#[tokio::test]
async fn the_ids_of_living_entities_are_listed_page_by_page_by_any_node() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let mut ids = Vec::new();
    for shard in 0..8 {
        let path = format!("/api/entities/counters/{shard}");
        let page = until(b.address(), &path, |page: &Value| page["ids"].is_array()).await;
        assert_eq!((&page["next"], page["shard"].as_u64()), (&Value::Null, Some(shard)), "{page}");
        ids.extend(page["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()));
    }
    let mut wanted: Vec<_> = (0..64).map(|number| format!("counter-{number}")).collect();
    ids.sort();
    wanted.sort();
    assert_eq!(ids, wanted);

    // Those of one shard, behind one of them: its bytes in digits.
    let shard = a.counters.shard_of("counter-1").unwrap();
    let all: Value = get(b.address(), &format!("/api/entities/counters/{shard}")).await.of();
    let first = all["ids"][0].as_str().unwrap();
    let token = first.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
    let rest: Value = get(b.address(), &format!("/api/entities/counters/{shard}?after={token}")).await.of();
    assert_eq!(rest["ids"].as_array().unwrap()[..], all["ids"].as_array().unwrap()[1..]);
}

#[tokio::test]
async fn what_cannot_be_listed_is_said_with_what_to_do() {
    let [a] = fleet(["a"]).await;
    for (path, status, error) in [
        ("/api/entities/nothing/0", 404, "unknown-type"),
        ("/api/entities/counters/8", 404, "unknown-shard"),
        ("/api/entities/counters/x", 400, "bad-request"),
        ("/api/entities/counters/0?after=xyz", 400, "bad-request"),
        ("/api/entities/counters/0?after=%2b1", 400, "bad-request"),
    ] {
        let answer = get(a.address(), path).await;
        let problem: Problem = answer.of();
        assert_eq!((answer.status, &*problem.error), (status, error), "{path}");
        assert!(!problem.advice.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn stats_are_gathered_from_all_nodes() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let entities = |stats: &Stats| {
        stats.nodes.iter().flat_map(|node| &node.kinds).map(|kind| kind.entities).sum::<u64>()
    };
    let stats: Stats = until(b.address(), "/api/stats", |stats| entities(stats) == 64).await;
    assert_eq!(stats.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(stats.missing, []);
    assert!(stats.at_millis > 1_600_000_000_000);
    let shards: u64 = stats.nodes.iter().flat_map(|node| &node.kinds).map(|kind| kind.shards).sum();
    assert_eq!(shards, 8);
    let handled: u64 = stats.nodes.iter().flat_map(|node| &node.kinds).map(|kind| kind.handled).sum();
    assert_eq!(handled, 64);
    let entities: Entities = get(b.address(), "/api/entities").await.of();
    assert_eq!(entities.seen_by, "b");
}

#[tokio::test]
async fn how_long_turns_take_is_told_with_the_slowest_entities_of_all_nodes() {
    let [a, b] = fleet(["a", "b"]).await;
    // Again and again, until both have a share of the shards and something to do.
    let timed = async {
        loop {
            fill(&a.counters).await;
            let stats: Stats = get(b.address(), "/api/stats").await.of();
            let kinds = stats.nodes.into_iter().flat_map(|node| node.kinds);
            let turns: Vec<_> = kinds.map(|kind| kind.turns).filter(|turns| turns.samples > 0).collect();
            if turns.len() == 2 {
                return turns;
            }
        }
    };
    for turns in timeout(BOUND, timed).await.unwrap() {
        let rising = [1, turns.p50_nanos, turns.p99_nanos, turns.longest_nanos];
        assert!(rising.is_sorted(), "{turns:?}");
    }
    let entities: Entities = get(b.address(), "/api/entities").await.of();
    let names: Vec<_> = entities.slowest.iter().map(|slow| slow.node.as_str()).collect();
    assert!(names.contains(&"a") && names.contains(&"b"), "{names:?}");
    assert!(entities.slowest.is_sorted_by_key(|slow| std::cmp::Reverse(slow.took_nanos)), "{entities:?}");
    assert!(entities.slowest.iter().all(|slow| slow.kind == "counters" && slow.id.starts_with("counter-")));
}

#[tokio::test]
async fn an_entity_is_explained_whatever_its_id_looks_like() {
    let [a] = fleet(["a"]).await;
    for (path, id) in [
        ("plain", "plain"),
        ("with/slash", "with/slash"),
        ("with%2Fslash", "with/slash"),
        ("%E2%82%AC%20100%25", "\u{20ac} 100%"),
        ("a%3Fb%23c", "a?b#c"),
        ("..%2F..", "../.."),
    ] {
        let answer = get(a.address(), &format!("/api/explain/counters/{path}")).await;
        let location: Location = answer.of();
        assert_eq!((location.id.as_str(), location.kind.as_str()), (id, "counters"), "{path}");
        assert_eq!(location.shard, a.counters.shard_of(id).unwrap());
        assert!(!location.why.is_empty());
    }
    fill(&a.counters).await;
    let location: Location = get(a.address(), "/api/explain/counters/counter-1").await.of();
    assert_eq!(location.node.as_deref(), Some("a"));
    assert!(location.epoch > 0 && location.since_millis.is_some());
}

#[tokio::test]
async fn what_cannot_be_explained_is_said_with_what_to_do() {
    let [a] = fleet(["a"]).await;
    let long = "x".repeat(2000);
    for (path, status, error) in [
        ("/api/explain/nothing/x", 404, "unknown-type"),
        ("/api/explain/counters/%FF", 400, "bad-request"),
        (&format!("/api/explain/counters/{long}"), 400, "bad-request"),
        ("/api/explain/counters", 404, "unknown-path"),
        ("/api/explain/counters/", 404, "unknown-path"),
        ("/api", 404, "unknown-path"),
        ("/assets/..%2Findex.html", 404, "unknown-path"),
    ] {
        let answer = get(a.address(), path).await;
        let problem: Problem = answer.of();
        assert_eq!((answer.status, problem.error.as_str()), (status, error), "{path}: {problem:?}");
        assert!(!problem.what.is_empty() && !problem.advice.is_empty());
    }
}

#[tokio::test]
async fn a_node_is_ready_once_its_types_are_known_to_the_cluster() {
    let alone = node("alone", None).await;
    let management = Management::builder(&alone).listen("127.0.0.1:0").start().await.unwrap();
    let address = management.address();
    let health: Health = until(address, "/health/ready", |health: &Health| health.ok).await;
    assert_eq!((health.node.as_str(), health.standing.as_str(), health.why), ("alone", "member", None));
    let answer = get(address, "/health/ready?types=counters,carts").await;
    assert_eq!(answer.status, 503);
    assert!(answer.of::<Health>().why.unwrap().contains("counters, carts"));
    let _counters = crate::fleet::counters(&alone).await;
    until(address, "/health/ready?types=counters", |health: &Health| health.ok).await;
    assert_eq!(get(address, "/health/ready?types=counters").await.status, 200);
    assert_eq!(get(address, "/health/live").await.status, 200);
}

#[tokio::test]
async fn a_node_that_looks_for_its_cluster_lives_and_is_not_ready_and_says_what_helps() {
    let lost = borough_cluster::Node::builder("fleet")
        .listen("127.0.0.1:0")
        .seed("127.0.0.1:1")
        .start()
        .await
        .unwrap();
    let management = Management::builder(&lost).listen("127.0.0.1:0").start().await.unwrap();
    assert_eq!(get(management.address(), "/health/live").await.status, 200);
    let ready = get(management.address(), "/health/ready").await;
    assert_eq!(ready.status, 503);
    assert!(ready.of::<Health>().why.unwrap().contains("seed"));
    let members: Members = get(management.address(), "/api/members").await.of();
    assert_eq!(members.standing, "seeking");
    assert!(members.advice.unwrap().contains("seed"));
    assert_eq!(get(management.address(), "/api/shards").await.of::<Shards>().kinds, []);
    assert_eq!(get(management.address(), "/api/stats").await.of::<Stats>().nodes, []);
}

#[tokio::test]
async fn metrics_are_told_as_prometheus_reads_them() {
    let [a, _b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let answer = get(a.address(), "/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    let value = |name: &str| {
        let line =
            answer.body.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}"));
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    assert!((value("borough_members{state=\"up\"}") - 2.0).abs() < f64::EPSILON);
    assert!(value("borough_entities{type=\"counters\"}") > 0.0);
    assert!(value("borough_shards{type=\"counters\"}") > 0.0);
    let turns = ["p50", "p99", "longest"]
        .map(|name| value(&format!("borough_turn_{name}_seconds{{type=\"counters\"}}")));
    assert!(turns[0] > 0.0 && turns.is_sorted(), "{turns:?}");
    let mut described = Vec::new();
    for line in answer.body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            described.push(rest.split(' ').next().unwrap());
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            assert_eq!(described.last(), Some(&name), "{line}");
            assert!(line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok(), "{line}");
        }
    }
    let count = described.len();
    described.sort_unstable();
    described.dedup();
    assert_eq!(described.len(), count, "each family once");
}

#[tokio::test]
async fn the_page_comes_with_all_that_it_names() {
    let [a] = fleet(["a"]).await;
    let page = get(a.address(), "/").await;
    assert!(page.header("content-type").starts_with("text/html"));
    let mut wanted: Vec<String> = page.body.split("/assets/").skip(1).map(name).collect();
    assert!(!wanted.is_empty());
    let mut seen = Vec::new();
    while let Some(asset) = wanted.pop() {
        if seen.contains(&asset) {
            continue;
        }
        let answer = get(a.address(), &format!("/assets/{asset}")).await;
        assert_eq!(answer.status, 200, "{asset}");
        let kind = match asset.rsplit_once('.').unwrap().1 {
            "js" => "text/javascript",
            "css" => "text/css",
            "svg" => "image/svg+xml",
            other => panic!("{other}"),
        };
        assert!(answer.header("content-type").starts_with(kind), "{asset}");
        if kind == "text/javascript" {
            wanted.extend(answer.body.split("from \"./").skip(1).map(name));
        }
        seen.push(asset);
    }
}

/// The name of a file that a text goes on with.
fn name(text: &str) -> String {
    text.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn settings_are_told_with_where_they_came_from() {
    let [a] = fleet(["a"]).await;
    let told: Settings = get(a.address(), "/api/settings").await.of();
    assert_eq!(told.seen_by, "a");
    let of = |key: &str| {
        let found = told.settings.iter().find(|setting| setting.key == key).unwrap();
        (found.value.clone(), found.origin.clone())
    };
    assert_eq!(of("node.id"), ("a".to_owned(), "code".to_owned()));
    assert_eq!(of("management.listen"), ("127.0.0.1:0".to_owned(), "code".to_owned()));
    assert_eq!(of("cluster.linger"), ("4 s".to_owned(), "default".to_owned()));
    assert_eq!(of("sharding.types.counters.hash"), ("xxh3".to_owned(), "default".to_owned()));
}
