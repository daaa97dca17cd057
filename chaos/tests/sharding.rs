//! The short scenarios of entities, as `cargo test` plays them: real processes, real kills, real load.

use std::path::{Path, PathBuf};
use std::time::Duration;

use borough_chaos::sharding::{self, Bounds, Options};

#[test]
fn what_must_hold_of_entities_holds_when_nodes_come_go_and_are_killed() {
    let options = Options {
        node: PathBuf::from(env!("CARGO_BIN_EXE_chaos-node")),
        chaos: PathBuf::from(env!("CARGO_BIN_EXE_chaos")),
        logs: Path::new(env!("CARGO_TARGET_TMPDIR")).join("chaos"),
        only: Vec::new(),
        short: true,
        keep: false,
        bounds: Bounds::Lenient,
        // Programs that are not optimised, beside builds and other tests.
        rate: 2000,
        max_pause: Some(Duration::from_millis(800)),
        proxies: false,
        lose_one_in: None,
    };
    sharding::run(&options).unwrap();
}
