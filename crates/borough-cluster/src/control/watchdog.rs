//! Looks every second whether this node can work, and ends its part in the cluster if it cannot.
//!
//! ```text
//! works --runtime gone, a worker ended-------------------------------------> gives up its lease
//!   ^ \--a worker does not answer 15 pings--> wedged --`wedged_after` over--> gives up its lease
//!   +------------- all answer again -------------/
//! ```
//! Promise: to give up the lease is no goodbye. The node falls silent and runs nothing; the others wait for its lease, as for a crashed node, because a
//! handler may still run. For a wedged worker it happens only if `wedged_after` is set, never on the last member, and only after 5 minutes in which
//! this node saw nobody removed without a goodbye.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::table::{Removal, State, Table};
use borough_protocol::time::Timestamp;
use tokio::time::sleep;

use crate::clock::Clock;
use crate::sharding::{PING_EVERY, PINGS, Sharding, Sight};
use crate::topology::Failure;

/// A control thread that wakes this much too late starts the count over: what it did not get to say nobody could answer.
const LATE: Duration = Duration::from_millis(500);

/// So long nobody must have been removed before a wedged node gives up its lease.
const APART: Duration = Duration::from_secs(5 * 60);

/// Nodes that are wedged at the same time give up this long after each other, so that the second sees the first removed and stays.
const STAGGER: Duration = Duration::from_secs(10);

/// See the module.
pub(super) struct Watchdog {
    sharding: Arc<Sharding>,
    clock: Clock,
    judge: Judge,
}

impl Watchdog {
    /// `apart`: for so long nobody must have been removed before a wedged node gives up its lease; `None`: for [`APART`].
    pub(super) fn new(
        sharding: Arc<Sharding>,
        clock: Clock,
        wedged_after: Option<Duration>,
        apart: Option<Duration>,
    ) -> Self {
        let judge = Judge { wedged_after, apart: apart.unwrap_or(APART), removals: Removals::default() };
        Self { sharding, clock, judge }
    }

    /// Ready once the node is to give up its lease.
    pub(super) async fn run(mut self) -> Failure {
        loop {
            let due = self.clock.now() + PING_EVERY;
            tokio::select! {
                biased;
                failure = self.sharding.watchdog.failed() => return failure,
                () = sleep(PING_EVERY) => {}
            }
            let now = self.clock.now();
            let silent = PING_EVERY * self.sharding.ping(now.since(due) > LATE);
            let sight = self.sharding.sight();
            if self.judge.gives_up(now, &sight, silent) {
                return Failure::Wedged;
            }
        }
    }
}

/// Whether a wedged worker costs this node its lease.
struct Judge {
    wedged_after: Option<Duration>,
    apart: Duration,
    removals: Removals,
}

impl Judge {
    /// Looks at what the node knows, and says so of a worker that has been silent for so long. To be called every second, silent or not.
    fn gives_up(&mut self, now: Timestamp, sight: &Sight, silent: Duration) -> bool {
        self.removals.look(now, sight);
        let (Some(after), Some(table)) = (self.wedged_after, &sight.table) else { return false };
        let Some(rank) = rank(table, sight.life) else { return false };
        let after = after.max(PING_EVERY * PINGS) + STAGGER * rank;
        silent >= after && self.removals.quiet(now) >= self.apart
    }
}

/// How many members stand before this one in the order in which wedged nodes give up; `None` if it is none, or the last.
fn rank(table: &Table, life: Uid) -> Option<u32> {
    let active = |uid: &Uid| table.member(*uid).is_some_and(|member| member.state == State::Active);
    let mut others = table.members().keys().filter(|uid| **uid != life && active(uid)).peekable();
    if !active(&life) || others.peek().is_none() {
        return None;
    }
    u32::try_from(others.filter(|uid| **uid < life).count()).ok()
}

/// Since when nobody was removed without a goodbye, as far as this life of the node has seen. What was before it, nobody knows: it counts as if
/// somebody was removed as it began.
#[derive(Default)]
struct Removals {
    life: Option<Uid>,
    known: BTreeSet<Uid>,
    last: Timestamp,
}

impl Removals {
    fn look(&mut self, now: Timestamp, sight: &Sight) {
        let Some(table) = &sight.table else {
            self.life = None;
            return;
        };
        let removed = table.removed().iter().filter(|(_, removed)| removed.why != Removal::Goodbye);
        let removed: BTreeSet<Uid> = removed.map(|(uid, _)| *uid).collect();
        if self.life != Some(sight.life) || !removed.is_subset(&self.known) {
            (self.life, self.last) = (Some(sight.life), now);
        }
        self.known = removed;
    }

    /// For how long nobody was removed.
    fn quiet(&self, now: Timestamp) -> Duration {
        if self.life.is_some() { now.since(self.last) } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId};
    use borough_protocol::log::Entry;
    use borough_protocol::table::{Admission, Change, Cluster};
    use borough_protocol::version::{Term, Version};

    use super::*;

    const ME: u64 = 5;

    fn uid(number: u64) -> Uid {
        Uid::new(number).unwrap()
    }

    /// The table after these changes.
    fn sight(changes: &[Change]) -> Sight {
        let mut table = Table::new(Cluster { name: 1, era: 1, founder: uid(ME) });
        for (index, change) in (1..).zip(changes) {
            table.apply(Version { term: Term::new(1), index }, &Entry::Payload(change.clone()));
        }
        Sight { life: uid(ME), table: Some(Arc::new(table)), drains: false }
    }

    fn admit(number: u64) -> Change {
        let incarnation = Incarnation { address: Address::new(format!("n{number}:1")), uid: uid(number) };
        let id = NodeId::new(format!("n{number}"));
        let facts =
            Facts { id, roles: Arc::new([]), app_version: Arc::from(""), zone: Arc::from(""), disk: None };
        Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) }))
    }

    fn judge(wedged_after: Option<u64>) -> Judge {
        let wedged_after = wedged_after.map(Duration::from_secs);
        let mut judge = Judge { wedged_after, apart: APART, removals: Removals::default() };
        assert!(!judge.gives_up(at(0), &sight(&[admit(ME), admit(9)]), Duration::ZERO));
        judge
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn silent(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn without_the_setting_a_wedged_worker_costs_no_lease() {
        assert!(!judge(None).gives_up(at(9999), &sight(&[admit(ME), admit(9)]), silent(9999)));
    }

    #[test]
    fn it_gives_up_after_the_time_that_is_set_and_never_before_fifteen_seconds() {
        let both = sight(&[admit(ME), admit(9)]);
        assert!(!judge(Some(20)).gives_up(at(400), &both, silent(19)));
        assert!(judge(Some(20)).gives_up(at(400), &both, silent(20)));
        assert!(!judge(Some(1)).gives_up(at(400), &both, silent(14)));
    }

    #[test]
    fn the_last_member_keeps_its_lease() {
        assert!(!judge(Some(20)).gives_up(at(400), &sight(&[admit(ME)]), silent(60)));
    }

    #[test]
    fn nobody_gives_up_within_five_minutes_of_a_removal_or_of_its_own_beginning() {
        let both = [admit(ME), admit(9)];
        assert!(!judge(Some(20)).gives_up(at(299), &sight(&both), silent(60)), "it is not here for long");
        let mut changes = both.to_vec();
        changes.extend([admit(3), Change::Remove(uid(3), Removal::Quiet)]);
        let mut judge = judge(Some(20));
        assert!(!judge.gives_up(at(400), &sight(&changes), silent(60)));
        assert!(!judge.gives_up(at(699), &sight(&changes), silent(60)));
        assert!(judge.gives_up(at(700), &sight(&changes), silent(60)));
    }

    #[test]
    fn a_goodbye_is_no_removal_that_counts() {
        let changes = [admit(ME), admit(9), admit(3), Change::Remove(uid(3), Removal::Goodbye)];
        assert!(judge(Some(20)).gives_up(at(400), &sight(&changes), silent(60)));
    }

    #[test]
    fn nodes_that_are_wedged_at_the_same_time_give_up_one_after_the_other() {
        let three = sight(&[admit(ME), admit(2), admit(9)]);
        assert!(!judge(Some(20)).gives_up(at(400), &three, silent(29)), "node 2 goes first");
        assert!(judge(Some(20)).gives_up(at(400), &three, silent(30)));
    }
}
