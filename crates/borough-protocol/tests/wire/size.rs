//! How far the machine's own estimate is from what is sent: it decides nothing but what reports say, and they must not mislead.

use std::collections::BTreeMap;

use borough_protocol::settings::{Settings, Strategy};

use crate::round_trip::live;
use crate::town::Sent;

/// What the estimate adds for the frame around a message.
const FRAME: usize = 12;

/// By kind: how many, their bytes, and what was thought.
fn table(sent: &[Sent]) -> BTreeMap<&'static str, (usize, usize, usize)> {
    let mut table = BTreeMap::new();
    for one in sent {
        let row: &mut (usize, usize, usize) = table.entry(one.kind).or_default();
        *row = (row.0 + 1, row.1 + one.bytes, row.2 + one.estimate - FRAME);
    }
    table
}

#[test]
fn the_estimate_of_all_that_is_said_is_near_what_is_sent() {
    let stores = Settings { strategy: Strategy::LeaseMajority, ..Settings::default() };
    for settings in [Settings::default(), stores] {
        let strategy = settings.strategy;
        let table = table(&live(settings).sent);
        println!("{strategy}: kind, count, bytes each, estimated each, estimate in percent of bytes");
        for (kind, (count, bytes, estimate)) in &table {
            let (each, thought) = (bytes / count, estimate / count);
            println!("{kind:>16} {count:>6} {each:>6} {thought:>6} {:>5}", 100 * estimate / bytes);
            assert!(10 * estimate > 9 * bytes, "{kind} is larger than it is thought to be");
        }
        let bytes: usize = table.values().map(|row| row.1).sum();
        let estimate: usize = table.values().map(|row| row.2).sum();
        let percent = 100 * estimate / bytes;
        println!(
            "{:>16} {:>6} {bytes:>6} {estimate:>6} {percent:>5}",
            "all",
            table.values().map(|row| row.0).sum::<usize>()
        );
        assert!((90..=140).contains(&percent), "the estimate is {percent} % of what is sent");
    }
}
