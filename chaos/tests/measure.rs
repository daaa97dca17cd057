//! What is measured is checked as well: a node that loses messages gives no figures that count.

use std::path::{Path, PathBuf};
use std::time::Duration;

use borough_chaos::sharding::measure::{Times, measure};
use borough_chaos::sharding::{Bounds, Options};

#[test]
fn a_message_that_a_node_loses_on_purpose_is_found_by_what_measures_it() {
    let options = Options {
        node: PathBuf::from(env!("CARGO_BIN_EXE_chaos-node")),
        chaos: PathBuf::from(env!("CARGO_BIN_EXE_chaos")),
        logs: Path::new(env!("CARGO_TARGET_TMPDIR")).join("measure"),
        only: Vec::new(),
        short: false,
        keep: false,
        bounds: Bounds::Lenient,
        // Programs that are not optimised, beside builds and other tests.
        rate: 2000,
        max_pause: Some(Duration::from_millis(800)),
        proxies: false,
        lose_one_in: Some(5000),
    };
    let once = Times { kills: 1, starts: 1, repeats: 1, entities: 10_000 };
    let measured = measure(&options, once, "leave").unwrap();
    let lost = measured.figures.iter().find(|figure| figure.name == "leave_lost").unwrap();
    assert!(lost.runs[0] > 0.0, "{measured:?}");
    assert!(measured.faults.iter().any(|fault| fault.contains("a message was lost")), "{measured:?}");
}
