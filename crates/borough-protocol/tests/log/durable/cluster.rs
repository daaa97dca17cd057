//! A few durable logs run by hand, with disks that write at once.

use std::collections::BTreeMap;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::Message;
use borough_protocol::log::{Log, Outbox, VotersChange};
use borough_protocol::time::Timestamp;

use super::voter::{Copy, Voter};
use crate::carrier::{State, uid};
use crate::group::uids;
use crate::judge::Judge;

type Logs = borough_protocol::log::raft::Raft<u64, State>;

pub(super) struct Cluster {
    pub(super) now: Timestamp,
    pub(super) judge: Judge,
    pub(super) nodes: BTreeMap<u64, Voter>,
    pub(super) states: BTreeMap<u64, State>,
    /// What each disk held after each of its writes.
    pub(super) copies: BTreeMap<u64, Vec<Copy>>,
    flight: Vec<(u64, u64, Message<u64, State>)>,
}

impl Cluster {
    /// All of them vote, and 1 is in office.
    pub(super) fn voting(count: u64) -> Self {
        let (now, flaws) = (Timestamp::from_millis(1000), Flaws::default());
        let nodes = (1..=count).map(|number| match number {
            1 => (1, Voter::founder(1, flaws, now)),
            _ => (number, Voter::fresh(number, flaws)),
        });
        let mut cluster = Self {
            now,
            judge: Judge::default(),
            nodes: nodes.collect(),
            states: (1..=count).map(|number| (number, State::default())).collect(),
            copies: (1..=count).map(|number| (number, vec![Copy::default()])).collect(),
            flight: Vec::new(),
        };
        cluster.on(1, |_, _, _| {});
        for number in 2..=count {
            cluster.change(VotersChange::AddLearner(uid(number)));
        }
        if count > 1 {
            cluster.change(VotersChange::Begin(uids(1..=count)));
        }
        assert_eq!(cluster.nodes[&count].log.voters().now, uids(1..=count));
        cluster
    }

    fn change(&mut self, change: VotersChange) {
        self.on(1, |log, now, out| log.change_voters(now, change, out)).expect("in office");
        self.deliver(|_, _| true);
    }

    /// Calls one log, writes what it wants written; what it sends is under way afterwards.
    pub(super) fn on<R>(
        &mut self,
        number: u64,
        call: impl FnOnce(&mut Logs, Timestamp, &mut Outbox<Message<u64, State>>) -> R,
    ) -> R {
        let mut out = Vec::new();
        let voter = self.nodes.get_mut(&number).expect("a node");
        let result = call(&mut voter.log, self.now, &mut out);
        voter.queue_writes();
        while let Some(written) = voter.write(1) {
            self.copies.get_mut(&number).expect("a node").push(voter.disk.clone());
            voter.log.written(self.now, written, &mut out);
            voter.queue_writes();
        }
        self.hear_commits(number);
        self.flight.extend(out.into_iter().map(|(to, message)| (number, to.get(), message)));
        result
    }

    fn hear_commits(&mut self, number: u64) {
        let voter = self.nodes.get_mut(&number).expect("a node");
        voter.log.assert_invariants();
        let told = voter.told();
        let office = voter.log.in_office().then(|| voter.log.term());
        let state = self.states.get_mut(&number).expect("a node");
        self.judge.hear(uid(number), office, state, told);
        self.judge.assert_clean();
    }

    pub(super) fn propose(&mut self, number: u64, payload: u64) {
        self.on(number, |log, now, out| log.propose(now, payload, out)).expect("in office");
    }

    pub(super) fn stand(&mut self, number: u64) {
        self.on(number, Log::stand);
    }

    /// Time passes until that node's next deadline.
    pub(super) fn beat(&mut self, number: u64) {
        self.now = self.nodes[&number].log.next_deadline().max(self.now);
        self.on(number, Log::on_deadline);
    }

    pub(super) fn compact(&mut self, number: u64) {
        let state = self.states[&number];
        self.on(number, |log, _, _| log.compact(state.version, state));
    }

    /// The process ends and starts again, perhaps with another disk.
    pub(super) fn restart(&mut self, number: u64, disk: Option<Copy>) {
        let voter = self.nodes.get_mut(&number).expect("a node");
        if let Some(disk) = disk {
            voter.disk = disk;
        }
        voter.restart();
        self.states.insert(number, State::default());
        self.hear_commits(number);
    }

    /// What is under way, and every answer to it, arrives where `arrives` says so and is lost elsewhere.
    pub(super) fn deliver(&mut self, arrives: impl Fn(u64, u64) -> bool) {
        for _ in 0..200 {
            for (from, to, message) in std::mem::take(&mut self.flight) {
                if arrives(from, to) {
                    let handled = self.on(to, |log, now, out| log.handle(now, uid(from), message, out));
                    handled.expect("a message of a correct peer");
                }
            }
            if self.flight.is_empty() {
                return;
            }
        }
        panic!("the logs never fall silent");
    }
}
