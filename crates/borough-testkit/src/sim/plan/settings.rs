//! The drawing of the settings: all that the promises are made for, and the defaults often.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::random::Random;
use borough_protocol::settings::{Checked, Settings, Strategy};

use super::Mode;

/// So many of a thousand runs have the default timing.
const USUAL_TIMING: u64 = 300;

/// The settings of all nodes of a run.
pub(super) fn draw(random: &mut Random, mode: Mode, (durable, flaws): (bool, Flaws)) -> Checked {
    // With few voters some members follow a table that they have no part in.
    let max_voters = if random.per_mille(300) { 3 } else { 5 };
    // Few enough for snapshots and whole tables to be sent in a life of a minute.
    let log_kept = [4, 8, 32, 256][usize::try_from(random.below(4)).unwrap_or(0)];
    let strategy = draw_strategy(random, mode);
    let settings = Settings { max_voters, log_kept, strategy, durable, ..draw_timing(random) };
    let mut checked = Checked::new(settings).expect("all that is drawn is safe");
    checked.flaws = flaws;
    checked
}

/// Who stops when a peer is lost outlives next to nothing: that is drawn only where nothing has to be outlived.
fn draw_strategy(random: &mut Random, mode: Mode) -> Strategy {
    match random.below(100) {
        0..12 => Strategy::KeepOldest,
        12..24 => Strategy::StaticQuorum { quorum: 2 },
        24..36 if mode == Mode::Wild => Strategy::DownAll,
        _ => Strategy::KeepMajority,
    }
}

/// What a node, its network and its clock may show.
fn draw_timing(random: &mut Random) -> Settings {
    if random.per_mille(USUAL_TIMING) {
        return Settings::default();
    }
    Settings {
        max_pause: Duration::from_millis(random.between(50, 450)),
        round_trip: Duration::from_millis(random.between(20, 100)),
        drift_per_mille: u32::try_from(random.between(0, 100)).unwrap_or(100),
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(mode: Mode) -> Vec<Checked> {
        (0..500).map(|seed| draw(&mut Random::seeded(seed), mode, (false, Flaws::default()))).collect()
    }

    #[test]
    fn every_strategy_that_needs_no_store_is_drawn() {
        for strategy in [
            Strategy::KeepMajority,
            Strategy::KeepOldest,
            Strategy::StaticQuorum { quorum: 2 },
            Strategy::DownAll,
        ] {
            assert!(drawn(Mode::Wild).iter().any(|settings| settings.strategy == strategy), "{strategy}");
        }
    }

    #[test]
    fn nobody_stops_for_a_lost_peer_where_the_cluster_has_to_outlive_the_run() {
        for mode in [Mode::Calm, Mode::Closing, Mode::Safe] {
            assert!(drawn(mode).iter().all(|settings| settings.strategy != Strategy::DownAll), "{mode:?}");
        }
    }

    #[test]
    fn timings_differ_and_are_often_the_default() {
        let usual = Checked::new(Settings::default()).expect("safe");
        let drawn = drawn(Mode::Safe);
        let usuals = drawn.iter().filter(|settings| settings.timing() == usual.timing()).count();
        assert!((100..250).contains(&usuals), "{usuals} of 500");
        assert!(drawn.iter().any(|settings| settings.timing().lease < usual.timing().lease / 4));
        assert!(drawn.iter().any(|settings| settings.timing().lease > usual.timing().lease));
    }
}
