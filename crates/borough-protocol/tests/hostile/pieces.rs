//! What lies are made of: numbers, uids, versions, lists, some as they are in the net and some as they never were.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::gossip::{self, Gone, Obituary, Status};
use borough_protocol::incarnation::{Address, Incarnation, Uid};
use borough_protocol::log::raft::Item;
use borough_protocol::log::{Entry, Log};
use borough_protocol::node::{Node, Placed};
use borough_protocol::random::Random;
use borough_protocol::settings::{ClusterSettings, Versions};
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind, KindId, ShardId, ShardReport, Step};
use borough_protocol::table::{Admission, Change, Cluster, Removal, Table};
use borough_protocol::vector_clock::{Author, Dot, VectorClock};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};

use crate::net::{Net, facts, uid};

/// Who makes things up, and what it knows: everything.
pub(crate) struct Liar<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) net: &'a Net,
}

impl Liar<'_> {
    pub(crate) fn one_in(&mut self, bound: u64) -> bool {
        self.random.below(bound) == 0
    }

    pub(crate) fn list<T>(&mut self, bound: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.random.below(bound)).map(|_| make(self)).collect()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, items: &[T]) -> T {
        self.random.pick(items).expect("there are some").clone()
    }

    pub(crate) fn number(&mut self) -> u64 {
        let any = self.random.next_u64();
        let small = self.random.below(40);
        self.one_of(&[0, 1, u64::MAX, u64::MAX - 1, 1 << 62, (1 << 62) - 1, any, small, small, small])
    }

    pub(crate) fn short_number(&mut self) -> u32 {
        u32::try_from(self.number()).unwrap_or(u32::MAX)
    }

    /// One of a node that is there, of one that was or will be, of the store, of a stranger.
    pub(crate) fn uid(&mut self) -> Uid {
        match self.random.below(8) {
            0 => uid(777),
            1 => Uid::STORE,
            2 => uid(self.random.next_u64().max(1)),
            3 => uid(self.random.between(1, 20)),
            _ => self.somebody().map_or(uid(1), Node::uid),
        }
    }

    pub(crate) fn uids(&mut self) -> BTreeSet<Uid> {
        self.list(5, Self::uid).into_iter().collect()
    }

    pub(crate) fn voter_ids(&mut self) -> BTreeSet<VoterId> {
        self.uids().into_iter().map(VoterId::of_life).collect()
    }

    pub(crate) fn somebody(&mut self) -> Option<&Node> {
        let nodes: Vec<&Node> = self.net.nodes.values().collect();
        self.random.pick(&nodes).copied()
    }

    pub(crate) fn term(&mut self) -> Term {
        let real = self.somebody().and_then(Node::log).map_or(0, |log| log.term().get());
        let next = real.saturating_add(1);
        let any = self.number();
        Term::new(self.one_of(&[real, real, real, next, next, any]))
    }

    pub(crate) fn version(&mut self) -> Version {
        let real = self.somebody().and_then(Node::table).map_or(Version::ZERO, Table::version);
        match self.random.below(5) {
            0 => real,
            1 | 2 => Version { index: real.index.saturating_add(self.random.below(5)), ..real },
            3 => Version { index: self.number(), ..real },
            _ => Version { term: self.term(), index: self.number() },
        }
    }

    pub(crate) fn voters(&mut self) -> Voters {
        let next = if self.one_in(2) { self.voter_ids() } else { BTreeSet::new() };
        Voters { id: self.version(), now: self.voter_ids(), next }
    }

    pub(crate) fn address(&mut self) -> Address {
        match self.random.below(10) {
            0 => Address::new(""),
            place => Net::address(place),
        }
    }

    pub(crate) fn incarnation(&mut self) -> Incarnation {
        Incarnation { address: self.address(), uid: self.uid() }
    }

    /// Mostly the one that somebody is in: one that is greater ends whoever hears of it.
    pub(crate) fn cluster(&mut self) -> Cluster {
        let made_up = Cluster { name: self.number(), era: self.short_number(), founder: self.uid() };
        let real = self.somebody().and_then(Node::cluster).unwrap_or(made_up);
        match self.random.below(40) {
            0 => made_up,
            1 => Cluster { era: made_up.era, ..real },
            2 => Cluster { founder: made_up.founder, ..real },
            3..8 => Cluster { era: 0, ..real },
            _ => real,
        }
    }

    /// Mostly the real ones: a store that holds others refuses everybody from then on.
    pub(crate) fn settings(&mut self) -> ClusterSettings {
        let real = self.net.settings.cluster_settings().clone();
        let (min, max) = (self.short_number(), self.short_number());
        match self.random.below(60) {
            0 => ClusterSettings::new(Versions { min, max }, real.rows()),
            1 => ClusterSettings::new(Versions::SPOKEN, [("cluster".to_owned(), String::new())]),
            _ => real,
        }
    }

    pub(crate) fn change(&mut self) -> Change {
        let whys = [Removal::Quiet, Removal::Goodbye, Removal::Replaced, Removal::Operator, Removal::CutOff];
        match self.random.below(52) {
            0 => Change::Close,
            1..4 => Change::Remove(self.uid(), self.one_of(&whys)),
            4..12 => Change::Free(self.uid()),
            12..16 => Change::Forget(self.list(4, Self::uid).into()),
            16..26 => {
                let incarnation = self.incarnation();
                let facts = Arc::new(facts(&incarnation.address));
                Change::Admit(Arc::new(Admission { incarnation, facts }))
            }
            40..43 => Change::Declare(self.kind()),
            43..46 => Change::Host(self.uid(), self.kind_id()),
            46 => Change::EndHosting(self.uid(), self.kind_id()),
            47..52 => Change::Shards(self.list(5, |liar| (liar.shard(), liar.step())).into()),
            _ => Change::Drain(self.uid()),
        }
    }

    /// One of a few, so that nodes differ on what a name means; some are unsound.
    fn kind(&mut self) -> Arc<Kind> {
        let (xxh3, custom) = (Hashing::Xxh3, Hashing::Custom(self.number()));
        let least = Allocation::LeastShards { absolute: self.short_number(), percent: 255 };
        Arc::new(Kind {
            name: self.one_of(&["a", "b", "c", ""]).into(),
            shards: if self.one_in(4) { self.short_number() } else { 8 },
            hashing: self.one_of(&[xxh3, xxh3, Hashing::Md5, custom]),
            role: self.one_in(6).then(|| "nobody".into()),
            min_hosts: if self.one_in(6) { self.short_number() } else { 1 },
            allocation: self.one_of(&[
                least,
                Allocation::Rendezvous,
                Allocation::External,
                Allocation::Custom,
            ]),
            codec: self.one_of(&[1, 1, 2, 0]),
        })
    }

    fn kind_id(&mut self) -> KindId {
        KindId(if self.one_in(8) { u16::MAX } else { u16::try_from(self.random.below(4)).unwrap_or(0) })
    }

    fn shard(&mut self) -> ShardId {
        let number = self.short_number();
        ShardId { kind: self.kind_id(), number: if self.one_in(8) { number } else { number % 9 } }
    }

    /// Of a shard as it is, or any.
    fn epoch(&mut self) -> Epoch {
        let shard = self.shard();
        let any = Epoch::new(self.number());
        let real = self.somebody().and_then(Node::table).map(|table| table.next_epoch(shard));
        real.filter(|_| !self.one_in(4)).unwrap_or(any)
    }

    fn step(&mut self) -> Step {
        let epoch = self.epoch();
        match self.random.below(6) {
            0 | 1 => Step::Own(self.uid(), epoch),
            2 => Step::Move(self.uid(), epoch),
            3 => Step::Settle(epoch),
            4 => Step::Raise(epoch),
            _ => Step::CallOff(epoch),
        }
    }

    pub(crate) fn shard_report(&mut self) -> ShardReport {
        let at = |liar: &mut Self| (liar.shard(), liar.epoch());
        ShardReport {
            seq: self.number(),
            kinds: self.list(3, |liar| (liar.kind(), !liar.one_in(4))),
            ended: self.list(2, Self::kind_id),
            wanted: self.list(8, Self::shard),
            frozen: self.list(4, at),
            installed: self.list(4, at),
            impossible: self.list(2, at),
            dropped: self.list(3, at),
            places: self.list(3, |liar| (liar.shard(), liar.uid())),
            refused: self.list(3, |liar| (liar.shard(), liar.epoch(), liar.epoch())),
            is_forcing: self.one_in(8),
        }
    }

    pub(crate) fn entry(&mut self) -> Entry<Change> {
        match self.random.below(4) {
            0 => Entry::Nothing,
            1 => Entry::Voters { now: self.voter_ids(), next: self.voter_ids() },
            _ => Entry::Payload(self.change()),
        }
    }

    /// Entries that stand one behind the other, but for a hole here and there.
    pub(crate) fn entries(&mut self) -> Vec<Placed> {
        let mut version = self.version();
        self.list(5, |liar| {
            let step = if liar.one_in(4) { liar.random.below(4) } else { 1 };
            version.index = version.index.wrapping_add(step);
            (version, liar.entry())
        })
    }

    pub(crate) fn item(&mut self) -> Item<Change> {
        match self.random.below(3) {
            0 => Item::Term(self.term()),
            1 => Item::Lists { now: self.voter_ids(), next: self.voter_ids(), learners: self.voter_ids() },
            _ => Item::Payload(self.change()),
        }
    }

    /// A table that somebody has, with lies behind it; or one made of nothing else.
    pub(crate) fn table(&mut self) -> Arc<Table> {
        let cluster = self.cluster();
        let real = self.somebody().and_then(Node::table).cloned();
        let mut table = real.filter(|_| !self.one_in(4)).unwrap_or_else(|| Table::new(cluster));
        for entry in self.list(4, Self::entry) {
            let version = Version { term: self.term(), index: table.version().index + 1 };
            table.apply(version, &entry);
        }
        Arc::new(table)
    }

    pub(crate) fn author(&mut self) -> Author {
        if self.one_in(3) { Author::Table } else { Author::Node(self.uid()) }
    }

    pub(crate) fn dot(&mut self) -> Dot {
        Dot { author: self.author(), count: self.number() }
    }

    pub(crate) fn clock(&mut self) -> Arc<VectorClock> {
        Arc::new(self.list(6, |liar| (liar.author(), liar.number())).into_iter().collect())
    }

    pub(crate) fn bits(&mut self) -> Arc<[u64]> {
        self.list(6, Self::number).into()
    }

    pub(crate) fn member(&mut self) -> Arc<gossip::Member> {
        let incarnation = self.incarnation();
        Arc::new(gossip::Member {
            facts: Arc::new(facts(&incarnation.address)),
            incarnation,
            status: self.one_of(&[Status::Joining, Status::Up, Status::Leaving, Status::Exiting]),
            admission: self.version(),
            dot: self.dot(),
        })
    }

    pub(crate) fn report(&mut self) -> Arc<gossip::Report> {
        Arc::new(gossip::Report { dot: self.dot(), unreachable: self.uids() })
    }

    pub(crate) fn obituary(&mut self) -> Obituary {
        let how = self.one_of(&[Gone::Down, Gone::Left, Gone::Replaced, Gone::Vanished]);
        let age = Duration::from_secs(self.number());
        Obituary { uid: self.uid(), how, dot: self.dot(), age }
    }
}
