//! Settings that do not go together are refused, each with where it was said.

use borough_protocol::incarnation::Address;

use super::{file, is, vars};
use crate::config::{ConfigError, SettingRow};
use crate::durability::DurabilityError;
use crate::node::Node;

/// The keys that are named, and the words.
fn refused(text: &str) -> (Vec<String>, String) {
    let error = file(text).check().unwrap_err();
    let ConfigError::Unsafe { settings, .. } = &error else { panic!("{error}") };
    (settings.iter().map(|row| row.key.clone()).collect(), error.to_string())
}

#[test]
fn a_fail_over_that_would_be_too_slow_names_all_that_make_it_so() {
    let (keys, words) = refused("[cluster]\nmax_pause = \"2 s\"");
    assert_eq!(
        keys,
        ["cluster.max_pause", "cluster.round_trip", "cluster.drift_per_mille", "cluster.failover_target"]
    );
    assert!(words.contains("cluster.max_pause = 2 s (conf/borough.toml:2)"), "{words}");
    assert!(words.contains("cluster.failover_target = 3.5 s (default)"), "{words}");
    assert!(words.contains("raise failover_target"), "{words}");
    assert!(file("[cluster]\nmax_pause = \"2 s\"\nfailover_target = \"20 s\"\nlinger = \"10 s\"\nvoters_settle = \"10 s\"").check().is_ok());
}

#[test]
fn a_setting_that_bounds_another_is_named_with_it() {
    for (text, expected) in [
        ("[limits]\nframe_max = \"2 MiB\"", vec!["limits.queue_bytes", "limits.frame_max"]),
        ("[limits]\nmessage_max = \"8 KiB\"", vec!["limits.message_max", "limits.frame_max"]),
        (
            "[cluster]\nheartbeat_interval = \"5 s\"",
            vec!["cluster.acceptable_pause", "cluster.heartbeat_interval", "cluster.max_pause"],
        ),
        ("[cluster]\nseed_ask_interval = \"2 s\"", vec!["cluster.seed_timeout", "cluster.seed_ask_interval"]),
        ("[cluster]\nmax_voters = 4", vec!["cluster.max_voters"]),
        ("[cluster]\nstrategy = \"static-quorum(4)\"", vec!["cluster.strategy", "cluster.max_voters"]),
    ] {
        let (mut keys, words) = refused(text);
        let mut expected = expected;
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected, "{words}");
        assert!(words.contains("conf/borough.toml:2"), "{words}");
    }
}

#[test]
fn insecure_and_protected_at_once_is_refused() {
    let (keys, _) = refused("[security]\ninsecure = true\nsecret_file = \"s\"");
    assert_eq!(keys, ["security.insecure", "security.secret_file"]);
    let tls = "tls_authority = \"a\"\ntls_certificate = \"c\"\ntls_key = \"k\"";
    let (keys, _) = refused(&format!("[security]\ninsecure = true\n{tls}"));
    assert_eq!(keys.len(), 4);
    assert!(file(&format!("[security]\n{tls}\nsecret_file = \"s\"")).check().is_ok());
}

#[test]
fn an_address_that_others_reach_is_refused_without_protection() {
    let (keys, words) = refused("[node]\nlisten = \"0.0.0.0:1\"");
    assert_eq!(keys, ["node.listen", "security.insecure"]);
    assert!(words.contains("security.secret_file"), "{words}");
    for protection in ["insecure = true", "secret_env = \"S\""] {
        let text = format!("[node]\nlisten = \"0.0.0.0:1\"\nvolatile = true\n[security]\n{protection}");
        assert!(file(&text).check().is_ok());
    }
    assert!(file("[node]\nlisten = \"localhost:1\"").check().is_ok());
}

/// The keys that are named, and what is wrong with whether the cluster survives its processes.
fn undecided(text: &str) -> (Vec<String>, DurabilityError, String) {
    let error = file(text).check().unwrap_err();
    let words = error.to_string();
    let ConfigError::Durability { settings, error } = error else { panic!("{words}") };
    (settings.into_iter().map(|row| row.key).collect(), error, words)
}

#[test]
fn an_address_that_others_reach_needs_a_data_directory_or_the_word_that_there_is_none() {
    let open = "[security]\ninsecure = true\n[node]\nlisten = \"0.0.0.0:1\"";
    for text in [open.to_owned(), format!("{open}\nvolatile = false")] {
        let (keys, error, words) = undecided(&text);
        assert_eq!(keys, ["node.listen", "node.data_dir", "node.volatile"]);
        assert_eq!(error, DurabilityError::NotChosen { address: Address::new("0.0.0.0:1") });
        for part in [
            "node.listen = 0.0.0.0:1 (conf/borough.toml:4)",
            "`node.data_dir`), by which the cluster survives any restart of its nodes",
            "`node.volatile = true`), by which a cluster ends with its processes",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    for choice in ["data_dir = \"/d\"", "volatile = true", "data_dir = \"/d\"\nvolatile = false"] {
        assert!(file(&format!("{open}\n{choice}")).check().is_ok(), "{choice}");
    }
    assert!(file("[node]\nlisten = \"127.0.0.1:1\"").check().is_ok());
}

#[test]
fn a_data_directory_and_the_word_that_there_is_none_are_refused_in_one_layer_which_is_named() {
    let (keys, error, words) = undecided("[node]\ndata_dir = \"/d\"\nvolatile = true");
    assert_eq!(keys, ["node.data_dir", "node.volatile"]);
    let both = |layer: &str| DurabilityError::Both { path: "/d".into(), layer: layer.to_owned() };
    assert_eq!(error, both("conf/borough.toml"));
    assert!(words.contains("node.volatile = true (conf/borough.toml:3)"), "{words}");
    let error = vars(&[DIRECTORY, VOLATILE]).unwrap().check().unwrap_err();
    let words = error.to_string();
    let ConfigError::Durability { error, .. } = error else { panic!("{words}") };
    assert_eq!(error, both("the environment"));
    assert!(words.contains("are both set by the environment"), "{words}");
}

const DIRECTORY: (&str, &str) = ("BOROUGH_NODE_DATA_DIR", "/d");
const VOLATILE: (&str, &str) = ("BOROUGH_NODE_VOLATILE", "true");

#[test]
fn of_a_data_directory_and_the_word_that_there_is_none_the_higher_layer_counts() {
    let durable = |rows: &[SettingRow], origin: &str| {
        is(rows, "node.data_dir", "/d", origin);
        is(rows, "node.volatile", "false", "default");
    };
    let volatile = |rows: &[SettingRow], origin: &str| {
        is(rows, "node.data_dir", "none", "default");
        is(rows, "node.volatile", "true", origin);
    };
    let in_file = |text| file(&format!("[node]\n{text}"));
    let in_environment = |variable| vars(&[variable]).unwrap();
    let config = in_file("volatile = true").over(in_environment(DIRECTORY));
    assert!(config.check().is_ok());
    durable(&config.report(), "env BOROUGH_NODE_DATA_DIR");
    let config = in_file("data_dir = \"/d\"").over(in_environment(VOLATILE));
    assert!(config.check().is_ok());
    volatile(&config.report(), "env BOROUGH_NODE_VOLATILE");
    // Not volatile is no choice: what a lower layer chose stays.
    let config = in_file("data_dir = \"/d\"").over(in_environment(("BOROUGH_NODE_VOLATILE", "false")));
    assert!(config.check().is_ok());
    is(&config.report(), "node.data_dir", "/d", "conf/borough.toml:2");

    for below in [in_file("volatile = true"), in_environment(VOLATILE)] {
        durable(&Node::builder("test").config(below).data_dir("/d").rows(), "code");
    }
    for below in [in_file("data_dir = \"/d\""), in_environment(DIRECTORY)] {
        volatile(&Node::builder("test").config(below).volatile().rows(), "code");
    }
    // A lower layer that says both is not asked.
    let both = in_file("data_dir = \"/e\"\nvolatile = true");
    assert!(both.check().is_err());
    assert!(both.over(in_environment(DIRECTORY)).check().is_ok());
}

#[test]
fn a_management_that_others_reach_is_refused_without_token_or_certificates() {
    let (keys, words) = refused("[management]\nlisten = \"0.0.0.0:1\"");
    assert_eq!(keys, ["management.listen"]);
    assert!(words.contains("borough.toml:2") && words.contains("management.token_file"), "{words}");
    for protection in ["token = \"0123456789abcdef\"", "token_file = \"t\""] {
        let config = file(&format!("[management]\nlisten = \"0.0.0.0:1\"\n{protection}"));
        assert!(config.check().is_ok(), "{protection}");
    }
    let tls = "tls_authority = \"a\"\ntls_certificate = \"c\"\ntls_key = \"k\"";
    let config = file(&format!("[management]\nlisten = \"0.0.0.0:1\"\ntls = true\n[security]\n{tls}"));
    assert!(config.check().is_ok());
    assert!(file("[management]\nlisten = \"[::1]:1\"").check().is_ok());
}

#[test]
fn tls_wants_all_three_files() {
    let (keys, words) = refused("[security]\ntls_key = \"k\"");
    assert_eq!(keys, ["security.tls_authority", "security.tls_certificate", "security.tls_key"]);
    assert!(words.contains("security.tls_authority = none (default)"), "{words}");
    let (keys, _) = refused("[management]\ntls = true");
    assert_eq!(keys, ["management.tls", "security.tls_certificate"]);
}

#[test]
fn two_that_stand_in_place_of_each_other_are_refused_in_one_layer() {
    for (one, other) in [
        ("node.seeds = [\"a:1\"]", "node.seeds_dns = \"b:1\""),
        ("node.seeds_dns = \"b:1\"", "node.seeds_file = \"f\""),
        ("security.secret_file = \"f\"", "security.secret_env = \"E\""),
        ("management.token = \"0123456789abcdef\"", "management.token_file = \"f\""),
    ] {
        let (keys, _) = refused(&format!("{one}\n{other}"));
        assert!(keys.len() == 2 && one.starts_with(&keys[0]) && other.starts_with(&keys[1]), "{keys:?}");
    }
}

#[test]
fn of_two_that_stand_in_place_of_each_other_the_higher_layer_counts() {
    let config = file("[node]\nseeds = [\"a:1\"]").over(vars(&[("BOROUGH_NODE_SEEDS_DNS", "b:1")]).unwrap());
    assert!(config.check().is_ok());
    is(&config.report(), "node.seeds", "none", "default");
    is(&config.report(), "node.seeds_dns", "b:1", "env BOROUGH_NODE_SEEDS_DNS");
}
