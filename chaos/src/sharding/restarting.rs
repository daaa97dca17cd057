//! A node is killed and started again on the same address, over and over.

use std::time::{Duration, Instant};

use super::stage::Stage;
use super::verdict::millis;
use crate::fleet::SETTLE_BOUND;
use crate::history::Lives;
use crate::scenarios::Outcome;

const TIMES: usize = 20;
/// How soon it has to listen again, and when it is killed the next time.
const SOON: Duration = Duration::from_secs(1);

pub(super) fn twenty_times(stage: &mut Stage<'_>) -> Outcome {
    // Shards are on their way there when it is killed: what has moved, and had no turn there, is lost as well.
    stage.expected.lives = Lives::EndAnywhere;
    let (victim, mut slowest) = (3, Duration::ZERO);
    for _ in 0..TIMES {
        let began = Instant::now();
        stage.kill(victim)?;
        stage.fleet.start(victim)?;
        slowest = slowest.max(began.elapsed());
        // Some lives end before anybody has heard of them, others when shards are on their way.
        std::thread::sleep(SOON.saturating_sub(began.elapsed()));
    }
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    let measured = format!("{TIMES} restarts, slowest {}", millis(slowest));
    if slowest > SOON {
        return Err(format!("{measured}: it was not back within {}", millis(SOON)));
    }
    Ok(measured)
}
