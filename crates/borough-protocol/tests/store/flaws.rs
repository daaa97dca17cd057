//! The rig's judge is tested: each rule of the leases is broken once, and the judge must say so.

use std::panic::catch_unwind;

use borough_protocol::flaws::{Flaw, Flaws};

use crate::leases::{lose_the_one_who_waits, remove_a_frozen_one};

/// Without the flaw the same schedules are silent: that is a test of `leases`.
fn assert_noticed(flaw: Flaw, schedule: fn(Flaws, u64)) {
    let noticed = |before| catch_unwind(|| schedule(Flaws::only(flaw), before)).is_err();
    assert!((0..320).step_by(4).any(noticed), "{flaw:?} was not noticed");
}

#[test]
fn a_coordinator_that_does_not_wait_is_noticed() {
    assert_noticed(Flaw::NoWait, remove_a_frozen_one);
}

#[test]
fn a_coordinator_that_waits_without_the_pause_is_noticed() {
    assert_noticed(Flaw::WaitWithoutPause, remove_a_frozen_one);
}

#[test]
fn a_lease_that_begins_with_the_answer_is_noticed() {
    assert_noticed(Flaw::LeaseFromTheAnswer, remove_a_frozen_one);
}

#[test]
fn a_new_coordinator_that_does_not_wait_again_is_noticed() {
    assert_noticed(Flaw::NewCoordinatorDoesNotWait, lose_the_one_who_waits);
}
