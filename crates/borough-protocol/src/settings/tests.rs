//! Every setting's bound, the exact timing of the defaults, and what a joining node is told.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::{prop_assert, proptest};

use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

#[test]
fn the_defaults_pass_and_have_the_timing_of_the_design() {
    let checked = Checked::new(Settings::default()).expect("the defaults are safe");
    assert_eq!(
        *checked.timing(),
        Timing {
            lease: ms(1000),
            renew: ms(200),
            suspect_after: ms(750),
            give_up_after: ms(10_000),
            wait: Duration::from_nanos(1_662_222_223),
            failover: Duration::from_nanos(2_612_222_223),
            failover_coordinator: Duration::from_nanos(3_012_222_223),
        }
    );
}

#[test]
fn what_is_waited_for_is_rounded_up() {
    let settings = with(|s| {
        s.max_pause = Duration::from_nanos(1_000_001);
        s.round_trip = ms(1);
        s.drift_per_mille = 1;
    });
    let timing = Timing::derive(&settings).unwrap();
    assert_eq!(timing.lease, Duration::from_nanos(4_000_002));
    assert_eq!(timing.renew, Duration::from_micros(800));
    assert_eq!(timing.suspect_after, Duration::from_nanos(3_000_002), "3 000 001.5");
    // 1.001 * (4 000 002 / 0.999 + 1 000 001) = 5 009 011.013..
    assert_eq!(timing.wait, Duration::from_nanos(5_009_012));
}

/// Settings of these times, however slow the fail-over is, and what follows from them.
fn timed(pause: u64, trip: u64, drift: u32) -> (Settings, Timing) {
    let settings = with(|s| {
        s.max_pause = ms(pause);
        s.round_trip = ms(trip);
        s.drift_per_mille = drift;
        s.failover_target = Duration::from_secs(1_000_000);
    });
    let timing = Timing::derive(&settings).unwrap();
    (settings, timing)
}

proptest! {
    /// The member's clock is slow, the voter's is fast, and the pause comes just before the next renewal.
    #[test]
    fn one_pause_is_no_reason_to_suspect_on_the_worst_clocks(
        pause in 1_u64..5_000, trip in 1_u64..1_000, drift in 0_u32..500,
    ) {
        let (settings, timing) = timed(pause, trip, drift);
        let drift = u128::from(drift);
        let silence = timing.renew.as_nanos() * 2000 * (1000 + drift)
            + (2 * settings.max_pause.as_nanos() + settings.round_trip.as_nanos()) * (1000 - drift) * (1000 + drift);
        prop_assert!(timing.suspect_after.as_nanos() * 2000 * (1000 - drift) >= silence);
    }

    /// The old owner's clock is slow, the coordinator's is fast, and the pause comes at the very end of the lease.
    #[test]
    fn the_wait_outlasts_lease_and_pause_on_the_worst_clocks(
        pause in 1_u64..5_000, trip in 1_u64..1_000, drift in 0_u32..500,
    ) {
        let (settings, timing) = timed(pause, trip, drift);
        let drift = u128::from(drift);
        // True times, in thousandths of thousandths of nanoseconds, so that nothing is rounded.
        let runs_until = timing.lease.as_nanos() * 1000 * (1000 + drift)
            + settings.max_pause.as_nanos() * (1000 - drift) * (1000 + drift);
        let replaced_at = timing.wait.as_nanos() * 1000 * (1000 - drift);
        prop_assert!(replaced_at >= runs_until);
    }
}

/// A change that is refused, and the words that must be in the refusal.
type Row = (fn(&mut Settings), &'static [&'static str]);

#[test]
fn unsafe_settings_are_refused_with_setting_value_bound_and_remedy() {
    let rows: &[Row] = &[
        (|s| s.cluster.clear(), &["cluster is empty", "give the cluster a name"]),
        (|s| s.max_pause = ms(0), &["max_pause is 0ns", "at least 1ms", "longest freeze"]),
        (|s| s.round_trip = ms(0), &["round_trip is 0ns", "at least 1ms", "its answer"]),
        (|s| s.drift_per_mille = 500, &["drift_per_mille is 500", "at most 499", "clocks"]),
        (
            |s| s.max_pause = ms(600),
            &[
                "takes up to 4.028333335s",
                "failover_target is 3.5s",
                "derived from max_pause",
                "lower max_pause (600ms)",
            ],
        ),
        (|s| s.failover_target = ms(3012), &["takes up to 3.012222223s", "failover_target is 3.012s"]),
        (|s| s.max_voters = 0, &["max_voters is 0", "at least 1"]),
        (|s| s.strategy = Strategy::LeaseMajority, &["lease-majority", "none yet", "keep-majority"]),
        (|s| s.max_voters = 4, &["max_voters is 4", "must be odd", "set 3 or 5"]),
        (|s| s.strategy = Strategy::StaticQuorum { quorum: 0 }, &["static-quorum is 0", "at least 1"]),
        (
            |s| s.strategy = Strategy::StaticQuorum { quorum: 4 },
            &["static-quorum(4)", "needs 7 voters", "max_voters is 5", "at most 3"],
        ),
        (
            |s| s.strategy = Strategy::StaticQuorum { quorum: usize::MAX },
            &["max_voters is 5", "raise max_voters"],
        ),
        (|s| s.minimum_members = 0, &["minimum_members is 0", "at least 1", "set 1"]),
        (|s| s.minimum_per_role = [("db".to_owned(), 0)].into(), &["minimum_per_role is 0", "leave out"]),
        (|s| s.minimum_per_role = [(String::new(), 1)].into(), &["a role of minimum_per_role is empty"]),
        (|s| s.gossip_interval = ms(0), &["gossip_interval is 0ns", "at least 1ms"]),
        (|s| s.heartbeat_interval = ms(0), &["heartbeat_interval is 0ns", "at least 100ms", "answered"]),
        (|s| s.heartbeat_interval = ms(99), &["heartbeat_interval is 99ms", "at least 100ms"]),
        (|s| s.acceptable_pause = ms(1399), &["acceptable_pause is 1.399s", "at least 1.4s", "one pause"]),
        (|s| s.acceptable_pause = ms(600_001), &["acceptable_pause is 600.001s", "at most 600s"]),
        (
            |s| {
                s.heartbeat_interval = ms(600_001);
                s.acceptable_pause = ms(700_000);
            },
            &["heartbeat_interval is 600.001s", "at most 600s"],
        ),
        (|s| s.monitors = 0, &["monitors is 0", "at least 1"]),
        (|s| s.monitors = 33, &["monitors is 33", "at most 32"]),
        (|s| s.phi_threshold_tenths = 9, &["phi_threshold_tenths is 9", "at least 10", "80 is phi 8"]),
        (|s| s.phi_threshold_tenths = 161, &["phi_threshold_tenths is 161", "at most 160"]),
        (|s| s.phi_window = 1, &["phi_window is 1", "at least 2"]),
        (|s| s.phi_window = 10_001, &["phi_window is 10001", "at most 10000"]),
        (|s| s.phi_min_deviation = ms(0), &["phi_min_deviation is 0ns", "at least 1ms"]),
        (|s| s.tombstone_life = ms(99_999), &["tombstone_life is 99.999s", "at least 100s", "give_up_after"]),
        (|s| s.seed_ask_interval = ms(0), &["seed_ask_interval is 0ns", "at least 1ms"]),
        (|s| s.seed_timeout = ms(999), &["seed_timeout is 999ms", "at least 1s", "lower seed_ask_interval"]),
        (|s| s.linger = ms(1349), &["linger is 1.349s", "at least 1.35s", "election"]),
        (|s| s.log_kept = 3, &["log_kept is 3", "at least 4"]),
        (|s| s.voters_settle = ms(749), &["voters_settle is 749ms", "at least 750ms"]),
        (|s| s.tombstone_life = Duration::MAX, &["tombstone_life is", "at most 31622400s", "unit"]),
        (|s| s.max_pause = Duration::MAX, &["max_pause is", "at most 31622400s"]),
    ];
    for (change, words) in rows {
        let text = Checked::new(with(change)).expect_err(words[0]).to_string();
        for word in *words {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
    }
}

#[test]
fn settings_at_their_bounds_pass() {
    let rows: &[fn(&mut Settings)] = &[
        |s| s.failover_target = ms(3013),
        |s| s.max_voters = 1,
        |s| s.strategy = Strategy::StaticQuorum { quorum: 3 },
        |s| s.heartbeat_interval = ms(100),
        |s| s.acceptable_pause = ms(1400),
        |s| s.phi_threshold_tenths = 160,
        |s| s.tombstone_life = ms(100_000),
        |s| s.seed_timeout = ms(1000),
        |s| s.linger = ms(1350),
        |s| s.voters_settle = ms(750),
    ];
    for (place, change) in rows.iter().enumerate() {
        assert!(Checked::new(with(change)).is_ok(), "row {place}");
    }
}

#[test]
fn a_huge_pause_is_refused_and_not_a_panic() {
    let huge = with(|s| {
        s.max_pause = Duration::MAX;
        s.round_trip = Duration::MAX;
        s.drift_per_mille = 499;
    });
    assert!(matches!(Timing::derive(&huge), Err(Unsafe::FailoverTooSlow { .. })));
}

#[test]
fn a_clone_of_checked_settings_is_shared() {
    let checked = Checked::new(Settings::default()).unwrap();
    let clone = checked.clone();
    assert!(core::ptr::eq(&raw const *checked, &raw const *clone));
    assert_eq!(clone.monitors, 9);
}

#[test]
fn nodes_that_agree_may_be_in_one_cluster_whatever_else_they_set() {
    let ours = ClusterSettings::of(&Settings::default());
    let theirs = ClusterSettings::of(&with(|s| s.gossip_interval = ms(300)));
    assert_eq!(check(&ours, &theirs), Ok(()));
    assert_eq!(check(&ours, &ours.clone()), Ok(()));
}

#[test]
fn a_simulation_that_has_a_store_may_have_the_strategy_of_one() {
    let settings = with(|s| s.strategy = Strategy::LeaseMajority);
    assert_eq!(Checked::new(settings.clone()).err(), Some(Unsafe::NoStore));
    assert!(Checked::with_simulated_store(settings).is_ok());
    assert!(Checked::with_simulated_store(with(|s| s.max_voters = 4)).is_err());
}

#[test]
fn a_node_that_differs_is_refused_with_the_setting_and_both_values() {
    type Row = (fn(&mut Settings), &'static str);
    let rows: &[Row] = &[
        (|s| s.cluster = "other".to_owned(), "cluster is borough here and other there; "),
        (
            |s| s.strategy = Strategy::StaticQuorum { quorum: 3 },
            "strategy is keep-majority here and static-quorum(3) there; ",
        ),
        (|s| s.strategy = Strategy::KeepOldest, "strategy is keep-majority here and keep-oldest there; "),
        (|s| s.strategy = Strategy::DownAll, "strategy is keep-majority here and down-all there; "),
        (
            |s| s.strategy = Strategy::LeaseMajority,
            "strategy is keep-majority here and lease-majority there; ",
        ),
        (|s| s.max_pause = ms(300), "max_pause is 400 ms here and 300 ms there; "),
        (|s| s.round_trip = Duration::from_micros(1500), "round_trip is 100 ms here and 1500000 ns there; "),
        (|s| s.drift_per_mille = 50, "drift_per_mille is 100 here and 50 there; "),
        (|s| s.max_voters = 3, "max_voters is 5 here and 3 there; "),
    ];
    let ours = ClusterSettings::of(&Settings::default());
    for (change, words) in rows {
        let theirs = ClusterSettings::of(&with(change));
        let refusal = check(&ours, &theirs).expect_err(words);
        let text = refusal.to_string();
        assert!(text.starts_with(words) && text.contains("all nodes"), "{text}");
        assert_eq!(check(&theirs, &ours), Err(refusal.turned()));
    }
}

#[test]
fn versions_that_overlap_understand_each_other() {
    let rows = [
        ((1, 1), (1, 1), Some(1)),
        ((1, 2), (2, 3), Some(2)),
        ((1, 4), (2, 3), Some(3)),
        ((1, 1), (2, 3), None),
        ((4, 5), (2, 3), None),
        // Ranges turned round, as only a broken peer says them.
        ((1, 5), (3, 2), None),
    ];
    let said = |(min, max)| ClusterSettings::new(Versions { min, max }, Vec::new());
    for (ours, theirs, expected) in rows {
        let (ours, theirs) = (said(ours), said(theirs));
        assert_eq!(ours.versions().newest_common(theirs.versions()), expected);
        assert_eq!(theirs.versions().newest_common(ours.versions()), expected);
        assert_eq!(check(&ours, &theirs).is_ok(), expected.is_some());
    }
    let refusal = check(&said((1, 1)), &said((2, 3))).unwrap_err().to_string();
    assert!(
        refusal.starts_with("protocol versions is 1 to 1 here and 2 to 3 there; no version"),
        "{refusal}"
    );
}

#[test]
fn a_setting_of_a_newer_version_does_not_keep_an_older_node_out() {
    let ours = ClusterSettings::of(&Settings::default());
    let mut rows = ours.rows().to_vec();
    rows.insert(0, ("new".to_owned(), "1".to_owned()));
    let theirs = ClusterSettings::new(Versions { min: 1, max: 2 }, rows);
    assert_eq!(check(&ours, &theirs), Ok(()));
}

#[test]
fn a_node_of_the_same_version_must_name_every_setting() {
    let ours = ClusterSettings::of(&Settings::default());
    let theirs = ClusterSettings::new(Versions::SPOKEN, ours.rows()[..2].to_vec());
    let refusal = check(&ours, &theirs).unwrap_err();
    assert!(refusal.to_string().starts_with("max_pause is 400 ms here and not set there; "), "{refusal}");
}
