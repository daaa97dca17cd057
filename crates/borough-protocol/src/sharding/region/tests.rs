//! One region, node 1, among nodes 2, 3 and so on; tables are made entry by entry, and effects compared exactly.

mod departure;
mod hosting;
mod late;
mod raising;
mod sending;

use alloc::vec;

use super::*;
use crate::incarnation::{Address, Facts, Incarnation, NodeId};
use crate::log;
use crate::sharding::{Allocation, Epoch, Hashing, Step};
use crate::table::{Admission, Change, Cluster, Removal};

const SHARD: ShardId = ShardId { kind: KindId(0), number: 7 };

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

/// The epoch of that count in the era of the tests.
fn e(count: u64) -> Epoch {
    Epoch::new(1 << 32 | count)
}

fn v(index: u64) -> Version {
    Version { index, ..Version::ZERO }
}

fn kind() -> Arc<Kind> {
    Arc::new(Kind {
        name: "account".into(),
        shards: 16,
        hashing: Hashing::Xxh3,
        role: None,
        min_hosts: 1,
        allocation: Allocation::Rendezvous,
        codec: 1,
    })
}

struct Rig {
    region: Region,
    table: Table,
    now: Timestamp,
}

impl Rig {
    /// Nodes 1 to 4 are members and host the type; node 1 has started it. The table is at version 9. What does not move within 60 s is forced.
    fn new() -> Self {
        Self::with_bound(Some(Duration::from_secs(60)))
    }

    /// The same, and nothing is forced by itself.
    fn without_a_bound() -> Self {
        Self::with_bound(None)
    }

    fn with_bound(drain: Option<Duration>) -> Self {
        let cluster = Cluster { name: 1, era: 1, founder: uid(1) };
        let table = Table::new(cluster);
        let patience = Patience { drain, ..Patience::default() };
        let region = Region::new(uid(1), Arc::new(table.clone()), patience, Flaws::default());
        let mut rig = Self { region, table, now: Timestamp::from_millis(1000) };
        for number in 1..=4 {
            rig.admit(number);
        }
        rig.change(Change::Declare(kind()));
        for number in 1..=4 {
            rig.change(Change::Host(uid(number), KindId(0)));
        }
        assert_eq!(rig.see(), vec![]);
        assert_eq!(
            rig.tell(Input::Start { kind: kind(), hosts: true, pace: Pace::default() }),
            vec![],
            "the table shows it already"
        );
        rig
    }

    fn admit(&mut self, number: u64) {
        let incarnation =
            Incarnation { address: Address::new(alloc::format!("n{number}")), uid: uid(number) };
        let facts = Facts {
            id: NodeId::new(alloc::format!("n{number}")),
            roles: Arc::new([]),
            app_version: "1".into(),
            zone: "".into(),
            disk: None,
        };
        self.change(Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) })));
    }

    /// One more entry; the region has not seen it yet.
    fn change(&mut self, change: Change) {
        let version = v(self.table.version().index + 1);
        self.table.apply(version, &log::Entry::Payload(change));
    }

    fn step(&mut self, step: Step) {
        self.change(Change::Shards(Arc::new([(SHARD, step)])));
    }

    fn remove(&mut self, number: u64) {
        self.change(Change::Remove(uid(number), Removal::Quiet));
    }

    /// The region sees the newest table. What it publishes and reports is left out.
    fn see(&mut self) -> Vec<Effect> {
        self.tell(Input::Table(Arc::new(self.table.clone())))
    }

    fn step_and_see(&mut self, step: Step) -> Vec<Effect> {
        self.step(step);
        self.see()
    }

    fn tell(&mut self, input: Input) -> Vec<Effect> {
        let all = self.tell_all(input);
        let told = |effect: &Effect| matches!(effect, Effect::Publish(_) | Effect::Report(_));
        all.into_iter().filter(|effect| !told(effect)).collect()
    }

    fn tell_all(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Effects::default();
        self.region.handle(self.now, input, &mut effects);
        self.region.assert_invariants(self.now);
        effects.drain().collect()
    }

    fn report(&self) -> &ShardReport {
        &self.region.report
    }

    /// Waits for the next deadline, and says how long that was.
    fn wait(&mut self) -> (u128, Vec<Effect>) {
        let next = self.region.next_deadline();
        assert!(next < Timestamp::NEVER, "there is something to wait for");
        let millis = next.since(self.now).as_millis();
        self.now = next;
        (millis, self.tell(Input::Deadline))
    }

    fn froze(&mut self, epoch: Epoch) -> Vec<Effect> {
        self.tell(Input::Froze { shard: SHARD, epoch })
    }

    fn installed(&mut self, epoch: Epoch) -> Vec<Effect> {
        self.tell(Input::Installed { shard: SHARD, epoch })
    }

    fn closed(&mut self, used: bool) -> Vec<Effect> {
        self.tell(Input::Closed { shard: SHARD, used })
    }

    fn hear(&mut self, from: u64, word: Word) -> Vec<Effect> {
        self.tell(Input::Word { from: uid(from), word })
    }
}

fn open(to: u64, tag: Epoch) -> Effect {
    Effect::Open { shard: SHARD, to: uid(to), tag }
}

fn close() -> Effect {
    Effect::Close { shard: SHARD }
}

fn barrier(to: u64, tag: Epoch, nonce: u64, min_version: Option<Version>) -> Effect {
    Effect::Barrier { shard: SHARD, to: uid(to), tag, nonce, min_version }
}
