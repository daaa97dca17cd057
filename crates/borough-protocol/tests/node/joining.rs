//! How nodes become members: when, and which are refused.

use std::time::Duration;

use borough_protocol::formation::{Awaited, Missing};
use borough_protocol::gossip::Shown;
use borough_protocol::node::{End, Event, Word};
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::table::Removal;

use crate::rig::{Birth, Fate, Rig, SECOND};

#[test]
fn nobody_is_admitted_before_there_are_enough() {
    let mut rig = Rig::with(Settings { minimum_members: 3, ..Settings::default() }, &["a"]);
    rig.start("a");
    rig.start("b");
    rig.always("nobody is a member", 15 * SECOND, |rig| {
        rig.nodes.values().all(|node| node.table().is_none_or(|table| table.members().is_empty()))
    });
    rig.start("c");
    rig.wait_until("three", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    rig.crash("c");
    rig.wait_until("fewer later is no matter", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn nobody_is_admitted_before_there_are_enough_of_each_role() {
    let minimum_per_role = [("store".to_owned(), 2)].into();
    let mut rig = Rig::with(Settings { minimum_per_role, ..Settings::default() }, &["a"]);
    for (name, role) in [("a", "store"), ("b", "web"), ("c", "web")] {
        let birth = Birth { roles: vec![role.to_owned()], ..rig.birth() };
        rig.start_as(name, birth);
    }
    rig.always("nobody runs", 10 * SECOND, |rig| rig.running().is_empty());
    let birth = Birth { roles: vec!["store".to_owned()], ..rig.birth() };
    rig.start_as("d", birth);
    rig.wait_until("four", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
}

#[test]
fn the_table_shows_the_roles_and_versions_of_the_members() {
    let mut rig = Rig::new(&["a"]);
    rig.start("a");
    let birth =
        Birth { roles: vec!["store".to_owned(), "web".to_owned()], app_version: "2.1", ..rig.birth() };
    rig.start_as("b", birth);
    rig.wait_until("two", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    for name in ["a", "b"] {
        let table = rig.table(name);
        let facts = &table.member(rig.uid("b")).expect("a member").facts;
        assert_eq!(*facts.roles, ["store".to_owned(), "web".to_owned()]);
        assert_eq!(&*facts.app_version, "2.1");
        assert_eq!(&*table.member(rig.uid("a")).expect("a member").facts.app_version, "1");
    }
}

/// What differs, and how both values are named.
type Difference = (&'static str, fn(&mut Settings), &'static str, &'static str);

#[rustfmt::skip]
const DIFFERENCES: &[Difference] = &[
    ("strategy", |settings| settings.strategy = Strategy::KeepOldest, "keep-majority", "keep-oldest"),
    ("max_pause", |settings| settings.max_pause = Duration::from_millis(300), "400", "300"),
    ("round_trip", |settings| settings.round_trip = Duration::from_millis(90), "100", "90"),
    ("drift_per_mille", |settings| settings.drift_per_mille = 50, "100", "50"),
    ("max_voters", |settings| settings.max_voters = 3, "5", "3"),
    ("cluster", |settings| "other".clone_into(&mut settings.cluster), "borough", "other"),
];

#[test]
fn a_node_with_other_settings_is_refused_and_told_which() {
    for (setting, change, of_cluster, own) in DIFFERENCES {
        let mut rig = Rig::new(&["a", "c"]);
        rig.start_with("a", &["a"], Settings::default());
        let mut settings = Settings::default();
        change(&mut settings);
        rig.wait_until("founded", 5 * SECOND, |rig| rig.runs("a"));
        rig.start_with("b", &["a", "c"], settings);
        rig.wait_until("refused", 2 * SECOND, |rig| rig.ends.iter().any(|(name, _)| *name == "b"));
        let (_, end) = rig.ends.iter().find(|(name, _)| *name == "b").expect("refused");
        let End::Refused(refusal) = end else { panic!("{end:?}") };
        assert_eq!(refusal.setting, *setting);
        // Said by the node that is refused: its own value is the one here.
        assert!(refusal.ours.contains(own) && refusal.theirs.contains(of_cluster), "{refusal:?}");
        let words = refusal.to_string();
        assert!(words.contains(setting) && words.contains(of_cluster) && words.contains(own), "{words}");
    }
}

/// Which of two nodes has the right settings only a cluster can say: until there is one they wait, and say which setting differs.
#[test]
fn nodes_with_other_settings_wait_for_each_other_while_there_is_no_cluster() {
    let mut rig = Rig::new(&["a", "b"]);
    rig.start_with("a", &["a", "b"], Settings::default());
    rig.start_with("b", &["a", "b"], Settings { max_voters: 3, ..Settings::default() });
    rig.pass(10 * SECOND);
    assert!(rig.ends.is_empty(), "{:?}", rig.ends);
    for name in ["a", "b"] {
        let awaited = rig.nodes[name].awaited(rig.local(name)).expect("it seeks");
        let differs = |awaited: &Awaited| matches!(&awaited.why, Missing::OtherSettings(refusal) if refusal.setting == "max_voters");
        assert!(awaited.iter().any(differs), "{name}: {awaited:?}");
    }
}

#[test]
fn what_need_not_be_the_same_may_differ() {
    let mut rig = Rig::new(&["a"]);
    rig.start("a");
    let settings = Settings {
        gossip_interval: Duration::from_millis(500),
        minimum_members: 3,
        monitors: 4,
        ..Settings::default()
    };
    rig.start_with("b", &["a"], settings);
    rig.wait_until("two", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn who_joins_while_there_is_no_coordinator_is_shown_as_weakly_up() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    // Nobody can win an election, but all leases are renewed: the log alone is cut.
    rig.network.rule(Fate::Lost, |parcel| matches!(parcel.word(), Some(Word::Log(_))));
    rig.wait_until("no coordinator", 3 * SECOND, |rig| rig.coordinator().is_none());
    rig.start("d");
    let shown = |rig: &Rig, coordinator: bool| {
        let uid = rig.uid("d");
        rig.nodes["b"].document().and_then(|document| document.shown(uid, coordinator))
    };
    rig.wait_until("weakly up", 8 * SECOND, |rig| shown(rig, false) == Some(Shown::WeaklyUp));
    assert_eq!(shown(&rig, true), Some(Shown::Joining));
    assert!(!rig.runs("d"), "it is no member");
    assert!(["a", "b", "c"].iter().all(|name| rig.runs(name)), "known members go on without a coordinator");
    rig.network.clear_rules();
    rig.wait_until("up", 8 * SECOND, |rig| shown(rig, false) == Some(Shown::Up));
    rig.wait_until("four", 3 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
}

/// It may be in the middle of a turn: what it owned waits as for any other.
#[test]
fn a_new_life_of_an_address_waits_for_the_old_one_that_is_only_stopped() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c", "d", "e"]);
    let old = rig.uid("e");
    rig.pause("e");
    rig.start("e'");
    rig.wait_until("replaced", 3 * SECOND, |rig| rig.heard(&Event::Removed(old, Removal::Replaced)));
    let removed = rig.now;
    rig.wait_until("the new one is a member", 2 * SECOND, |rig| rig.runs("e'"));
    assert!(!rig.heard(&Event::Freed(old)), "an address in new hands proves nothing");
    rig.pass(300 * crate::rig::MILLI);
    rig.resume("e");
    // The rig fails the test if the old one runs when it is freed.
    rig.wait_until("freed", 3 * SECOND, |rig| rig.heard(&Event::Freed(old)));
    let wait = borough_protocol::settings::Checked::new(Settings::default()).expect("good").timing().wait;
    assert!(rig.now.since(removed) >= wait);
    rig.wait_until("the old one knows", 5 * SECOND, |rig| !rig.nodes.contains_key("e"));
    rig.always("the new one runs", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e'"]));
}

#[test]
fn a_guest_that_restarts_is_forgotten_and_its_next_life_is_not() {
    let mut rig = Rig::with(Settings { minimum_members: 3, ..Settings::default() }, &["a"]);
    rig.each(&["a", "b"], Rig::start);
    let old = rig.uid("b");
    let guest = |rig: &Rig| rig.nodes["a"].document().is_some_and(|document| document.is_member(old));
    rig.wait_until("a guest", 4 * SECOND, guest);
    rig.crash("b");
    rig.start("b");
    rig.pass(15 * SECOND);
    let document = rig.nodes["a"].document().expect("in a cluster");
    assert!(document.is_buried(old) && document.is_member(rig.uid("b")));
}
