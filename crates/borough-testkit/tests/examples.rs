//! The example is run as a user would run it, and its output is checked.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::process::{Command, Output};

/// What it prints, with that seed alone or with those it has itself.
fn simulate_your_entity(seed: Option<&str>) -> Output {
    // Cargo puts examples beside the folder of test binaries.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let name = format!("simulate_your_entity{}", std::env::consts::EXE_SUFFIX);
    let mut command = Command::new(profile.join("examples").join(name));
    match seed {
        Some(seed) => command.env("BOROUGH_SEED", seed),
        None => command.env_remove("BOROUGH_SEED"),
    };
    command.output().unwrap()
}

#[test]
fn simulate_your_entity_passes_what_is_right_and_finds_what_is_wrong() {
    let ran = simulate_your_entity(None);
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(printed.starts_with("10 clusters, "), "{printed}");
    assert!(printed.contains("\nevery shelf that is right adds up\n"), "{printed}");
    assert!(printed.contains("\nthe mistake is found: seed "), "{printed}");
    assert!(printed.contains("breaks a promise: invariant: shelf-"), "{printed}");
    assert!(printed.contains("\nreplay: BOROUGH_SEED="), "{printed}");
}

#[test]
fn a_seed_in_the_environment_is_run_alone_and_told_step_by_step() {
    let ran = simulate_your_entity(Some("4"));
    let (printed, told) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(printed.starts_with("1 clusters, "), "{printed}");
    assert!(told.lines().any(|line| line.contains(" gets ")), "{told}");
    assert!(!simulate_your_entity(Some("four")).status.success(), "a seed is a number");
}
