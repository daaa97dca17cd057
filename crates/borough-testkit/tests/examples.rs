//! The example is run as a user would run it, and its output is checked.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::process::Command;

#[test]
fn simulate_your_entity_passes_what_is_right_and_finds_what_is_wrong() {
    // Cargo puts examples beside the folder of test binaries.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let name = format!("simulate_your_entity{}", std::env::consts::EXE_SUFFIX);
    let ran = Command::new(profile.join("examples").join(name)).env_remove("BOROUGH_SEED").output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(printed.starts_with("10 clusters, "), "{printed}");
    assert!(printed.contains("\nevery shelf that is right adds up\n"), "{printed}");
    assert!(printed.contains("\nthe mistake is found: seed "), "{printed}");
    assert!(printed.contains("breaks a promise: invariant: shelf-"), "{printed}");
    assert!(printed.contains("\nreplay: BOROUGH_SEED="), "{printed}");
}
