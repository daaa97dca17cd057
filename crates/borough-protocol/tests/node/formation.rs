//! How clusters come to be.

use std::time::Duration;

use crate::rig::Rig;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_node_without_seeds_is_a_cluster_at_once() {
    let mut rig = Rig::new(&[]);
    rig.start("a");
    assert!(rig.is_whole(&["a"]), "{}", rig.describe());
}

#[test]
fn all_seeds_that_start_at_once_form_one_cluster() {
    let mut rig = Rig::new(&["a", "b", "c"]);
    for address in ["c", "b", "a"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

#[test]
fn two_nodes_that_name_only_each_other_form_one_cluster() {
    let mut rig = Rig::new(&[]);
    let settings = rig.settings.clone();
    rig.start_with("a", &["b"], settings.clone());
    rig.start_with("b", &["a"], settings);
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn the_voters_grow_to_the_largest_odd_number() {
    let mut rig = Rig::new(&["a"]);
    for address in ["a", "b", "c", "d", "e", "f"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e", "f"]));
    rig.wait_until("five voters", 20 * SECOND, |rig| rig.voters("f").len() == 5);
    rig.pass(5 * SECOND);
    assert!(rig.is_whole(&["a", "b", "c", "d", "e", "f"]), "{}", rig.describe());
}
