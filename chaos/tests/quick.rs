//! The quick scenarios, as `cargo test` plays them: real processes, real signals, cut ways.

use std::path::{Path, PathBuf};
use std::time::Duration;

use borough_chaos::suite::{self, Options};

#[test]
fn what_must_hold_of_a_cluster_holds_under_the_quick_faults() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let options = Options {
        node: PathBuf::from(env!("CARGO_BIN_EXE_chaos-node")),
        chaos: PathBuf::from(env!("CARGO_BIN_EXE_chaos")),
        logs: folder.join("chaos"),
        only: Vec::new(),
        quick: true,
        keep: false,
        // Tests run beside builds and other tests: a healthy process may stand still for longer there.
        max_pause: Some(Duration::from_millis(800)),
        proxies: false,
    };
    suite::run(&options).unwrap();
}
