//! The scenarios, in the order in which they are played.

use super::stage::Stage;
use super::{flooding, freezing, killing, moving, parting, restarting, stubborn};
use crate::scenarios::{Outcome, Wants};

/// One thing that may happen to entities.
pub(super) struct Scenario {
    pub(super) number: usize,
    pub(super) name: &'static str,
    /// What happens, and what must hold.
    pub(super) about: &'static str,
    pub(super) wants: Wants,
    /// How many nodes host entities at first.
    pub(super) hosts: usize,
    /// How many clients send to them.
    pub(super) clients: usize,
    pub(super) play: fn(&mut Stage<'_>) -> Outcome,
}

/// The short version: the first five.
pub(super) const SHORT: usize = 5;

const fn scenario(
    number: usize,
    name: &'static str,
    about: &'static str,
    hosts: usize,
    play: fn(&mut Stage<'_>) -> Outcome,
) -> Scenario {
    Scenario { number, name, about, wants: Wants::Loopback, hosts, clients: 1, play }
}

const fn cut(
    number: usize,
    name: &'static str,
    about: &'static str,
    hosts: usize,
    play: fn(&mut Stage<'_>) -> Outcome,
) -> Scenario {
    Scenario { number, name, about, wants: Wants::Cuts, hosts, clients: 2, play }
}

pub(super) const ALL: &[Scenario] = &[
    scenario(1, "join", "a node joins: shards move only to it, and nothing is lost", 3, moving::join),
    scenario(2, "leave", "a node leaves by SIGTERM: nothing is lost", 4, moving::leave),
    scenario(3, "rolling-restart", "each node leaves and is started again", 3, moving::rolling_restart),
    scenario(4, "kill-member", "kill -9 of a node that is not the coordinator", 4, killing::a_member),
    scenario(
        5,
        "kill-coordinator",
        "kill -9 of the coordinator: known shards answer in the gap",
        4,
        killing::the_coordinator,
    ),
    scenario(6, "kill-two", "kill -9 of two coordinators, one after the other", 5, killing::two_coordinators),
    cut(7, "part-2-3", "2|3, healed: the 2 suspend within their lease", 5, parting::two_from_three),
    cut(8, "part-2-2", "2|2, healed: the side with most votes goes on", 4, parting::two_from_two),
    scenario(9, "freeze", "SIGSTOP of an owner for 15 s: its late work is refused", 4, freezing::an_owner),
    scenario(
        10,
        "restart-20",
        "kill -9 and restart on the same address, 20 times",
        3,
        restarting::twenty_times,
    ),
    scenario(11, "stubborn", "entities that ignore stop while their shards move", 3, stubborn::mules),
    scenario(
        12,
        "flood",
        "a million messages to shards without owners while the coordinator is away",
        4,
        flooding::unknown_shards,
    ),
];
