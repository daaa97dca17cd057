//! What is done to a fleet, and what must hold of it afterwards.

pub(crate) mod bad_links;
mod churn;
mod forming;
mod killing;
pub(crate) mod one_cluster;
mod parting;
pub(crate) mod pausing;
mod recovering;
mod slow_reader;
mod uninvited;

use std::time::Duration;

use crate::fleet::Fleet;

/// What was measured, in words; or what did not hold.
pub(crate) type Outcome = Result<String, String>;

/// Where a scenario can be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Nothing but processes.
    Loopback,
    /// Ways that can be cut.
    Cuts,
    /// Somebody who listens in.
    Proxies,
}

/// One thing that may happen to a cluster.
pub(crate) struct Scenario {
    /// What it is called by.
    pub(crate) name: &'static str,
    /// What happens, and what must hold.
    pub(crate) about: &'static str,
    pub(crate) wants: Wants,
    /// Whether it is among the quick ones.
    pub(crate) is_quick: bool,
    pub(crate) play: fn(&mut Fleet) -> Outcome,
}

const fn scenario(
    name: &'static str,
    about: &'static str,
    wants: Wants,
    is_quick: bool,
    play: fn(&mut Fleet) -> Outcome,
) -> Scenario {
    Scenario { name, about, wants, is_quick, play }
}

/// All of them, in the order in which they are played.
pub(crate) const ALL: &[Scenario] = &[
    scenario("form-3", "3 seeds started at once form one cluster", Wants::Loopback, false, forming::three),
    scenario("form-5", "5 seeds started at once form one cluster", Wants::Loopback, false, forming::five),
    scenario("form-7", "7 seeds started at once form one cluster", Wants::Loopback, false, forming::seven),
    scenario(
        "kill-member",
        "kill -9 of a member: the others remove it",
        Wants::Loopback,
        true,
        killing::a_member,
    ),
    scenario(
        "kill-coordinator",
        "kill -9 of the coordinator: the others elect another and remove it",
        Wants::Loopback,
        false,
        killing::the_coordinator,
    ),
    scenario(
        "recover",
        "kill -9 of two voters of three, for good: the third suspends, is told to recover, and works; others join it",
        Wants::Loopback,
        true,
        recovering::the_last_of_three,
    ),
    scenario(
        "recover-late",
        "the same, after the third was suspended for 30 s, and gave nothing up",
        Wants::Loopback,
        false,
        recovering::after_a_while,
    ),
    scenario(
        "freeze-long",
        "SIGSTOP for longer than a fail-over, SIGCONT: it comes back under a new uid",
        Wants::Loopback,
        false,
        pausing::long,
    ),
    scenario(
        "freeze-short",
        "SIGSTOP for less than max_pause: nothing happens",
        Wants::Loopback,
        true,
        pausing::short,
    ),
    scenario(
        "block-workers",
        "user code blocks every worker for three fail-overs: no membership is lost",
        Wants::Loopback,
        false,
        pausing::blocked_workers,
    ),
    scenario(
        "part-2-3",
        "2|3, healed: the 3 go on, the 2 come back",
        Wants::Cuts,
        false,
        parting::two_from_three,
    ),
    scenario(
        "part-1-4",
        "1|4, healed: the 4 go on, the 1 comes back",
        Wants::Cuts,
        true,
        parting::one_from_four,
    ),
    scenario(
        "part-2-3-stays",
        "2|3, not healed: the 3 go on, the 2 stay suspended, give nothing up and found nothing",
        Wants::Cuts,
        false,
        parting::not_healed,
    ),
    scenario(
        "one-way",
        "nothing that one says arrives, everything reaches it: the others go on, after healing all do",
        Wants::Cuts,
        false,
        parting::one_way,
    ),
    scenario(
        "one-way-pair",
        "nothing that one says reaches one other: nobody founds or splits anything, after healing all agree",
        Wants::Cuts,
        false,
        parting::one_way_pair,
    ),
    scenario(
        "part-voters",
        "7 processes, 3 voters|2 voters and 2 others for 60 s: the 3 go on, the 4 found nothing and come back",
        Wants::Cuts,
        false,
        one_cluster::voters_on_the_smaller_side,
    ),
    scenario(
        "oldest-mute",
        "nothing that the oldest says reaches 4 of 6 others: it is removed, nobody else is",
        Wants::Cuts,
        false,
        bad_links::mute,
    ),
    scenario(
        "oldest-deaf",
        "nothing that 4 of 6 others say reaches the oldest: it is removed, nobody else is",
        Wants::Cuts,
        false,
        bad_links::deaf,
    ),
    scenario(
        "runtime-gone",
        "the runtime of a process ends, the process stays: the others remove it, its next process comes back",
        Wants::Loopback,
        false,
        pausing::runtime_gone,
    ),
    scenario(
        "restart-seed",
        "the only seed leaves or is killed, and is started again: it joins, and founds nothing",
        Wants::Loopback,
        false,
        one_cluster::the_only_seed_restarts,
    ),
    scenario(
        "restart-seeds",
        "kill -9 of both seeds of 5, started again: they join, and found nothing",
        Wants::Loopback,
        true,
        one_cluster::both_seeds_restart,
    ),
    scenario(
        "kill-all",
        "kill -9 of all, started again in any order, without disks: they found one cluster",
        Wants::Loopback,
        true,
        one_cluster::all_are_killed,
    ),
    scenario(
        "restart-20",
        "kill -9 and restart on the same address, 20 times: the last life is a member",
        Wants::Loopback,
        false,
        churn::restarts,
    ),
    scenario("churn", "5 joins and 5 kills within a minute", Wants::Loopback, false, churn::joins_and_kills),
    scenario(
        "rolling-restart",
        "each node leaves by SIGTERM and is started again",
        Wants::Loopback,
        false,
        churn::rolling_restart,
    ),
    scenario(
        "scanner",
        "a port scanner: 1000 connections, closed at once",
        Wants::Loopback,
        true,
        uninvited::scanner,
    ),
    scenario("silent", "20 who connect and say nothing", Wants::Loopback, false, uninvited::silent),
    scenario("garbage", "100 who say what nobody meant", Wants::Loopback, false, uninvited::garbage),
    scenario("http", "100 HTTP requests", Wants::Loopback, false, uninvited::http),
    scenario(
        "other-cluster",
        "50 good handshakes of another cluster",
        Wants::Loopback,
        false,
        uninvited::other_cluster,
    ),
    scenario(
        "wrong-secret",
        "50 handshakes with another secret",
        Wants::Loopback,
        false,
        uninvited::wrong_secret,
    ),
    scenario(
        "replay",
        "recorded connections of a member, played again",
        Wants::Proxies,
        false,
        uninvited::replay,
    ),
    scenario("crowd", "10 000 connections that are held", Wants::Loopback, false, uninvited::crowd),
    scenario(
        "siege",
        "scanners at all doors without a pause, while a node joins and is killed",
        Wants::Loopback,
        false,
        uninvited::siege,
    ),
    scenario(
        "slow-reader",
        "one node's runtime is blocked while it is flooded: the sender, its other peers and all memberships are not",
        Wants::Loopback,
        false,
        slow_reader::blocked,
    ),
    scenario(
        "frozen-reader",
        "one node is frozen while it is flooded: the sender and its other peers are not",
        Wants::Loopback,
        false,
        slow_reader::frozen,
    ),
    scenario(
        "kill-all-disks",
        "kill -9 of all, started again in any order, each with its `data_dir`: the same cluster goes on",
        Wants::Loopback,
        true,
        one_cluster::all_are_killed_with_disks,
    ),
];

/// The longest fail-over that default settings permit.
const FAILOVER_TARGET: Duration = Duration::from_millis(3500);
/// How long a removal may take on a machine that is busy with other things too.
const REMOVAL_BOUND: Duration = Duration::from_secs(10);

/// A time, to be read.
fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
