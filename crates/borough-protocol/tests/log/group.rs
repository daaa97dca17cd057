//! A few logs run by hand: what is sent waits until it is delivered or lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use borough_protocol::log::{Log, Outbox, VotersChange};
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;

use crate::carrier::{Carrier, State, uid};
use crate::judge::Judge;

pub(crate) struct Group<L: Carrier> {
    pub(crate) now: Timestamp,
    pub(crate) judge: Judge,
    nodes: BTreeMap<u64, (L, State)>,
    flight: Vec<(u64, u64, L::Message)>,
    breaks: L::Breaks,
}

impl<L: Carrier> Group<L> {
    /// Node 1 founded a cluster; the others are nobody yet.
    pub(crate) fn founded(nodes: u64, breaks: L::Breaks) -> Self {
        let now = Timestamp::from_millis(1000);
        let logs = (1..=nodes).map(|number| match number {
            1 => (1, (L::found(uid(1), breaks, now), State::default())),
            _ => (number, (L::make(uid(number), breaks), State::default())),
        });
        let mut group =
            Self { now, judge: Judge::default(), nodes: logs.collect(), flight: Vec::new(), breaks };
        group.on(1, |_, _, _| {});
        group
    }

    /// All of them vote, and 1 is in office.
    pub(crate) fn voting(nodes: u64, breaks: L::Breaks) -> Self {
        let mut group = Self::founded(nodes, breaks);
        for number in 2..=nodes {
            group.change(1, VotersChange::AddLearner(uid(number)));
            group.deliver_all();
        }
        group.change(1, VotersChange::Begin(uids(1..=nodes)));
        group.deliver_all();
        assert_eq!(group.log(nodes).voters().now, uids(1..=nodes));
        assert!(!group.log(nodes).voters().is_joint());
        group
    }

    pub(crate) fn log(&self, number: u64) -> &L {
        &self.nodes[&number].0
    }

    /// How far that node has applied the log.
    pub(crate) fn applied(&self, number: u64) -> State {
        self.nodes[&number].1
    }

    /// Calls one log; what it sends is under way afterwards.
    pub(crate) fn on<R>(
        &mut self,
        number: u64,
        call: impl FnOnce(&mut L, Timestamp, &mut Outbox<L::Message>) -> R,
    ) -> R {
        let mut out = Vec::new();
        let (log, state) = self.nodes.get_mut(&number).expect("a living node");
        let result = call(log, self.now, &mut out);
        log.assert_sound();
        let told = log.take_committed();
        let office = log.in_office().then(|| log.term());
        self.judge.hear(uid(number), office, state, told);
        self.flight.extend(out.into_iter().map(|(to, message)| (number, to.get(), message)));
        result
    }

    pub(crate) fn propose(&mut self, number: u64, payload: u64) {
        self.on(number, |log, now, out| log.propose(now, payload, out)).expect("in office");
    }

    pub(crate) fn change(&mut self, number: u64, change: VotersChange) {
        self.on(number, |log, now, out| log.change_voters(now, change, out)).expect("in office");
    }

    pub(crate) fn stand(&mut self, number: u64) {
        self.on(number, Log::stand);
    }

    /// Time passes until that node's next deadline.
    pub(crate) fn beat(&mut self, number: u64) {
        self.now = self.log(number).next_deadline().max(self.now);
        self.on(number, Log::on_deadline);
    }

    /// One more node, which is nobody yet.
    pub(crate) fn add(&mut self, number: u64) {
        self.nodes.insert(number, (L::make(uid(number), self.breaks), State::default()));
    }

    pub(crate) fn kill(&mut self, number: u64) {
        self.nodes.remove(&number);
    }

    pub(crate) fn pass(&mut self, duration: Duration) {
        self.now = self.now + duration;
    }

    /// What is under way now arrives where `arrives` says so and is lost elsewhere; answers are under way afterwards.
    pub(crate) fn deliver_once(&mut self, arrives: impl Fn(u64, u64, &L::Message) -> bool) {
        for (from, to, message) in std::mem::take(&mut self.flight) {
            if self.nodes.contains_key(&to) && arrives(from, to, &message) {
                let handled = self.on(to, |log, now, out| log.handle(now, uid(from), message, out));
                handled.expect("a message of a correct peer");
            }
        }
    }

    /// The same with the answers, and theirs, until nothing is under way.
    pub(crate) fn deliver(&mut self, arrives: impl Fn(u64, u64, &L::Message) -> bool) {
        for _ in 0..200 {
            if self.flight.is_empty() {
                return;
            }
            self.deliver_once(&arrives);
        }
        panic!("the logs never fall silent");
    }

    pub(crate) fn deliver_all(&mut self) {
        self.deliver(|_, _, _| true);
    }

    /// What is under way.
    pub(crate) fn flight(&self) -> &[(u64, u64, L::Message)] {
        &self.flight
    }

    pub(crate) fn lose_all(&mut self) {
        self.flight.clear();
    }

    /// Puts a message under way.
    pub(crate) fn send(&mut self, from: u64, to: u64, message: L::Message) {
        self.flight.push((from, to, message));
    }
}

pub(crate) fn uids(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<VoterId> {
    numbers.into_iter().map(uid).collect()
}

/// Arrives only between these.
pub(crate) fn among<M>(numbers: &'static [u64]) -> impl Fn(u64, u64, &M) -> bool {
    move |from, to, _| numbers.contains(&from) && numbers.contains(&to)
}
