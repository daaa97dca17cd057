//! Each example is run as a user would run it, and its output is checked.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::path::PathBuf;
use std::process::Command;

/// Cargo puts examples beside the folder of test binaries.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn output(name: &str) -> String {
    let ran = Command::new(example(name)).output().unwrap();
    assert!(ran.status.success(), "{name} failed: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn account_prints_the_balance() {
    assert_eq!(output("account"), "Alice's balance: 150\n");
}

#[test]
fn traffic_light_changes_its_behaviour() {
    assert_eq!(output("traffic_light"), "red green red green red green blinking blinking\n");
}

#[test]
fn the_readme_shows_the_account_example_as_it_is() {
    let code = include_str!("../examples/account.rs").split_once("\n\n").unwrap().1;
    assert!(include_str!("../README.md").contains(code), "README.md and examples/account.rs differ");
}
