//! What is unknown, ill-formed or out of range is refused, with its place and what would do.

use super::vars;
use crate::config::{Config, ConfigError};

fn refused(text: &str) -> String {
    Config::parse("b.toml", text).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_refused_with_line_and_nearest_name() {
    for (text, line, said, nearest) in [
        ("\n[cluster]\nmax_paus = \"1 s\"", 3, "cluster.max_paus", Some("cluster.max_pause")),
        ("[cluster]\nround-trip = \"1 s\"", 2, "cluster.round-trip", Some("cluster.round_trip")),
        ("max_pause = \"1 s\"", 1, "max_pause", Some("cluster.max_pause")),
        ("[clusters]\nmax_pause = \"1 s\"", 1, "clusters", Some("cluster")),
        ("[node]\nlisten_on = \"a:1\"", 2, "node.listen_on", Some("node.listen")),
        ("colour = 1", 1, "colour", None),
    ] {
        let error = Config::parse("b.toml", text).unwrap_err();
        let ConfigError::Unknown { place, key, nearest: found } = &error else { panic!("{error}") };
        assert_eq!((place.to_string(), key.as_str()), (format!("b.toml:{line}"), said));
        assert_eq!(found.as_deref(), nearest);
        let words =
            nearest.map_or("docs/settings.md".to_owned(), |nearest| format!("did you mean {nearest}?"));
        assert!(error.to_string().contains(&words), "{error}");
    }
}

#[test]
fn an_unknown_key_of_a_type_is_refused_with_the_nearest_of_that_type() {
    let error = refused("[sharding.types.carts]\nshard = 8");
    assert_eq!(
        error,
        "b.toml:2: there is no setting sharding.types.carts.shard; did you mean sharding.types.carts.shards?"
    );
}

#[test]
fn what_kubernetes_says_of_a_service_is_passed_over_and_the_same_without_a_service_is_not() {
    let of_service = |service: &str| {
        let parts = [
            "SERVICE_HOST",
            "SERVICE_PORT",
            "SERVICE_PORT_CLUSTER",
            "PORT",
            "PORT_25520_TCP",
            "PORT_25520_TCP_ADDR",
        ];
        parts.map(|part| (format!("{service}_{part}"), "10.0.0.1".to_owned()))
    };
    let both = of_service("BOROUGH").into_iter().chain(of_service("BOROUGH_BANK_SEEDS"));
    assert!(Config::from_vars(both).unwrap().is_empty());
    for name in ["BOROUGH_PORT", "BOROUGH_NODE_PORT", "BOROUGH_SERVICE_PORT"] {
        assert!(vars(&[(name, "25520")]).is_err(), "{name}");
    }
    assert!(vars(&[("BOROUGH_SERVICE_HOST", "10.0.0.1"), ("BOROUGH_NODE_PORT", "1")]).is_err());
}

#[test]
fn an_unknown_variable_is_refused_with_the_nearest_name() {
    let error = vars(&[("BOROUGH_CLUSTER_MAX_PAUS", "1 s"), ("PATH", "/bin")]).unwrap_err().to_string();
    assert_eq!(
        error,
        "env BOROUGH_CLUSTER_MAX_PAUS: there is no setting BOROUGH_CLUSTER_MAX_PAUS; did you mean BOROUGH_CLUSTER_MAX_PAUSE?"
    );
    assert!(vars(&[("BOROUGH_SHARDING_TYPES_SHARDS", "8")]).is_err());
}

#[test]
fn variables_of_tools_and_tests_are_passed_over() {
    for (name, _) in crate::config::environment::PASSED_OVER {
        assert!(vars(&[(name, "x")]).unwrap().is_empty(), "{name}");
    }
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_line_and_what_is_allowed() {
    for (text, expected) in [
        (
            "[cluster]\nmax_pause = 250",
            "b.toml:2: cluster.max_pause is 250; write a time from 1 ms to 366 d with its unit, as \"250 ms\"",
        ),
        ("[cluster]\nmax_pause = \"250\"", "b.toml:2: cluster.max_pause is \"250\"; write a time"),
        ("[node]\nrejoin = \"yes\"", "b.toml:2: node.rejoin is \"yes\"; write true or false"),
        ("[node]\nrejoin = \"true\"", "b.toml:2: node.rejoin is \"true\"; write true or false"),
        ("[node]\nseeds = \"a:1\"", "b.toml:2: node.seeds is \"a:1\"; write a list of addresses"),
        ("[node]\nseeds = [\"a\"]", "b.toml:2: node.seeds is [\"a\"]; write a list of addresses"),
        ("[node]\nseeds = [1]", "b.toml:2: node.seeds is a list of other things; write a list of addresses"),
        ("[node]\nlisten = \"here\"", "b.toml:2: node.listen is \"here\"; write an address"),
        ("[sharding]\nshards = \"8\"", "b.toml:2: sharding.shards is \"8\"; write a number from 1 to 65536"),
        ("[sharding]\nshards = 0.5", "b.toml:2: sharding.shards is a fraction; write a number"),
        (
            "[limits]\nframe_max = \"1 MB\"",
            "b.toml:2: limits.frame_max is \"1 MB\"; write a size from 4 KiB to 16 MiB",
        ),
        (
            "[cluster]\nstrategy = \"majority\"",
            "b.toml:2: cluster.strategy is \"majority\"; write keep-majority, static-quorum(N)",
        ),
        (
            "[cluster]\nstrategy = \"lease-majority\"",
            "b.toml:2: cluster.strategy is \"lease-majority\"; write keep-majority",
        ),
        (
            "[cluster]\ndetector = \"psi\"",
            "b.toml:2: cluster.detector is \"psi\"; write one of phi, deadline",
        ),
        (
            "[cluster]\nminimum_per_role = { back = 0 }",
            "b.toml:2: cluster.minimum_per_role is a table; write a count for each name",
        ),
        (
            "[sharding.types.carts]\nshards = -1",
            "b.toml:2: sharding.types.carts.shards is -1; write a number",
        ),
        ("cluster = 3", "b.toml:1: cluster is 3; write its settings below [cluster]"),
        (
            "[sharding.types]\ncarts = 3",
            "b.toml:2: sharding.types.carts is 3; write its settings below [sharding.types.carts]",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

#[test]
fn a_value_out_of_range_is_refused_by_file_and_by_variable() {
    for (key, env, file, variable) in [
        ("sharding.shards", "BOROUGH_SHARDING_SHARDS", "65537", "0"),
        ("cluster.max_pause", "BOROUGH_CLUSTER_MAX_PAUSE", "\"367 d\"", "0 s"),
        ("limits.frame_max", "BOROUGH_LIMITS_FRAME_MAX", "4095", "17 MiB"),
        ("cluster.monitors", "BOROUGH_CLUSTER_MONITORS", "33", "-1"),
        ("limits.handshake_time", "BOROUGH_LIMITS_HANDSHAKE_TIME", "\"9 ms\"", "9 ms"),
    ] {
        assert!(refused(&format!("{key} = {file}")).contains(&format!("{key} is {file}; write ")), "{key}");
        let error = vars(&[(env, variable)]).unwrap_err();
        assert!(matches!(error, ConfigError::Value { .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("env {env}: {env} is ")), "{error}");
    }
}

#[test]
fn a_variable_that_is_a_list_says_how_it_is_written() {
    let error = vars(&[("BOROUGH_NODE_SEEDS", "a:1;b:2")]).unwrap_err().to_string();
    assert!(error.ends_with("; in the environment separated by commas"), "{error}");
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    let error = refused("[cluster]\nmax_pause = \n");
    assert!(error.starts_with("b.toml:2: "), "{error}");
    let error = refused("[node]\nzone = \"a\"\nzone = \"b\"");
    assert!(error.starts_with("b.toml:3: "), "{error}");
}

#[test]
fn of_several_mistakes_the_first_line_is_told() {
    let error = refused("[node]\nzzz = 1\n[cluster]\naaa = 1");
    assert!(error.starts_with("b.toml:2: "), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Config::from_file("no/such/borough.toml").unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }));
    assert!(error.to_string().contains("no/such/borough.toml"), "{error}");
}
