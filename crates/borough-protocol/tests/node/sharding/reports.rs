//! How a region's words get to the coordinator, and until when work may run.

use std::sync::Arc;

use borough_protocol::node::{Command, Word};
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::sharding::ShardReport;
use borough_protocol::time::Timestamp;

use super::town::{FIVE, KIND, THREE, Town, entries, kind, shard, still, table};
use crate::rig::{Fate, MILLI, Rig, SECOND};

fn is_report(parcel: &crate::rig::Parcel) -> bool {
    matches!(parcel.word(), Some(Word::Shards(_)))
}

#[test]
fn a_report_is_said_again_until_it_is_heard() {
    let mut town = Town::hosting(THREE, &kind());
    town.rig.network.rule(Fate::Lost, is_report);
    town.want("c", 0..5);
    town.rig.always("nobody hears it", 2 * SECOND, |rig| entries(rig).is_empty());
    town.rig.network.clear_rules();
    town.rig.wait_until("heard", 300 * MILLI, |rig| entries(rig).len() == 5);
}

#[test]
fn an_empty_report_is_said_once() {
    let mut town = Town::hosting(THREE, &kind());
    town.rig.pass(SECOND);
    town.rig.network.rule(Fate::Copied, is_report);
    town.want("c", 0..5);
    town.rig.pass(SECOND);
    let said = town.rig.network.kept(Fate::Copied);
    assert!((4..8).contains(&said), "{said} times in a second");
    town.want("c", []);
    town.rig.pass(50 * MILLI);
    let last = town.rig.network.kept(Fate::Copied);
    assert!(last > said);
    town.rig.pass(5 * SECOND);
    assert_eq!(town.rig.network.kept(Fate::Copied), last);
}

#[test]
fn an_older_report_that_comes_late_says_nothing() {
    let mut town = Town::hosting(THREE, &kind());
    town.rig.network.rule(Fate::Held, is_report);
    town.want("c", 0..5);
    town.rig.pass(50 * MILLI);
    town.rig.network.clear_rules();
    town.want("c", 20..22);
    town.rig.pass(50 * MILLI);
    town.rig.release();
    town.rig.pass(SECOND);
    assert_eq!(entries(&town.rig).len(), 2);
}

#[test]
fn a_new_coordinator_hears_what_the_old_one_heard() {
    let mut town = Town::hosting(FIVE, &still());
    // Not heard by the old one, which is gone.
    town.rig.crash("a");
    town.want("e", 0..5);
    town.rig.wait_until("given away", 4 * SECOND, |rig| entries(rig).len() == 5);
}

#[test]
fn what_is_said_before_there_is_a_cluster_is_kept() {
    let mut rig = Rig::new(&["a", "b", "c"]);
    let report = ShardReport { seq: 1, kinds: vec![(Arc::new(kind()), true)], ..ShardReport::default() };
    for name in THREE {
        rig.start(name);
        rig.command(name, Command::Shards(Arc::new(report.clone())));
    }
    rig.wait_until("all host it", 12 * SECOND, |rig| {
        let hosts = |name: &str| {
            let table = rig.nodes[name].table().and_then(|table| table.kind(KIND));
            table.is_some_and(|kind| kind.hosts().len() == 3)
        };
        THREE.iter().all(|name| hosts(name))
    });
}

#[test]
fn one_node_alone_hears_itself() {
    let mut town = Town::hosting(&["a"], &kind());
    town.want("a", [3]);
    assert_eq!(entries(&town.rig).len(), 1, "at once");
}

#[test]
fn a_stranger_is_not_heard() {
    let mut town = Town::hosting(THREE, &kind());
    town.rig.cut(&["d"], &["a"]);
    town.rig.start("d");
    town.rig.pass(3 * SECOND);
    town.say("d", |report| report.wanted = vec![shard(1)]);
    town.rig.heal();
    town.rig
        .network
        .rule(Fate::Lost, |parcel| matches!(parcel.word(), Some(Word::Renew(_))) && parcel.from == "d");
    town.rig
        .always("it is no member", SECOND, |rig| table(rig).members().len() == 3 && entries(rig).is_empty());
}

#[test]
fn work_may_run_until_the_lease_ends_and_not_at_all_without_one() {
    let mut rig = Rig::grown(Settings::default(), THREE);
    assert!(THREE.iter().all(|name| rig.nodes[name].runs_until() > rig.now));
    rig.cut(&["c"], &["a", "b"]);
    rig.pass(500 * MILLI);
    let until = rig.nodes["c"].runs_until();
    rig.always("it runs as long as it said", until.since(rig.now + MILLI), |rig| rig.runs("c"));
    rig.pass(2 * MILLI);
    assert!(!rig.runs("c") && rig.nodes["c"].runs_until() == until);
    rig.start("d");
    assert_eq!(rig.nodes["d"].runs_until(), Timestamp::ZERO, "it is in no cluster");
    rig.command("b", Command::Leave);
    rig.pass(SECOND);
    rig.command("b", Command::Drained);
    assert_eq!(rig.nodes["b"].runs_until(), Timestamp::ZERO, "nothing lives there any more");
}

#[test]
fn no_strategy_of_downing_changes_what_is_reported() {
    for strategy in [Strategy::KeepOldest, Strategy::StaticQuorum { quorum: 2 }, Strategy::DownAll] {
        let mut town = Town::of(Rig::grown(Settings { strategy, ..Settings::default() }, THREE));
        town.host(THREE, &kind());
        town.fill("c", &kind());
    }
}
