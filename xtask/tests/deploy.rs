//! What the files of `deploy/` name exists, and is what the guide says of it. No daemon is needed for that.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_yaml_ng::Value;

fn root() -> PathBuf {
    // As cargo names it at run time; see `workspace_root`.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    Path::new(&here).parent().unwrap().to_path_buf()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn compose() -> Value {
    serde_yaml_ng::from_str(&read("deploy/compose.yaml")).unwrap()
}

/// The instructions of the Dockerfile, each with its words, continued lines in one.
fn instructions() -> Vec<(String, String)> {
    let text = read("deploy/Dockerfile").replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(word, rest)| (word.to_owned(), rest.to_owned()))
        .collect()
}

fn all(word: &str) -> Vec<String> {
    instructions().into_iter().filter(|(own, _)| own == word).map(|(_, rest)| rest).collect()
}

#[test]
fn the_compose_file_names_what_is_there() {
    let compose = compose();
    let service = &compose["services"]["meters"];
    let context = root().join("deploy").join(service["build"]["context"].as_str().unwrap());
    assert_eq!(context.canonicalize().unwrap(), root().canonicalize().unwrap());
    assert!(context.join(service["build"]["dockerfile"].as_str().unwrap()).is_file());
    for secret in service["secrets"].as_sequence().unwrap() {
        assert!(compose["secrets"][secret].is_mapping(), "{secret:?} is no secret of the file");
    }
}

#[test]
fn three_nodes_look_for_each_other_by_the_name_of_their_service_and_never_found_one_alone() {
    let service = &compose()["services"]["meters"];
    let nodes = service["deploy"]["replicas"].as_u64().unwrap();
    assert_eq!(nodes, 3);
    assert_eq!(service["environment"]["SEEDS"].as_str(), Some("meters"));
    let expected: u64 = service["environment"]["EXPECT"].as_str().unwrap().parse().unwrap();
    assert_eq!(expected, nodes, "a part of them could found a cluster");
}

#[test]
fn the_example_reads_every_variable_that_the_compose_file_sets() {
    let example = read("crates/borough/examples/service.rs");
    for (name, _) in compose()["services"]["meters"]["environment"].as_mapping().unwrap() {
        let name = name.as_str().unwrap();
        assert!(example.contains(&format!("set(\"{name}\")")), "nobody reads {name}");
    }
}

#[test]
fn the_secret_is_a_file_outside_of_image_and_repository() {
    let compose = compose();
    let file = compose["secrets"]["borough"]["file"].as_str().unwrap();
    assert_eq!(file, "./secret");
    assert_eq!(
        compose["services"]["meters"]["environment"]["SECRET_FILE"].as_str(),
        Some("/run/secrets/borough")
    );
    assert!(read(".dockerignore").lines().any(|line| line == "deploy/secret"));
    assert!(read(".gitignore").lines().any(|line| line == "/deploy/secret"));
}

#[test]
fn a_node_is_given_longer_to_stop_than_all_phases_of_its_shutdown_take() {
    let grace = compose()["services"]["meters"]["stop_grace_period"].as_str().unwrap().to_owned();
    let seconds: u64 = grace.strip_suffix('s').unwrap().parse().unwrap();
    // unbind, drain, leave, actors, release, cluster: as `docs/guide/production.md` lists them.
    assert!(seconds > 5 + 10 + 75 + 10 + 5 + 5, "{grace}");
}

#[test]
fn the_image_is_built_with_a_compiler_that_is_new_enough_and_from_what_is_there() {
    let from = all("FROM");
    let version = from[0].strip_prefix("rust:").unwrap().split('-').next().unwrap();
    let manifest = read("Cargo.toml");
    let oldest =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let number =
        |version: &str| version.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert!(number(version) >= number(oldest), "{version} is older than {oldest}");
    assert!(from.iter().all(|image| image.contains(':') && !image.contains(":latest")), "{from:?}");
    assert!(all("RUN").iter().any(|run| run.contains("--locked --package borough --example service")));
    assert!(root().join("crates/borough/examples/service.rs").is_file());
}

#[test]
fn the_program_is_process_one_without_rights_and_is_asked_for_its_health() {
    assert_eq!(all("ENTRYPOINT"), ["[\"service\"]"], "a shell around it would keep SIGTERM to itself");
    assert_eq!(all("STOPSIGNAL"), ["SIGTERM"]);
    assert_eq!(all("USER").len(), 1);
    assert!(!all("USER")[0].starts_with('0'), "not as root");
    assert!(all("HEALTHCHECK")[0].ends_with("CMD [\"service\", \"health\"]"));
    let copied = all("COPY").into_iter().find(|copy| copy.starts_with("--from=build")).unwrap();
    assert!(copied.ends_with("/usr/local/bin/service"), "{copied}");
}

/// The parts of the Kubernetes file, by kind.
fn kubernetes(kind: &str) -> Value {
    let text = read("deploy/kubernetes.yaml");
    let parts = text.split("\n---\n").map(|part| serde_yaml_ng::from_str::<Value>(part).unwrap());
    parts.filter(|part| part["kind"] == kind).last().unwrap()
}

#[test]
fn pods_start_together_find_each_other_before_they_are_ready_and_keep_their_directories() {
    assert_eq!(kubernetes("Service")["spec"]["publishNotReadyAddresses"], true);
    let set = kubernetes("StatefulSet");
    assert_eq!(set["spec"]["podManagementPolicy"], "Parallel");
    let claims = set["spec"]["volumeClaimTemplates"].as_sequence().unwrap();
    let container = &set["spec"]["template"]["spec"]["containers"][0];
    let mounts = container["volumeMounts"].as_sequence().unwrap();
    let mounted = mounts.iter().find(|mount| mount["name"] == claims[0]["metadata"]["name"]).unwrap();
    let variables = container["env"].as_sequence().unwrap();
    let directory = variables.iter().find(|variable| variable["name"] == "DATA_DIR").unwrap();
    let (directory, mounted) = (directory["value"].as_str().unwrap(), mounted["mountPath"].as_str().unwrap());
    assert!(directory.starts_with(mounted), "{directory} is not on the volume");
    assert_eq!(container["livenessProbe"]["exec"]["command"][2], "live", "it is alive while it waits");
}

#[test]
fn the_example_reads_every_variable_that_the_kubernetes_file_sets() {
    let example = read("crates/borough/examples/service.rs");
    let set = kubernetes("StatefulSet");
    for variable in set["spec"]["template"]["spec"]["containers"][0]["env"].as_sequence().unwrap() {
        let name = variable["name"].as_str().unwrap();
        assert!(example.contains(&format!("set(\"{name}\")")), "nobody reads {name}");
    }
}
