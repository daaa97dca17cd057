//! Bad set-ups get words.

use std::time::Duration;

#[cfg(not(feature = "json"))]
use borough_cluster::CodecId;
use borough_cluster::{Config, ShardError};

use crate::book::{Book, Writer, books};
use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn another_shard_count_hash_role_or_function_is_refused_and_both_are_named() {
    let [a, b] = Rig::new(41).cluster(["a:1", "b:1"]).await;
    books(&a).await;
    let shard = |node: &borough_cluster::Node| node.shard("books", |_| Writer::default()).shards(16);
    let said = |error: ShardError| match error {
        ShardError::Differs { setting, ours, theirs, .. } => (setting, ours, theirs),
        other => panic!("{other}"),
    };
    let refused = shard(&b).shards(8).start().await.unwrap_err();
    assert_eq!(said(refused), ("shard count", "8".into(), "16".into()));
    let refused = shard(&b).hash_by_md5().start().await.unwrap_err();
    assert_eq!(said(refused), ("hash", "Md5".into(), "Xxh3".into()));
    let refused = shard(&b).role("back").start().await.unwrap_err();
    assert_eq!(said(refused), ("role", "back".into(), "none".into()));
    let refused = shard(&b).shard_by(|id| id.len() as u64).start().await.unwrap_err();
    assert_eq!(said(refused).0, "hash");
    shard(&b).start().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_second_type_of_one_name_is_refused_and_the_first_is_found() {
    let [node] = Rig::new(42).cluster(["a:1"]).await;
    let first = books(&node).await;
    let refused = node.shard("books", |_| Writer::default()).start().await.unwrap_err();
    assert!(refused.to_string().contains("Book"), "{refused}");
    assert_eq!(node.region::<Book>("books").unwrap().shards(), first.shards());
    assert!(node.region::<Book>("letters").unwrap_err().to_string().contains("letters"));
    assert!(node.region::<u64>("books").unwrap_err().to_string().contains("u64"));
}

#[tokio::test(start_paused = true)]
async fn names_and_shard_counts_that_cannot_be_are_refused() {
    let [node] = Rig::new(43).cluster(["a:1"]).await;
    for (name, shards) in [("", 1), ("x", 0), ("x", 1_000_000)] {
        let refused = node.shard(name, |_| Writer::default()).shards(shards).start().await;
        assert!(refused.is_err(), "{name} {shards}");
    }
}

#[tokio::test(start_paused = true)]
async fn roles_that_cannot_be_are_refused() {
    let [node] = Rig::new(45).cluster(["a:1"]).await;
    for role in [String::new(), "r".repeat(256)] {
        let expected = ShardError::Role { kind: "books".into(), length: role.len(), max: 255 };
        let refused = node.shard("books", |_| Writer::default()).role(role.clone()).start().await;
        assert_eq!(refused.unwrap_err(), expected);
        let refused = node.shard_proxy::<Book>("books").role(role).start().await;
        assert_eq!(refused.unwrap_err(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_that_the_cluster_has_no_room_for_is_refused_with_the_numbers() {
    let [a, b] = Rig::new(46).cluster(["a:1", "b:1"]).await;
    for name in ["one", "two"] {
        a.shard_proxy::<Book>(name).shards(65_536).start().await.unwrap();
    }
    let refused = within(b.shard_proxy::<Book>("three").shards(1).start()).await.unwrap_err();
    let (declared, max) = (131_072, 131_072);
    assert_eq!(refused, ShardError::TooManyShards { kind: "three".into(), shards: 1, declared, max });
    assert!(b.region::<Book>("three").is_err(), "it was not started");
    // Those that are known fit, wherever they are started.
    b.shard_proxy::<Book>("two").shards(65_536).start().await.unwrap();
}

/// It was started before its node knew of any cluster, so that nobody could be told.
#[tokio::test(start_paused = true)]
async fn a_type_that_the_cluster_does_not_get_to_know_is_warned_about_once_with_the_reason() {
    let (warnings, _guard) = Warnings::listen();
    let mut rig = Rig::new(47);
    let [a] = rig.cluster(["a:1"]).await;
    for name in ["one", "two"] {
        a.shard_proxy::<Book>(name).shards(65_536).start().await.unwrap();
    }
    rig.part("a:1", "b:1");
    let late = rig.node("b:1", &["a:1"]).start().await.unwrap();
    let three = late.shard_proxy::<Book>("three").shards(1).start().await.unwrap();
    within(three.tell("x", Book::Close)).await.unwrap();
    rig.network.heal_all();
    within(late.wait_for(2)).await.unwrap();
    after(Duration::from_secs(20)).await;
    let said = warnings.with("started here and nowhere known");
    assert_eq!(said.len(), 1, "{said:?}");
    let why = late.explain("three", "x").unwrap().why;
    for word in ["three", "131072", why.as_str()] {
        assert!(said[0].contains(word), "{word} is not in {}", said[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_started_on_a_member_is_hosted_there_once_start_is_ready() {
    let [a, b] = Rig::new(44).cluster(["a:1", "b:1"]).await;
    let at_a = books(&a).await;
    at_a.ask("x", |reply| Book::Sign { sender: 1, number: 1, reply }).await.unwrap();
    let at_b = books(&b).await;
    assert!(b.is_ready_for(&["books"]));
    // So the other may leave at once, and everything finds its way here.
    a.leave().await.unwrap();
    assert_eq!(at_b.ask("x", Book::Read).await.unwrap().notes[&1], (1, 1));
}

#[cfg(not(feature = "json"))]
#[tokio::test(start_paused = true)]
async fn a_codec_that_is_not_built_in_is_refused_and_named() {
    let config = Config::parse("b.toml", "[sharding.types.books]\ncodec = \"json\"").unwrap();
    let node = Rig::new(45).node("a:1", &[]).config(config).start().await.unwrap();
    let refused = node.shard("books", |_| Writer::default()).keeps_own_state().start().await.unwrap_err();
    assert_eq!(refused, ShardError::Codec { kind: "books".into(), codec: CodecId::Json });
    assert!(refused.to_string().contains("JSON"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn settings_of_a_type_that_no_node_has_started_are_told_once_with_what_was_meant() {
    let (warnings, _guard) = Warnings::listen();
    let text = "[sharding.types.boks]\nshards = 8\n[sharding.types.books]\nhold_limit = 9\n[sharding.types.letters]\nhold_limit = 9";
    let variable = ("BOROUGH_SHARDING_TYPES_TAPES_SHARDS".to_owned(), "8".to_owned());
    let config = Config::parse("b.toml", text).unwrap().over(Config::from_vars([variable]).unwrap());
    let mut rig = Rig::new(48);
    let a = rig.node("a:1", &[]).config(config).start().await.unwrap();
    let b = rig.node("b:1", &["a:1"]).start().await.unwrap();
    within(a.wait_for(2)).await.unwrap();
    books(&a).await;
    // A file for all nodes may speak of what only others start.
    b.shard("letters", |_| Writer::default()).shards(4).migrate_state().start().await.unwrap();
    after(Duration::from_secs(30)).await;
    assert!(warnings.with("settings without a type").is_empty(), "said before it is sure");
    after(Duration::from_secs(120)).await;
    let said = warnings.with("settings without a type");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("b.toml:2 speaks of boks") && said[0].contains("did you mean books?"),
        "{said:?}"
    );
    assert!(said[1].contains("env BOROUGH_SHARDING_TYPES_TAPES_SHARDS speaks of TAPES"), "{said:?}");
}
