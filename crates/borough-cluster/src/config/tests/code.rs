//! What code says wins, whatever the order, and is told to be code's.

use std::time::Duration;

use super::{file, is, vars};
use crate::config::Setting;
use crate::{CodecId, FoundWith, Limits, Node, NodeBuilder, Secret, StaticSeeds, Strategy, Tls};

type Call = fn(NodeBuilder) -> NodeBuilder;

const TIME: Duration = Duration::from_millis(7_250);

/// A call for every setting of a node; those of management are its own builder's.
const CALLS: &[(&str, &str, Call)] = &[
    ("node.listen", "a:7", |node| node.listen("a:7")),
    ("node.advertise", "a:7", |node| node.advertise("a:7")),
    ("node.seeds", "a:7, b:7", |node| node.seed("a:7").seeds(["b:7"])),
    ("node.seeds", "set in code", |node| node.discovery(StaticSeeds::of(Vec::new()))),
    ("node.found_with", "majority", |node| node.found_with(FoundWith::Majority)),
    ("node.expect", "3", |node| node.expect(3)),
    ("node.found_alone", "true", NodeBuilder::found_alone),
    ("node.data_dir", "/d7", |node| node.data_dir("/d7")),
    ("node.volatile", "true", NodeBuilder::volatile),
    ("node.id", "n7", |node| node.node_id("n7")),
    ("node.roles", "a, b", |node| node.role("a").roles(["b"])),
    ("node.app_version", "7", |node| node.app_version("7")),
    ("node.zone", "z7", |node| node.zone("z7")),
    ("node.rejoin", "true", |node| node.rejoin(true)),
    ("node.wedged_after", "7.25 s", |node| node.wedged_after(TIME)),
    ("node.ask_timeout", "7.25 s", |node| node.ask_timeout(TIME)),
    ("node.leave_timeout", "7.25 s", |node| node.leave_timeout(TIME)),
    ("node.drop_after", "7.25 s", |node| node.drop_after(TIME)),
    ("node.codec", "json", |node| node.codec(CodecId::Json)),
    ("cluster.strategy", "keep-oldest", |node| node.strategy(Strategy::KeepOldest)),
    ("cluster.max_pause", "7.25 s", |node| node.max_pause(TIME)),
    ("cluster.round_trip", "7.25 s", |node| node.round_trip(TIME)),
    ("cluster.failover_target", "7.25 s", |node| node.failover_target(TIME)),
    ("cluster.minimum_members", "7", |node| node.minimum_members(7)),
    ("cluster.minimum_per_role", "a=7", |node| node.minimum_members_of("a", 7)),
    ("cluster.drift_per_mille", "7", |node| node.settings(|said| said.drift_per_mille = 7)),
    ("cluster.max_voters", "7", |node| node.settings(|said| said.max_voters = 7)),
    ("cluster.gossip_interval", "7.25 s", |node| node.settings(|said| said.gossip_interval = TIME)),
    ("cluster.heartbeat_interval", "7.25 s", |node| node.settings(|said| said.heartbeat_interval = TIME)),
    ("cluster.monitors", "7", |node| node.settings(|said| said.monitors = 7)),
    ("cluster.detector", "deadline", |node| {
        node.settings(|said| said.detector = crate::DetectorKind::Deadline)
    }),
    ("cluster.phi_threshold_tenths", "77", |node| node.settings(|said| said.phi_threshold_tenths = 77)),
    ("cluster.phi_window", "7", |node| node.settings(|said| said.phi_window = 7)),
    ("cluster.phi_min_deviation", "7.25 s", |node| node.settings(|said| said.phi_min_deviation = TIME)),
    ("cluster.acceptable_pause", "7.25 s", |node| node.settings(|said| said.acceptable_pause = TIME)),
    ("cluster.tombstone_life", "7.25 s", |node| node.settings(|said| said.tombstone_life = TIME)),
    ("cluster.seed_timeout", "7.25 s", |node| node.settings(|said| said.seed_timeout = TIME)),
    ("cluster.seed_ask_interval", "7.25 s", |node| node.settings(|said| said.seed_ask_interval = TIME)),
    ("cluster.linger", "7.25 s", |node| node.settings(|said| said.linger = TIME)),
    ("cluster.voters_settle", "7.25 s", |node| node.settings(|said| said.voters_settle = TIME)),
    ("cluster.log_kept", "7", |node| node.settings(|said| said.log_kept = 7)),
    ("limits.frame_max", "8 KiB", |node| node.limits(limits())),
    ("limits.message_max", "9 KiB", |node| node.limits(limits())),
    ("limits.queue_messages", "7", |node| node.limits(limits())),
    ("limits.queue_bytes", "7 KiB", |node| node.limits(limits())),
    ("limits.unacked_max", "6 KiB", |node| node.limits(limits())),
    ("limits.handshakes_at_once", "5", |node| node.limits(limits())),
    ("limits.connections_max", "4", |node| node.limits(limits())),
    ("limits.handshake_time", "7.25 s", |node| node.limits(limits())),
    ("security.tls_authority", "set in code", |node| node.tls(Tls::from_pem("", "", ""))),
    ("security.tls_certificate", "set in code", |node| node.tls(Tls::from_pem("", "", ""))),
    ("security.tls_key", "set in code", |node| node.tls(Tls::from_pem("", "", ""))),
    ("security.secret_file", "set in code", |node| node.secret(secret())),
    ("security.secret_env", "set in code", |node| node.secret(secret())),
    ("security.insecure", "true", NodeBuilder::insecure),
];

fn limits() -> Limits {
    Limits {
        frame_max: 8192,
        message_max: 9216,
        queue_messages: 7,
        queue_bytes: 7168,
        unacked_max: 6144,
        handshakes_at_once: 5,
        connections_max: 4,
        handshake_time: TIME,
    }
}

fn secret() -> Secret {
    Secret::new(b"0123456789abcdef").unwrap()
}

#[test]
fn a_call_wins_over_file_and_environment_in_whatever_order() {
    // Of the environment, because that is the layer below code.
    let below = || {
        let said = [
            ("BOROUGH_NODE_LISTEN", "x:1"),
            ("BOROUGH_NODE_SEEDS", "x:1"),
            ("BOROUGH_NODE_REJOIN", "false"),
            ("BOROUGH_NODE_ROLES", "x"),
            ("BOROUGH_CLUSTER_MAX_PAUSE", "1 s"),
            ("BOROUGH_CLUSTER_MAX_VOTERS", "3"),
            ("BOROUGH_LIMITS_FRAME_MAX", "5 KiB"),
            ("BOROUGH_SECURITY_TLS_KEY", "k"),
            ("BOROUGH_SECURITY_SECRET_FILE", "s"),
        ];
        vars(&said).unwrap()
    };
    for (key, shown, call) in CALLS {
        is(&call(Node::builder("test").config(below())).rows(), key, shown, "code");
        is(&call(Node::builder("test")).config(below()).rows(), key, shown, "code");
    }
}

#[test]
fn every_setting_of_a_node_has_a_call() {
    let replaced = ["node.seeds_dns", "node.seeds_file"];
    for setting in Setting::all().filter(|setting| !setting.is_per_type()) {
        let key = setting.key();
        let has_call = CALLS.iter().any(|(called, ..)| *called == key);
        assert!(has_call || replaced.contains(&key) || key.starts_with("management."), "{key}");
    }
}

#[test]
fn seeds_of_code_stand_in_place_of_all_others() {
    let below = || vars(&[("BOROUGH_NODE_SEEDS_DNS", "x:1")]).unwrap();
    let rows = Node::builder("test").seed("a:1").config(below()).rows();
    is(&rows, "node.seeds", "a:1", "code");
    is(&rows, "node.seeds_dns", "none", "default");
}

#[test]
fn fields_that_code_leaves_as_they_were_are_left_to_the_file() {
    let config = file("[cluster]\nmax_voters = 3\nmonitors = 5");
    let rows = Node::builder("test").config(config).settings(|said| said.monitors = 7).rows();
    is(&rows, "cluster.max_voters", "3", "conf/borough.toml:2");
    is(&rows, "cluster.monitors", "7", "code");
}

#[test]
fn what_nobody_says_is_the_default_of_the_table() {
    let rows = Node::builder("test").rows();
    for setting in Setting::all() {
        is(&rows, setting.key(), &setting.default(), "default");
    }
}
