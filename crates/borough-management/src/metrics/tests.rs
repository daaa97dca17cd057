//! What is written can be read.

use super::kebab;
use super::text::{Exposition, Kind};

#[test]
fn a_family_is_described_once_and_its_samples_follow() {
    let mut text = Exposition::default();
    let mut family = text.family("borough_entities", Kind::Gauge, "How many.");
    family.sample(&[("type", "carts")], 7);
    family.sample(&[("type", "accounts"), ("node", "n1")], 0.5);
    text.family("borough_moves_total", Kind::Counter, "Moves.").sample(&[], u64::MAX);
    let expected = "# HELP borough_entities How many.\n# TYPE borough_entities gauge\n\
        borough_entities{type=\"carts\"} 7\nborough_entities{type=\"accounts\",node=\"n1\"} 0.5\n\
        # HELP borough_moves_total Moves.\n# TYPE borough_moves_total counter\nborough_moves_total 18446744073709551615\n";
    assert_eq!(text.finish(), expected);
}

#[test]
fn names_that_would_break_a_line_are_escaped() {
    let mut text = Exposition::default();
    text.family("x", Kind::Gauge, "a\nb\\c\"d").sample(&[("type", "a\"b\\c\nd}")], 1);
    assert_eq!(text.finish(), "# HELP x a\\nb\\\\c\"d\n# TYPE x gauge\nx{type=\"a\\\"b\\\\c\\nd}\"} 1\n");
}

#[test]
fn a_suspicion_without_bounds_is_written_as_prometheus_reads_it() {
    let mut text = Exposition::default();
    text.family("phi", Kind::Gauge, "phi").sample(&[], f64::INFINITY);
    assert!(text.finish().ends_with("phi +Inf\n"));
}

#[test]
fn reasons_are_named_in_lower_case() {
    assert_eq!(kebab("AskerGone"), "asker-gone");
    assert_eq!(kebab("Stopped"), "stopped");
}
