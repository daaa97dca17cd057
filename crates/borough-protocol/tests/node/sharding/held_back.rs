//! Who gets no shards although it hosts the type: everybody before a fixed quorum was complete, and a node whose links were bad.

use borough_protocol::flaws::Flaws;
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

#[test]
fn a_node_that_was_removed_for_bad_links_gets_shards_once_it_was_heard_for_a_minute() {
    let mut town = Town::full(FIVE, &kind());
    town.rig.cut(&["e"], &["c", "d"]);
    town.rig.wait_until("removed", 30 * SECOND, |rig| !rig.nodes.contains_key("e"));
    town.rig.heal();
    town.rig.start("e");
    town.rig.wait_until("back", 25 * SECOND, |rig| rig.is_whole(FIVE));
    town.host(&["e"], &kind());
    let e = town.rig.uid("e");
    for _ in 0..40 {
        town.obey();
        town.rig.pass(SECOND);
        let has = entries(&town.rig)
            .iter()
            .any(|entry| entry.owner == e || entry.moving.is_some_and(|(to, _)| to == e));
        assert!(!has, "{}", town.rig.describe());
    }
    town.obey_until("it gets its share", 30, |rig| counts(rig, &["e"])[0] == 6);
}
