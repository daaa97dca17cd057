//! Who gets no shards although it hosts the type: everybody before a fixed quorum was complete, and a node whose links were bad.

use std::collections::BTreeMap;

use borough_protocol::flaws::Flaws;
use borough_protocol::incarnation::Uid;
use borough_protocol::settings::{Settings, Strategy};

use super::town::{FIVE, Town, counts, entries, kind, owners, still};
use crate::rig::{Rig, SECOND};

/// Two of three voters that a fixed quorum asks for, with somebody that sends to all shards.
fn incomplete(flaws: Flaws) -> Town {
    let settings = Settings { strategy: Strategy::StaticQuorum { quorum: 2 }, ..Settings::default() };
    let mut town = Town::of(Rig::grown_with(flaws, settings, &["a", "b"]));
    town.host(&["a", "b"], &still());
    town.want("a", 0..30);
    town.rig.pass(5 * SECOND);
    town
}

#[test]
fn a_fixed_quorum_owns_nothing_before_it_was_complete_once() {
    let mut town = incomplete(Flaws::default());
    assert!(entries(&town.rig).is_empty(), "{}", town.rig.describe());
    town.rig.start("c");
    town.rig.wait_until("complete", 20 * SECOND, |rig| {
        rig.nodes["c"].table().is_some() && rig.voters("a").len() == 3
    });
    town.rig.wait_until("all have owners", 5 * SECOND, |rig| owners(rig, "a").len() == 30);
    // Complete once is enough: what the lost one owned goes to the others.
    town.rig.crash("c");
    town.rig.pass(8 * SECOND);
    assert_eq!(counts(&town.rig, &["a", "b"]).iter().sum::<usize>(), 30, "{}", town.rig.describe());
    assert_eq!(town.rig.table("a").most_voters(), 3);
}

#[cfg(feature = "flaws")]
#[test]
fn owns_before_static_quorum() {
    let town = incomplete(Flaws::only(borough_protocol::flaws::Flaw::OwnsBeforeStaticQuorum));
    assert!(!entries(&town.rig).is_empty());
}

/// The links of `e` are bad until it is removed.
fn cut_off(town: &mut Town) {
    town.rig.cut(&["e"], &["c", "d"]);
    town.rig.wait_until("removed", 45 * SECOND, |rig| !rig.nodes.contains_key("e"));
    town.rig.heal();
}

/// Another life of `e` joins these, hosts the type and gets no shards for so long.
fn is_back_without_shards(town: &mut Town, all: &[&str], seconds: u32) {
    town.rig.start("e");
    town.rig.wait_until("back", 25 * SECOND, |rig| rig.is_whole(all));
    town.host(&["e"], &kind());
    let e = town.rig.uid("e");
    for _ in 0..seconds {
        town.obey();
        town.rig.pass(SECOND);
        let has = entries(&town.rig)
            .iter()
            .any(|entry| entry.owner == e || entry.moving.is_some_and(|(to, _)| to == e));
        assert!(!has, "{}", town.rig.describe());
    }
}

#[test]
fn a_node_that_was_removed_for_bad_links_gets_shards_once_it_was_heard_for_a_minute() {
    let mut town = Town::full(FIVE, &kind());
    cut_off(&mut town);
    is_back_without_shards(&mut town, FIVE, 40);
    town.obey_until("it gets its share", 30, |rig| counts(rig, &["e"])[0] == 6);
}

#[test]
fn a_node_that_was_removed_for_bad_links_again_has_to_be_heard_for_two_minutes_by_any_coordinator() {
    let mut town = Town::full(FIVE, &kind());
    cut_off(&mut town);
    is_back_without_shards(&mut town, FIVE, 40);
    town.obey_until("it gets its share", 30, |rig| counts(rig, &["e"])[0] == 6);
    cut_off(&mut town);
    let rest = ["b", "c", "d"];
    town.rig.crash("a");
    town.rig.wait_until("another is in office", 15 * SECOND, |rig| {
        rig.is_whole(&rest) && rig.coordinator().is_some()
    });
    is_back_without_shards(&mut town, &["b", "c", "d", "e"], 100);
    town.obey_until("it gets its share", 30, |rig| counts(rig, &["e"])[0] >= 6);
}

/// Nobody has seen those links in this life of the cluster, and a restart is no proof of bad ones.
#[test]
fn after_a_restart_of_all_an_old_removal_for_bad_links_keeps_nobody_from_its_shards() {
    let settings = Settings { durable: true, ..Settings::default() };
    let mut town = Town::of(Rig::grown_with(Flaws::default(), settings, FIVE));
    town.host(FIVE, &kind());
    town.fill("a", &kind());
    cut_off(&mut town);
    town.obey_until("the others have its shards", 20, |rig| {
        counts(rig, &["a", "b", "c", "d"]).iter().sum::<usize>() == 30
    });
    let had = owners_by_name(&town);
    town.rig.each(&["a", "b", "c", "d"], Rig::crash);
    town.rig.pass(5 * SECOND);
    town.rig.each(FIVE, Rig::start);
    for name in FIVE {
        town.say(name, |report| report.kinds = vec![(kind().into(), true)]);
    }
    town.rig.wait_until("all are back", 10 * SECOND, |rig| rig.is_whole(FIVE));
    town.obey_until("all have owners", 5, |rig| counts(rig, FIVE).iter().sum::<usize>() == 30);
    let has = owners_by_name(&town);
    assert!(had.iter().all(|(number, owner)| has[number] == *owner), "a shard goes back to who had it");
    town.obey_until("each has its share", 20, |rig| counts(rig, FIVE) == [6; 5]);
}

fn owners_by_name(town: &Town) -> BTreeMap<u32, &'static str> {
    let name = |uid: Uid| {
        FIVE.iter().copied().find(|name| town.rig.nodes.get(name).is_some_and(|node| node.uid() == uid))
    };
    owners(&town.rig, "a").into_iter().filter_map(|(number, owner)| Some((number, name(owner)?))).collect()
}
