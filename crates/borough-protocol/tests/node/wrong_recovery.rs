//! An operator has a node recover a cluster that lives after all, or that comes back later: what is left of the predecessor keeps what it has.

use borough_protocol::disk::Bond;
use borough_protocol::flaws::Flaws;
use borough_protocol::node::{Command, End, GaveUp};
use borough_protocol::settings::Settings;
use borough_protocol::table::Cluster;

use super::rig::{MILLI, Rig, SECOND};

const THREE: &[&str] = &["a", "b", "c"];

fn cluster(rig: &Rig, name: &str) -> Cluster {
    rig.table(name).cluster()
}

/// `c` recovers while `a` and `b` go on; nobody hears of the other side.
fn c_recovers() -> (Rig, Cluster) {
    let settings = Settings { durable: true, ..Settings::default() };
    let mut rig = Rig::grown_with(Flaws::default(), settings, THREE);
    let before = cluster(&rig, "a");
    rig.cut(&["c"], &["a", "b"]);
    rig.wait_until("cut off", 3 * SECOND, |rig| !rig.runs("c"));
    rig.recover("c", THREE);
    (rig, before)
}

/// Two of three that did not hear each other for a moment took the end of what the third had founded for that of their cluster, and gave up.
#[test]
fn the_end_of_a_recovered_cluster_counts_for_its_predecessor_only_after_a_while() {
    let (mut rig, before) = c_recovers();
    rig.wait_until("it works beside the others", 10 * SECOND, |rig| rig.runs("c"));
    rig.command("c", Command::CloseCluster);
    rig.wait_until("it is closed", 10 * SECOND, |rig| rig.ends.contains(&("c", End::Closed)));
    rig.start("c");
    rig.cut(&["a"], &["b"]);
    rig.wait_until("nobody has a quorum", 5 * SECOND, |rig| !rig.runs("a") && !rig.runs("b"));
    rig.heal();
    rig.cut(&["a"], &["b"]);
    rig.pass(500 * MILLI);
    rig.heal();
    rig.wait_until("the cluster goes on", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]) || rig.is_whole(THREE));
    assert_eq!(cluster(&rig, "a"), before);
    assert!(rig.ends.iter().all(|(name, _)| *name == "c"), "{:?}", rig.ends);
}

/// Its own end is not on its disk any more once its node has founded another cluster: those that waited for it learn it from the end of that one.
#[test]
fn who_missed_the_end_of_a_cluster_learns_it_from_its_successor() {
    let settings = Settings { durable: true, ..Settings::default() };
    let mut rig = Rig::grown_with(Flaws::default(), settings, &["a", "b"]);
    let first = cluster(&rig, "a");
    rig.crash("b");
    for successor in 0..2 {
        rig.wait_until("it is alone", 30 * SECOND, |rig| rig.is_whole(&["a"]));
        assert_eq!(cluster(&rig, "a") == first, successor == 0);
        rig.command("a", Command::CloseCluster);
        rig.wait_until("it is closed", 60 * SECOND, |rig| !rig.nodes.contains_key("a"));
        assert_eq!(rig.ends.last(), Some(&("a", End::Closed)));
        rig.start_with("a", &["a"], rig.settings.clone());
    }
    rig.start("b");
    rig.wait_until("both are in one", 60 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

/// Its vote and its log were cleared, though nothing of the new cluster was on the disk.
#[test]
fn a_recovery_that_yields_before_it_acts_leaves_the_disk_as_it_was() {
    let (mut rig, before) = c_recovers();
    let image = rig.disks.of("c").image.clone();
    rig.heal();
    rig.wait_until("it yields", 2 * SECOND, |rig| {
        rig.ends.contains(&("c", End::GaveUp(GaveUp::Overtaken(before))))
    });
    assert_eq!(rig.disks.of("c").image, image);
    assert_eq!(image.record.map(|record| (record.bond, record.memory.cluster)), Some((Bond::Member, before)));
    rig.start("c");
    rig.wait_until("whole again", 15 * SECOND, |rig| rig.is_whole(THREE));
    assert_eq!((cluster(&rig, "c"), rig.voters("a").len()), (before, 3));
}

/// Two of three that did not hear each other for a moment left their cluster for the one of the third.
#[test]
fn nobody_yields_to_a_successor_while_others_may_still_have_a_lease() {
    let (mut rig, before) = c_recovers();
    rig.wait_until("it works beside the others", 10 * SECOND, |rig| rig.runs("c"));
    rig.heal();
    rig.cut(&["a"], &["b"]);
    rig.cut(&["c"], &["a", "b"]);
    rig.wait_until("nobody has a quorum", 5 * SECOND, |rig| !rig.runs("a") && !rig.runs("b"));
    rig.heal();
    rig.cut(&["a"], &["b"]);
    rig.pass(500 * MILLI);
    rig.heal();
    rig.wait_until("the one that recovered yields", 5 * SECOND, |rig| {
        rig.ends.contains(&("c", End::GaveUp(GaveUp::Overtaken(before))))
    });
    assert!(rig.nodes.contains_key("a") && rig.nodes.contains_key("b"), "{:?}", rig.ends);
    rig.start("c");
    rig.wait_until("whole again", 15 * SECOND, |rig| rig.is_whole(THREE));
    assert_eq!(cluster(&rig, "c"), before);
}

/// It does not come for a minute, if it ever does. It was noted as joining all the same, and another life of its address was removed for it.
#[test]
fn a_node_that_waits_for_another_cluster_is_not_noted_as_joining() {
    let (mut rig, before) = c_recovers();
    rig.each(&["a", "b"], Rig::crash);
    rig.crash("c");
    rig.disks.lose("b");
    rig.disks.lose("c");
    rig.heal();
    // Those two know nothing of the cluster that "a" waits for.
    rig.start_with("b", &["b", "c"], rig.settings.clone());
    rig.start_with("c", &["b", "c"], rig.settings.clone());
    rig.wait_until("another cluster", 10 * SECOND, |rig| rig.is_whole(&["b", "c"]));
    let other = cluster(&rig, "b");
    rig.start("a");
    rig.always("it waits", 50 * SECOND, |rig| {
        let joining = ["b", "c"]
            .map(|name| rig.nodes[name].document().map_or(0, |document| document.joining().count()));
        joining == [0, 0] && rig.nodes["a"].cluster() != Some(other)
    });
    rig.wait_until("it yields", 30 * SECOND, |rig| !rig.nodes.contains_key("a"));
    rig.start("a");
    rig.wait_until("it joins", 20 * SECOND, |rig| rig.is_whole(THREE));
    assert_ne!(cluster(&rig, "a"), before);
}
