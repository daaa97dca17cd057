//! How long it takes until processes that were started at once are a cluster, and until entities answer there.

use std::time::Duration;

use super::{Ground, Measurement};
use crate::fleet::{Entities, SETTLE_BOUND};
use crate::words::{Answer, LEDGER};

const SIZES: [usize; 3] = [3, 7, 15];
/// How many nodes are started for the first answer.
const HOSTS: usize = 3;
/// How long the first answer may take.
const ANSWER_BOUND: Duration = Duration::from_secs(40);

pub(super) fn formation(
    ground: &Ground<'_>,
    repeats: usize,
    measured: &mut Measurement,
) -> Result<(), String> {
    for nodes in SIZES {
        for _ in 0..repeats {
            let mut fleet = ground.fleet("formation")?;
            let began = fleet.launch_all(nodes)?;
            fleet.all_up(SETTLE_BOUND)?;
            let took = began.elapsed();
            // And it is one that lasts: the voters follow within seconds.
            fleet.settled(SETTLE_BOUND)?;
            eprintln!("{nodes} nodes formed within {took:?}, and agree after {:?}", began.elapsed());
            measured.add_time(&format!("formation_{nodes}"), took);
        }
    }
    Ok(())
}

/// From the start of the first process until the last of the three has had an answer of an entity.
pub(super) fn cold(ground: &Ground<'_>, starts: usize, measured: &mut Measurement) -> Result<(), String> {
    for _ in 0..starts {
        let mut fleet = ground.fleet("cold-start")?;
        for place in 1..=HOSTS {
            fleet.give_entities(place, Entities { part: "host", is_written_down: false });
        }
        let began = fleet.launch_all(HOSTS)?;
        let mut orders = Vec::new();
        for place in 1..=HOSTS {
            fleet.listening(place)?;
            let words = format!("poke {LEDGER} 1 {}", ANSWER_BOUND.as_millis());
            orders.push((place, fleet.order(place, &words)?));
        }
        for (place, order) in orders {
            match fleet.answer(place, order, ANSWER_BOUND)? {
                Answer::Asked { answered: 1, .. } => {}
                other => return Err(format!("n{place} has had no answer of an entity: {other:?}")),
            }
        }
        let took = began.elapsed();
        eprintln!("first answers within {took:?}");
        measured.add_time("cold_start", took);
    }
    Ok(())
}
