//! Where a node's peers listen, as far as it knows.

use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::log::Log;
use borough_protocol::node::Message;
use borough_protocol::settings::Settings;

use crate::rig::{Fate, Rig, SECOND};
use borough_protocol::voters::VoterId;

const FOUR: &[&str] = &["a", "b", "c", "d"];

fn knows(rig: &Rig, name: &str, uid: Uid) -> Option<String> {
    rig.nodes[name].address_of(uid).map(Address::to_string)
}

#[test]
fn every_member_knows_where_every_member_listens() {
    let rig = Rig::grown(Settings::default(), FOUR);
    for (name, other) in FOUR.iter().flat_map(|name| FOUR.iter().map(move |other| (name, other))) {
        assert_eq!(knows(&rig, name, rig.uid(other)).as_deref(), Some(*other), "{name}");
    }
}

/// Gossip knows it before it is admitted.
#[test]
fn a_guest_is_known_and_a_stranger_is_not() {
    let mut rig = Rig::with(Settings { minimum_members: 3, ..Settings::default() }, &["a"]);
    rig.each(&["a", "b"], Rig::start);
    rig.wait_until("a guest", 4 * SECOND, |rig| knows(rig, "a", rig.uid("b")).is_some());
    assert!(rig.table("a").member(rig.uid("b")).is_none());
    assert_eq!(knows(&rig, "a", rig.uid("b")).as_deref(), Some("b"));
    assert_eq!(knows(&rig, "a", Uid::new(7).expect("not 0")), None);
}

/// A list that names it is left only with its answer, and it may be there again.
#[test]
fn a_removed_voter_is_known_as_long_as_the_log_needs_it() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    let c = rig.uid("c");
    rig.crash("c");
    rig.wait_until("removed", 4 * SECOND, |rig| rig.table("a").is_removed(c));
    let needed = |rig: &Rig| rig.nodes["a"].log().is_some_and(|log| log.voters().names(VoterId::of_life(c)));
    assert!(needed(&rig));
    while needed(&rig) {
        assert_eq!(knows(&rig, "a", c).as_deref(), Some("c"));
        rig.pass(SECOND / 100);
    }
}

/// It has to tell them if it yields to another.
#[test]
fn one_that_seeks_knows_those_that_promised() {
    let mut rig = Rig::new(&["a", "b", "c", "d", "e"]);
    rig.each(&["a", "b"], Rig::start);
    rig.network
        .rule(Fate::Copied, |parcel| parcel.goes("b", "a") && matches!(parcel.message, Message::Promise(_)));
    assert_eq!(knows(&rig, "a", rig.uid("b")), None);
    rig.wait_until("promised", SECOND, |rig| rig.network.kept(Fate::Copied) > 0);
    assert_eq!(knows(&rig, "a", rig.uid("b")).as_deref(), Some("b"));
    assert_eq!(knows(&rig, "a", rig.uid("a")).as_deref(), Some("a"));
}
