//! What holds for detectors whatever they have heard.

use core::time::Duration;

use proptest::collection::vec;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::*;

const START: Timestamp = Timestamp::from_millis(10_000);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn options() -> PhiOptions {
    PhiOptions::of(&Settings::default())
}

fn phi() -> Detector {
    Detector::new(&Settings::default(), START)
}

fn deadline() -> Detector {
    Detector::new(&Settings { detector: DetectorKind::Deadline, ..Settings::default() }, START)
}

/// Beats after each of the intervals; returns when the last was.
fn beat(detector: &mut Detector, intervals: impl IntoIterator<Item = u64>) -> Timestamp {
    intervals.into_iter().fold(START, |now, interval| {
        let now = now + ms(interval);
        detector.heartbeat(now);
        now
    })
}

#[test]
fn before_any_interval_was_seen_the_expected_one_and_a_quarter_are_assumed() {
    let silence = phi().suspect_at(1).since(START);
    // 1 s + 3 s + 5.226 * 250 ms
    assert!(silence > ms(5306) && silence < ms(5307), "{silence:?}");
}

#[test]
fn a_regular_peer_is_accused_after_interval_pause_and_a_few_least_deviations() {
    let mut detector = phi();
    let last = beat(&mut detector, [1000; 200]);
    // 1 s + 3 s + 5.226 * 100 ms
    let silence = detector.suspect_at(1).since(last);
    assert!(silence > ms(4522) && silence < ms(4523), "{silence:?}");
}

#[test]
fn the_deadline_detector_waits_for_interval_and_pause() {
    let mut detector = deadline();
    let last = beat(&mut detector, [1000, 1200]);
    assert_eq!(detector.suspect_at(1), last + ms(4000));
    assert_eq!(detector.suspect_at(3), last + ms(10_000));
    assert!(detector.suspicion(last + ms(3999), 1).abs() < f64::EPSILON);
    assert!(detector.suspicion(last + ms(4000), 1).is_infinite());
}

#[test]
fn the_next_heartbeat_makes_a_peer_available_again() {
    for mut detector in [phi(), deadline()] {
        let later = START + ms(60_000);
        assert!(!detector.is_available(later, 1));
        detector.heartbeat(later);
        assert!(detector.is_available(later, 1));
        assert!(detector.is_available(later + ms(3000), 1));
        assert!(!detector.is_available(later + ms(6000), 1));
    }
}

#[test]
fn outages_do_not_slow_the_next_accusation() {
    let mut regular = phi();
    let end = beat(&mut regular, [1000; 50]);
    let expected = regular.suspect_at(1).since(end);
    let mut shaken = phi();
    let end = beat(&mut shaken, (0..50).flat_map(|_| [1000, 4001, 3_600_000]));
    assert_eq!(shaken.suspect_at(1).since(end), expected);
}

#[test]
fn a_changed_rhythm_is_learned_within_a_window() {
    let mut detector = phi();
    let last = beat(&mut detector, [1000; 100].into_iter().chain([2500; 100]));
    let silence = detector.suspect_at(1).since(last);
    assert!(silence > ms(6022) && silence < ms(6023), "{silence:?}");
}

#[test]
fn patience_multiplies_the_pause_alone() {
    for detector in [phi(), deadline()] {
        for patience in 1..=9 {
            let longer = detector.suspect_at(patience).since(detector.suspect_at(1));
            assert_eq!(longer, ms(3000) * (patience - 1));
        }
    }
}

#[test]
fn a_time_in_which_nothing_could_be_heard_is_no_silence_and_no_sample() {
    for mut detector in [phi(), deadline()] {
        let before = detector.suspect_at(1);
        detector.excuse(ms(7000));
        assert_eq!(detector.suspect_at(1), before + ms(7000));
        let mut undisturbed = phi();
        let mut excused = phi();
        excused.excuse(ms(7000));
        undisturbed.heartbeat(START + ms(900));
        excused.heartbeat(START + ms(7900));
        assert_eq!(excused.suspect_at(1), undisturbed.suspect_at(1) + ms(7000));
    }
}

#[test]
fn heartbeats_out_of_order_or_at_the_end_of_time_do_no_harm() {
    for mut detector in [phi(), deadline()] {
        detector.heartbeat(START);
        detector.heartbeat(Timestamp::ZERO);
        detector.heartbeat(Timestamp::NEVER);
        assert_eq!(detector.suspect_at(9), Timestamp::NEVER);
        detector.excuse(Duration::MAX);
        assert_eq!(detector.suspect_at(1), Timestamp::NEVER);
    }
}

proptest! {
    #[test]
    fn the_moment_of_suspicion_is_where_phi_reaches_its_threshold(
        intervals in vec(0_u64..6000, 0..250), tenths in 10_u32..=160, patience in 1_u32..=9,
    ) {
        let options = PhiOptions { threshold_tenths: tenths, ..options() };
        let mut detector = Detector::Phi(PhiAccrual::new(&options, START));
        beat(&mut detector, intervals);
        let at = detector.suspect_at(patience);
        let threshold = f64::from(tenths) / 10.0;
        let reached = detector.suspicion(at, patience);
        prop_assert!(reached > threshold - 1e-6 && reached < threshold + 1e-3, "{}", reached);
        prop_assert!(detector.suspicion(at - ms(1), patience) < threshold);
        prop_assert!(!detector.is_available(at, patience));
        prop_assert!(detector.is_available(at - Duration::from_nanos(1), patience));
    }

    #[test]
    fn suspicion_never_falls_while_nothing_is_heard(
        intervals in vec(0_u64..6000, 0..50), steps in vec(0_u64..2000, 1..50),
    ) {
        let mut detector = phi();
        let mut now = beat(&mut detector, intervals);
        let mut before = detector.suspicion(now, 1);
        for step in steps {
            now = now + ms(step);
            let phi = detector.suspicion(now, 1);
            prop_assert!(phi >= before);
            before = phi;
        }
    }

    #[test]
    fn what_left_the_window_is_forgotten(
        past in vec(0_u64..4000, 0..50), kept in vec(0_u64..4000, 10),
    ) {
        let options = PhiOptions { window: 10, ..options() };
        let mut detectors = [&past[..], &[]].map(|past| {
            let mut detector = Detector::Phi(PhiAccrual::new(&options, START));
            let end = beat(&mut detector, past.iter().chain(&kept).copied());
            detector.suspect_at(1).since(end)
        });
        detectors.sort();
        prop_assert_eq!(detectors[0], detectors[1]);
    }
}
