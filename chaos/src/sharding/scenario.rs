//! The scenarios, in the order in which they are played.

use std::time::Duration;

use super::stage::Stage;
use super::wedging::{self, WEDGED_AFTER};
use super::{bad_links, flooding, freezing, killing, moving, parting, restarting, stubborn};
use crate::fleet::{Disk, Starts};
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
    /// Where the seeds are that all list; everybody is one, if there is none.
    seeds: &'static [usize],
    disk: Disk,
    wedged_after: Option<Duration>,
    pub(super) play: fn(&mut Stage<'_>) -> Outcome,
}

impl Scenario {
    /// How its processes are started.
    pub(super) fn starts(&self) -> Starts {
        Starts { seeds: self.seeds.to_vec(), disk: self.disk, wedged_after: self.wedged_after }
    }

    const fn seeds(self, seeds: &'static [usize]) -> Self {
        Self { seeds, ..self }
    }

    const fn disk(self, disk: Disk) -> Self {
        Self { disk, ..self }
    }

    const fn wedged_after(self, time: Duration) -> Self {
        Self { wedged_after: Some(time), ..self }
    }

    const fn clients(self, clients: usize) -> Self {
        Self { clients, ..self }
    }
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
    Scenario {
        number,
        name,
        about,
        wants: Wants::Loopback,
        hosts,
        clients: 1,
        seeds: &[],
        disk: Disk::None,
        wedged_after: None,
        play,
    }
}

const fn cut(
    number: usize,
    name: &'static str,
    about: &'static str,
    hosts: usize,
    play: fn(&mut Stage<'_>) -> Outcome,
) -> Scenario {
    Scenario { wants: Wants::Cuts, clients: 2, ..scenario(number, name, about, hosts, play) }
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
    cut(
        13,
        "part-voters",
        "7 processes, 3 voters|2 voters and 2 others for 60 s: the 3 go on, the 4 run and found nothing",
        4,
        parting::voters_on_the_smaller_side,
    ),
    scenario(
        14,
        "restart-seed",
        "the only seed leaves, or is killed, and is started again",
        4,
        restarting::the_only_seed,
    )
    .seeds(&[1]),
    scenario(15, "restart-seeds", "kill -9 of both seeds, started again", 4, restarting::both_seeds)
        .seeds(&[1, 2]),
    scenario(16, "kill-all", "kill -9 of all, started again in any order, without disks", 4, restarting::all)
        .seeds(&[1, 2, 3]),
    cut(
        17,
        "oldest-mute",
        "nothing that the oldest says reaches 3 others: it is removed, nobody else is",
        6,
        bad_links::of_the_oldest,
    )
    .clients(1),
    scenario(
        18,
        "runtime-gone",
        "the runtime of an owner ends, its process stays: others take over",
        4,
        wedging::runtime_gone,
    ),
    scenario(
        19,
        "wedged",
        "handlers block the runtime of an owner until it is named: what lives there waits, and nothing moves",
        4,
        wedging::blocked,
    ),
    scenario(
        20,
        "wedged-after",
        "the same with `wedged_after`, 5 minutes after the start: it gives up, and others take over",
        4,
        wedging::given_up,
    )
    .wedged_after(WEDGED_AFTER),
    scenario(
        21,
        "kill-all-disks",
        "kill -9 of all, started again in any order, each with its `data_dir`: the same cluster, every shard where it was",
        4,
        restarting::all,
    )
    .seeds(&[1, 2, 3])
    .disk(Disk::Kept),
    scenario(
        22,
        "wedged-leave",
        "handlers block the runtime of an owner, and it is told to leave: that does not hang, and others take over once it is stopped",
        4,
        wedging::told_to_leave,
    ),
];
