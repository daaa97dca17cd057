//! What is asked of a running cluster, and what it is told to do.

use std::process::Stdio;
use std::time::Instant;

use crate::managed::Managed;
use crate::run::{BOUND, Demo, printed, program, run};

/// The owner of a shard of the one type.
fn owner(shards: &serde_json::Value, shard: u64) -> Option<String> {
    let places = shards["kinds"][0]["places"].as_array()?;
    places.iter().find(|place| place["shard"] == shard)?["owner"].as_str().map(str::to_owned)
}

fn owned_by(shards: &serde_json::Value, node: &str) -> usize {
    let places = shards["kinds"][0]["places"].as_array().unwrap();
    places.iter().filter(|place| place["owner"] == node).count()
}

/// Whether all shards have an owner, each node its share, and none is on its way: then nothing changes by itself.
fn is_spread(shards: &serde_json::Value) -> bool {
    let is_moving = |place: &serde_json::Value| !place["moving_to"].is_null();
    (0..256).all(|shard| owner(shards, shard).is_some())
        && ["uptown", "midtown", "downtown"].iter().all(|node| owned_by(shards, node) >= 85)
        && !shards["kinds"][0]["places"].as_array().unwrap().iter().any(is_moving)
}

#[test]
fn a_cluster_is_seen_and_does_as_it_is_told() {
    let demo = Demo::start();
    demo.until(&["shards"], is_spread);

    let members = demo.json(&["members"]);
    let names: Vec<_> = members["members"].as_array().unwrap().iter().map(|member| &member["node"]).collect();
    assert_eq!(names.len(), 4, "three nodes and the demo's own: {names:?}");
    assert!(demo.printed(&["members"]).contains("it survives"));
    assert!(demo.printed(&["shards"]).contains("sensors: 256 of 256 shards have an owner"));

    let location = demo.json(&["explain", "sensors", "sensor-17"]);
    let shard = location["shard"].as_u64().unwrap();
    let here = location["node"].as_str().unwrap();
    assert_eq!(owner(&demo.json(&["shards"]), shard).as_deref(), Some(here));
    let explained = demo.printed(&["explain", "sensors", "sensor-17"]);
    assert!(explained.contains(here), "{explained}");
    let epoch = location["epoch"].as_str().unwrap().parse::<u64>().unwrap();
    let epoch = format!("owned since epoch {}.{}", epoch >> 32, epoch & 0xFFFF_FFFF);
    assert!(explained.contains(&epoch), "{explained}");

    let ids = demo.printed(&["ids", "sensors", "--shard", &shard.to_string()]);
    assert!(ids.lines().any(|id| id == "sensor-17"), "{ids}");
    let living = |listed: &serde_json::Value| {
        let shards = listed.as_array().unwrap().iter();
        shards.map(|shard| shard["ids"].as_array().unwrap().len()).sum::<usize>()
    };
    demo.until(&["ids", "sensors"], |listed| living(listed) == 4000);

    let picture = demo.printed(&["top", "--once"]);
    for word in ["cluster city", "uptown", "midtown", "downtown", "sensors: 256 shards"] {
        assert!(picture.contains(word), "{word:?} is not in\n{picture}");
    }

    // Under load there is always a turn that was timed of late.
    demo.until(&["entities"], |entities| entities["slowest"][0]["kind"] == "sensors");
    let told = demo.printed(&["entities"]);
    assert!(told.contains("SLOWEST TURN") && told.contains("sensor-"), "{told}");
    let picture = demo.printed(&["top", "--once"]);
    assert!(picture.contains(": a turn of ") && picture.contains("turns: p50 "), "{picture}");

    // The demo's own node listens where code says, and has the default of nearly everything else.
    let settings = demo.json(&["settings"])["settings"].as_array().unwrap().clone();
    let origin_of = |key: &str| {
        let found = settings.iter().find(|setting| setting["key"] == key);
        found.map(|setting| setting["origin"].as_str().unwrap().to_owned())
    };
    assert_eq!(origin_of("node.listen").as_deref(), Some("code"));
    assert_eq!(origin_of("node.ask_timeout").as_deref(), Some("default"));
    let changed = demo.printed(&["settings", "--changed"]);
    assert!(changed.contains("node.listen") && !changed.contains("node.ask_timeout"), "{changed}");

    let there = if here == "uptown" { "midtown" } else { "uptown" };
    demo.printed(&["move", &shard.to_string(), there]);
    demo.until(&["shards"], |shards| owner(shards, shard).as_deref() == Some(there));

    demo.printed(&["drain", "downtown"]);
    demo.until(&["shards"], |shards| owned_by(shards, "downtown") == 0);
    demo.printed(&["leave", "downtown"]);
    demo.until(&["members"], |members| {
        members["members"].as_array().unwrap().iter().all(|member| member["node"] != "downtown")
    });
}

#[test]
fn events_are_followed_as_they_happen_and_as_many_as_wanted() {
    let demo = Demo::start();
    let follow = ["events", "--count", "3", "--json", "--address", &demo.address];
    let mut follower = program(&follow).stdout(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + BOUND;
    // Shard 0 goes to and fro until enough was heard.
    for there in ["uptown", "midtown"].into_iter().cycle() {
        if follower.try_wait().unwrap().is_some() {
            break;
        }
        assert!(Instant::now() < until, "the follower has not heard three events");
        // Refused while it moves already.
        run(&["move", "0", there, "--address", &demo.address]);
    }
    let printed = String::from_utf8(follower.wait_with_output().unwrap().stdout).unwrap();
    let events: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 3, "{printed}");
    assert!(events.iter().all(|event| event["text"].is_string()), "{printed}");
}

#[test]
fn a_reader_that_has_gone_ends_a_command_quietly() {
    let demo = Demo::start();
    let asked: [&[&str]; 8] = [
        &["members"],
        &["shards"],
        &["entities"],
        &["settings"],
        &["explain", "sensors", "sensor-17"],
        &["members", "--json"],
        &["top", "--once"],
        &["drain", "uptown"],
    ];
    for arguments in asked {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let arguments = [arguments, &["--address", &demo.address]].concat();
        let output = program(&arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*words), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error_in_words() {
    let demo = Demo::start();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program(&["members", "--address", &demo.address]).stdout(full).output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words.starts_with("borough: standard output cannot be written to"), "{words}");
}

#[test]
fn a_wrong_address_says_what_was_tried_and_what_to_do() {
    let output = run(&["members", "--address", "127.0.0.1:1"]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words.contains("http://127.0.0.1:1"), "{words}");
    assert!(words.contains("--address"), "{words}");
}

#[test]
fn an_order_for_a_node_that_is_none_names_those_there_are() {
    let demo = Demo::start();
    let output = run(&["drain", "atlantis", "--address", &demo.address]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words.contains("atlantis") && words.contains("uptown"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_reaches_the_node_that_is_named_whatever_its_name_looks_like() {
    let managed = Managed::start("rack#2/b?c d%41").await;
    let name = managed.node.node_id().as_str();
    let words = printed(&["drain", name, "--address", &managed.address()]);
    assert!(words.starts_with(name), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_environment_is_not_asked() {
    let managed = Managed::start("home").await;
    let mut asking = program(&["members", "--address", &managed.address()]);
    asking.env("ALL_PROXY", "http://127.0.0.1:1").env_remove("NO_PROXY").env_remove("no_proxy");
    let output = asking.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn tools_of_the_repository_say_where_they_are_to_be_had() {
    let output = program(&["sim", "--seeds", "1"]).current_dir("/").output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words.contains("git clone"), "{words}");
}
