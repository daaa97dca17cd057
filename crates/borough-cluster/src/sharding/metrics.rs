//! What a node says through the `metrics` facade, with the feature of that name; without it nothing.
//!
//! Promise: nothing is published on the way of a message. Once a second the counters that are kept anyway are handed over, and the duration of a move
//! when it is over. `docs/metrics.md` has the names; a test compares it with the table below.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "metrics")]
use super::queries::KindStats;

/// What a metric is.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Counter,
    Gauge,
    Histogram,
}

/// One line of the table.
#[cfg(feature = "metrics")]
struct Metric {
    name: &'static str,
    form: Form,
    /// Its labels, `kind` apart, which all have.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the document"))]
    label: Option<&'static str>,
    says: &'static str,
}

#[cfg(feature = "metrics")]
macro_rules! table {
    ($($id:ident = $name:literal, $form:ident, $label:expr, $says:literal;)*) => {
        $(const $id: &str = $name;)*
        const TABLE: &[Metric] =
            &[$(Metric { name: $name, form: Form::$form, label: $label, says: $says }),*];
    };
}

#[cfg(feature = "metrics")]
table! {
    SHARDS = "borough_sharding_shards", Gauge, None, "shards that live on this node";
    ENTITIES = "borough_sharding_entities", Gauge, None, "entities that live on this node";
    HANDLED = "borough_sharding_handled_total", Counter, None, "messages handled by entities of this node";
    LONG_TURNS = "borough_sharding_long_turns_total", Counter, None, "turns that held up others for more than 10 ms, of those that were timed";
    WEDGED = "borough_sharding_wedged_workers_total", Counter, None, "workers that did not answer for 15 s, because a handler blocked them or the runtime did not run them";
    OVERRAN = "borough_sharding_turns_outlasting_lease_total", Counter, None, "handlers that ran on for longer than `max_pause` after the node's lease was over";
    TURN_P50 = "borough_sharding_turn_p50_seconds", Gauge, None, "half of the turns took no longer, in the last 10 to 20 s; 0 if none was timed";
    TURN_P99 = "borough_sharding_turn_p99_seconds", Gauge, None, "99 of 100 turns took no longer, in the last 10 to 20 s; 0 if none was timed";
    HELD = "borough_sharding_held", Gauge, None, "messages that wait on this node for a way to their shard";
    HELD_FOR = "borough_sharding_held_seconds", Gauge, None, "for how long messages have been waiting for a way without a pause";
    FORWARDED = "borough_sharding_forwarded_total", Counter, None, "messages sent on because their shard had moved";
    FORWARDS_WAITING = "borough_sharding_forwards_waiting", Gauge, None, "messages and barriers whose shard has moved, and parts of shards that move, that wait on this node to be sent to the next host";
    REFUSED = "borough_sharding_refused_total", Counter, Some("reason"), "messages refused: `full`, `unplaced`, `unforwarded`, `ended`, `misdirected`";
    DEAD = "borough_sharding_dead_letters_total", Counter, Some("reason"), "messages accepted that no handler saw: `unhandled`, `asker_gone`, `unreadable`, `other`";
    MOVES = "borough_sharding_moves_total", Counter, Some("way"), "moves of shards: `in`, `out`, `called_off`";
    MOVE_TIME = "borough_sharding_move_seconds", Histogram, Some("way"), "how long a move took, as this node saw it: `in`, `out`";
    LAST_MOVE = "borough_sharding_last_move_seconds", Gauge, None, "how long the last move to or from this node took";
    LONGEST_MOVE = "borough_sharding_longest_move_seconds", Gauge, None, "how long the longest move to or from this node took";
}

/// Says what each metric means, to a recorder that wants to know.
#[cfg(feature = "metrics")]
pub(super) fn describe() {
    for Metric { name, form, says, .. } in TABLE {
        match form {
            Form::Counter => metrics::describe_counter!(*name, *says),
            Form::Gauge => metrics::describe_gauge!(*name, *says),
            Form::Histogram => metrics::describe_histogram!(*name, metrics::Unit::Seconds, *says),
        }
    }
}

/// Hands over what was counted of one type.
#[cfg(feature = "metrics")]
pub(super) fn publish(stats: &KindStats) {
    let kind = || stats.name.clone();
    let gauge = |name: &'static str, value: f64| metrics::gauge!(name, "kind" => kind()).set(value);
    let counter = |name: &'static str, value: u64| metrics::counter!(name, "kind" => kind()).absolute(value);
    let labelled = |name: &'static str, label: &'static str, by: &[(&'static str, u64)]| {
        for (of, count) in by {
            metrics::counter!(name, "kind" => kind(), label => *of).absolute(*count);
        }
    };
    gauge(SHARDS, whole(stats.shards.len()));
    gauge(ENTITIES, whole(stats.entities()));
    gauge(TURN_P50, stats.turns.p50.as_secs_f64());
    gauge(TURN_P99, stats.turns.p99.as_secs_f64());
    gauge(HELD, whole(stats.held));
    gauge(HELD_FOR, stats.held_for.as_secs_f64());
    counter(HANDLED, stats.handled);
    counter(LONG_TURNS, stats.long_turns);
    counter(WEDGED, stats.wedged);
    counter(OVERRAN, stats.overran);
    counter(FORWARDED, stats.forwarded as u64);
    gauge(FORWARDS_WAITING, whole(stats.forwards_waiting));
    labelled(REFUSED, "reason", &stats.refusals.by_reason());
    labelled(DEAD, "reason", &stats.dead_letters.by_reason());
    let moves = &stats.moves;
    let by = [("in", moves.came), ("out", moves.went), ("called_off", moves.called_off)];
    labelled(MOVES, "way", &by);
    for (name, took) in [(LAST_MOVE, moves.last), (LONGEST_MOVE, moves.longest)] {
        if let Some(took) = took {
            gauge(name, took.as_secs_f64());
        }
    }
}

#[cfg(feature = "metrics")]
#[expect(clippy::cast_precision_loss, reason = "a gauge is no count")]
fn whole(number: usize) -> f64 {
    number as f64
}

/// A shard of that type came, or went; it took so long.
#[cfg(feature = "metrics")]
pub(super) fn moved(kind: &Arc<str>, came: bool, took: Duration) {
    let way = if came { "in" } else { "out" };
    metrics::histogram!(MOVE_TIME, "kind" => kind.to_string(), "way" => way).record(took);
}

#[cfg(not(feature = "metrics"))]
pub(super) fn moved(_: &Arc<str>, _: bool, _: Duration) {}

#[cfg(all(test, feature = "metrics"))]
mod tests {
    use super::*;

    /// The whole table, as it is to stand in the document.
    fn table() -> String {
        let line = |metric: &Metric| {
            let form = format!("{:?}", metric.form).to_lowercase();
            let labels =
                metric.label.map_or_else(|| "`kind`".to_owned(), |label| format!("`kind`, `{label}`"));
            format!("| `{}` | {form} | {labels} | {} |\n", metric.name, metric.says)
        };
        TABLE.iter().map(line).collect()
    }

    #[test]
    fn the_document_has_the_metrics_that_there_are() {
        let document = include_str!("../../../../docs/metrics.md");
        assert!(document.contains(&table()), "docs/metrics.md is to have these lines:\n{}", table());
        let lines = document.lines().filter(|line| line.starts_with("| `borough_")).count();
        assert_eq!(lines, TABLE.len(), "docs/metrics.md has others too");
    }
}
