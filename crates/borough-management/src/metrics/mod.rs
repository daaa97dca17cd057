//! What a node counts, as text that Prometheus reads.
//!
//! Each node tells of itself alone: whoever collects asks every node. Counters go on from the start of the process.

#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use borough_actor::DeadLetterReason;
use borough_cluster::{DataDirectoryState, DataDirectoryStats, Member, NodeStats, Standing, TurnTimes};

use self::text::{Exposition, Kind};
use crate::bureau::Bureau;
use crate::look::{kind_stats, state, state_losses};
use crate::view::{Count, KindStats, StateLossCount};

/// As which the text is sent.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All there is to tell of this node, now.
pub(crate) async fn of(bureau: &Bureau) -> String {
    let stats = bureau.node.sharding_stats_here().await;
    let kinds: Vec<KindStats> = stats.kinds.iter().map(kind_stats).collect();
    let mut text = Exposition::default();
    of_cluster(bureau, &mut text);
    of_entities(&kinds, &mut text);
    of_waiting(&stats, &mut text);
    of_turns(&stats, &mut text);
    of_losses(&kinds, &mut text);
    of_moves(&kinds, &mut text);
    of_state_losses(&state_losses(&stats.state_losses), &mut text);
    if let Some(data) = &stats.data_directory {
        of_data_directory(data, &mut text);
    }
    of_node(bureau, &mut text);
    text.finish()
}

fn of_cluster(bureau: &Bureau, text: &mut Exposition) {
    let topology = bureau.node.topology();
    let snapshot = topology.current();
    let mut members =
        text.family("borough_members", Kind::Gauge, "Members as this node sees them, by state.");
    for name in ["joining", "weakly-up", "up", "leaving", "exiting", "down"] {
        let count = snapshot.members.iter().filter(|member| state(member.state) == name).count();
        members.sample(&[("state", name)], count);
    }
    let unreachable = snapshot.members.iter().filter(|member| !member.is_reachable).count();
    text.family(
        "borough_members_unreachable",
        Kind::Gauge,
        "Members of whom somebody says that they cannot be reached.",
    )
    .sample(&[], unreachable);
    text.family(
        "borough_losses_tolerated",
        Kind::Gauge,
        "How many voters more may be lost at once with the cluster still able to decide.",
    )
    .sample(&[], snapshot.tolerates());
    let works = snapshot.standing == Standing::Member;
    text.family(
        "borough_node_is_working",
        Kind::Gauge,
        "1 while this node is a member that may work, otherwise 0.",
    )
    .sample(&[], u8::from(works));
    let coordinates = snapshot.coordinator == Some(snapshot.incarnation.uid);
    text.family("borough_node_is_coordinator", Kind::Gauge, "1 while this node coordinates, otherwise 0.")
        .sample(&[], u8::from(coordinates));
    text.family("borough_table_index", Kind::Gauge, "How far the table has come that this node follows.")
        .sample(&[], snapshot.version.index);
    let mut phi = text.family(
        "borough_member_phi",
        Kind::Gauge,
        "How suspicious the silence of each member is that this node watches; at 8 it is called unreachable unless set otherwise.",
    );
    for (uid, value) in topology.suspicions() {
        if let Some(name) = snapshot.member(uid).map(Member::node_id) {
            phi.sample(&[("member", name.as_str())], value);
        }
    }
}

fn of_entities(kinds: &[KindStats], text: &mut Exposition) {
    type Value = fn(&KindStats) -> u64;
    let plain: [(&str, Kind, &str, Value); 9] = [
        ("borough_shards", Kind::Gauge, "Shards that live on this node.", |kind| kind.shards),
        ("borough_entities", Kind::Gauge, "Entities that live on this node.", |kind| kind.entities),
        ("borough_messages_held", Kind::Gauge, "Messages that wait on this node for a way.", |kind| {
            kind.held
        }),
        (
            "borough_messages_handled_total",
            Kind::Counter,
            "Messages that entities of this node have handled.",
            |kind| kind.handled,
        ),
        (
            "borough_messages_forwarded_total",
            Kind::Counter,
            "Messages sent on from this node because their shard had moved.",
            |kind| kind.forwarded,
        ),
        (
            "borough_forwards_waiting",
            Kind::Gauge,
            "Messages and barriers whose shard has moved, and parts of shards that move, that wait on this node to be sent to the next host.",
            |kind| kind.forwards_waiting,
        ),
        (
            "borough_move_longest_milliseconds",
            Kind::Gauge,
            "How long the longest move of a shard took, as this node saw it.",
            |kind| kind.moves.longest_millis,
        ),
        (
            "borough_workers_wedged_total",
            Kind::Counter,
            "Workers of this node that did not answer for 15 s, because a handler blocked them or the runtime did not run them.",
            |kind| kind.wedged,
        ),
        (
            "borough_turns_outlasting_lease_total",
            Kind::Counter,
            "Handlers that ran on for longer than max_pause after the lease of this node was over.",
            |kind| kind.overran,
        ),
    ];
    for (name, kind, help, value) in plain {
        let mut family = text.family(name, kind, help);
        for stats in kinds {
            family.sample(&[("type", &stats.kind)], value(stats));
        }
    }
}

fn of_waiting(stats: &NodeStats, text: &mut Exposition) {
    let mut held = text.family(
        "borough_messages_held_seconds",
        Kind::Gauge,
        "For how long messages have been waiting on this node for a way without a pause.",
    );
    for kind in &stats.kinds {
        held.sample(&[("type", &kind.name)], kind.held_for.as_secs_f64());
    }
}

fn of_turns(stats: &NodeStats, text: &mut Exposition) {
    type Value = fn(&TurnTimes) -> Duration;
    let times: [(&str, &str, Value); 3] = [
        (
            "borough_turn_p50_seconds",
            "Half of the turns of entities took no longer, in the last 10 to 20 s; 0 if none was timed.",
            |turns| turns.p50,
        ),
        (
            "borough_turn_p99_seconds",
            "99 of 100 turns of entities took no longer, in the last 10 to 20 s; 0 if none was timed.",
            |turns| turns.p99,
        ),
        (
            "borough_turn_longest_seconds",
            "The longest turn of an entity of those that were timed in the last 10 to 20 s.",
            |turns| turns.longest,
        ),
    ];
    for (name, help, value) in times {
        let mut family = text.family(name, Kind::Gauge, help);
        for kind in &stats.kinds {
            family.sample(&[("type", &kind.name)], value(&kind.turns).as_secs_f64());
        }
    }
    let mut turns = text.family(
        "borough_long_turns_total",
        Kind::Counter,
        "Turns of entities that held up others for more than 10 ms, of those that were timed.",
    );
    for kind in &stats.kinds {
        turns.sample(&[("type", &kind.name)], kind.long_turns);
    }
}

fn of_losses(kinds: &[KindStats], text: &mut Exposition) {
    type Reasons = fn(&KindStats) -> &[Count<u64>];
    let by_reason: [(&str, &str, Reasons); 2] = [
        ("borough_messages_refused_total", "Messages refused on this node, by reason.", |kind| &kind.refused),
        ("borough_messages_dropped_total", "Messages dropped on this node, by reason.", |kind| &kind.dropped),
    ];
    for (name, help, reasons) in by_reason {
        let mut family = text.family(name, Kind::Counter, help);
        for stats in kinds {
            for reason in reasons(stats) {
                family.sample(&[("type", &stats.kind), ("reason", &reason.name)], reason.value);
            }
        }
    }
}

fn of_moves(kinds: &[KindStats], text: &mut Exposition) {
    let mut moves = text.family(
        "borough_shard_moves_total",
        Kind::Counter,
        "Moves of shards, as this node had part in them.",
    );
    for stats in kinds {
        let all = [
            ("arrived", stats.moves.arrived),
            ("departed", stats.moves.departed),
            ("called-off", stats.moves.called_off),
        ];
        for (outcome, count) in all {
            moves.sample(&[("type", &stats.kind), ("outcome", outcome)], count);
        }
    }
}

/// Every reason, also at 0: what was never there cannot be seen to grow.
fn of_state_losses(losses: &[StateLossCount], text: &mut Exposition) {
    type Value = fn(&StateLossCount) -> u64;
    let families: [(&str, &str, Value); 4] = [
        (
            "borough_state_losses_total",
            "How often this node gave up its part in a cluster and dropped all it hosted, by reason.",
            |lost| lost.times,
        ),
        (
            "borough_state_lost_shards_total",
            "Shards that this node dropped by giving up, by reason.",
            |lost| lost.shards,
        ),
        (
            "borough_state_lost_entities_total",
            "Entities that this node dropped by giving up, by reason, of those that were counted in time.",
            |lost| lost.entities,
        ),
        (
            "borough_state_losses_uncounted_total",
            "How often this node gave up and its entities could not be counted in time, by reason.",
            |lost| lost.uncounted,
        ),
    ];
    for (name, help, value) in families {
        let mut family = text.family(name, Kind::Counter, help);
        for lost in losses {
            family.sample(&[("reason", &lost.reason)], value(lost));
        }
    }
}

/// Of a node that has one.
fn of_data_directory(data: &DataDirectoryStats, text: &mut Exposition) {
    text.family(
        "borough_data_directory_is_working",
        Kind::Gauge,
        "1 while the data directory of this node takes writes, otherwise 0: then the node does not vote.",
    )
    .sample(&[], u8::from(data.state == DataDirectoryState::Works));
    let mut failures = text.family(
        "borough_data_directory_failures_total",
        Kind::Counter,
        "How often the data directory of this node took no writes: stuck, the disk did not answer for 6 s; failed, a write failed.",
    );
    let has_failed = matches!(data.state, DataDirectoryState::Failed { .. });
    // Nothing is written after a failure: there is one at most.
    for (what, count) in [("stuck", data.stalls), ("failed", u64::from(has_failed))] {
        failures.sample(&[("what", what)], count);
    }
    let times = [
        (
            "borough_data_directory_silent_seconds",
            "How long ago the disk of the data directory last took a write; a disk that works takes one every 2 s.",
            data.silent,
        ),
        (
            "borough_data_directory_write_last_seconds",
            "How long the last write to the data directory took, with its sync.",
            data.last_write,
        ),
        (
            "borough_data_directory_write_longest_seconds",
            "How long the longest write to the data directory took, with its sync, since the process started.",
            data.longest_write,
        ),
    ];
    for (name, help, time) in times {
        text.family(name, Kind::Gauge, help).sample(&[], time.as_secs_f64());
    }
}

fn of_node(bureau: &Bureau, text: &mut Exposition) {
    text.family("borough_actors", Kind::Gauge, "Actors that live on this node, entities not counted.")
        .sample(&[], bureau.node.actors());
    let mut letters = text.family(
        "borough_dead_letters_total",
        Kind::Counter,
        "Messages on this node that reached no handler, by reason.",
    );
    for reason in DeadLetterReason::ALL {
        let name = kebab(&format!("{reason:?}"));
        letters.sample(&[("reason", &name)], bureau.node.dead_letters().count(reason));
    }
    let control = bureau.node.control_counts();
    let mut words = text.family(
        "borough_control_losses_total",
        Kind::Counter,
        "What the control lane lost: words dropped, words that could not be read, connections that broke.",
    );
    for (what, count) in
        [("dropped", control.dropped), ("unreadable", control.unreadable), ("broken", control.broken)]
    {
        words.sample(&[("what", what)], count);
    }
    let mut strangers = text.family(
        "borough_connections_refused_total",
        Kind::Counter,
        "Connections that were not let in by this node, by reason.",
    );
    for (reason, count) in bureau.node.refusals().iter() {
        strangers.sample(&[("reason", &kebab(&format!("{reason:?}")))], count);
    }
}

/// `AskerGone` as `asker-gone`.
fn kebab(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
