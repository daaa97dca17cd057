//! A made-up cluster that holds still: what the stand-in tells.

use std::time::Duration;

use borough_management::view::{
    ClusterEvent, Count, Entities, EventKind, KindStats, Location, Member, Members, Moves, NodeStats, Place,
    ShardMap, Shards, SlowEntity, Stats, Turns,
};

const VOTERS: usize = 5;

/// All answers of a node that does not exist.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) members: Members,
    pub(crate) shards: Shards,
    pub(crate) stats: Stats,
    /// How long they are waited for, as with a node that does not answer.
    pub(crate) stats_take: Duration,
    pub(crate) events: Vec<ClusterEvent>,
    pub(crate) slowest: Vec<SlowEntity>,
}

impl Scene {
    /// Nodes of these names that host 256 shards in turn, with nothing wrong. The first is the one that answers.
    pub(crate) fn calm(names: &[&str]) -> Self {
        let members = names.iter().enumerate().map(|(at, name)| member(at, name)).collect();
        let hosts: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let owned = |shard: u32| Some(hosts[shard as usize % hosts.len()].clone());
        let places =
            (0..256).map(|shard| Place { shard, owner: owned(shard), epoch: 1, moving_to: None }).collect();
        let kind = ShardMap { kind: "sensors".to_owned(), shards: 256, hosts: hosts.clone(), places };
        Self {
            members: Members {
                cluster: "city".to_owned(),
                seen_by: names[0].to_owned(),
                standing: "member".to_owned(),
                advice: None,
                version: "1.42".to_owned(),
                coordinator: Some(names[0].to_owned()),
                tolerates: (names.len().min(VOTERS) - 1) / 2,
                members,
            },
            shards: Shards { seen_by: names[0].to_owned(), kinds: vec![kind] },
            stats: Stats {
                seen_by: names[0].to_owned(),
                at_millis: 0,
                nodes: hosts.iter().map(|name| stats(name)).collect(),
                missing: Vec::new(),
            },
            stats_take: Duration::ZERO,
            events: Vec::new(),
            slowest: Vec::new(),
        }
    }

    pub(crate) fn place(&mut self, shard: u32) -> &mut Place {
        &mut self.shards.kinds[0].places[shard as usize]
    }

    /// Adds an event about a shard, or about a member if there is none.
    pub(crate) fn tell(&mut self, what: EventKind, node: &str, shard: Option<u32>, text: &str) {
        let number = self.events.len() as u64 + 1;
        self.events.push(ClusterEvent {
            number,
            at_millis: 1_700_000_000_000 + number,
            seen_by: self.members.seen_by.clone(),
            what,
            node: Some(node.to_owned()),
            kind: shard.map(|_| "sensors".to_owned()),
            shard,
            loss: None,
            text: text.to_owned(),
        });
    }

    pub(crate) fn entities(&self) -> Entities {
        Entities { seen_by: self.members.seen_by.clone(), busiest: Vec::new(), slowest: self.slowest.clone() }
    }

    /// Every entity lives in shard 7.
    pub(crate) fn explain(&self, kind: String, id: String) -> Location {
        let place = &self.shards.kinds[0].places[7];
        let why = "its shard was allocated to this node, which had the fewest shards of the type; the shard started empty there".to_owned();
        Location {
            kind,
            id,
            shard: 7,
            node: place.owner.clone(),
            epoch: place.epoch,
            since_millis: Some(73_000),
            why,
        }
    }
}

fn member(at: usize, name: &str) -> Member {
    Member {
        node: name.to_owned(),
        address: format!("127.0.0.1:{}", 25_520 + at),
        uid: format!("{at:016x}"),
        state: "up".to_owned(),
        is_reachable: true,
        is_voter: at < VOTERS,
        is_coordinator: at == 0,
        phi_milli: (at > 0).then_some(350),
        roles: Vec::new(),
        app_version: String::new(),
        zone: String::new(),
        management: Some(format!("127.0.0.1:{}", 25_580 + at)),
    }
}

fn stats(name: &str) -> NodeStats {
    let reason = |name: &str, value| Count { name: name.to_owned(), value };
    let kind = KindStats {
        kind: "sensors".to_owned(),
        hosts: true,
        shards: 85,
        entities: 33_000,
        held: 12,
        refused: vec![reason("hold-limit", 40)],
        dropped: vec![reason("lost-with-node", 3)],
        moves: Moves { arrived: 4, departed: 2, called_off: 0, longest_millis: 84 },
        turns: Turns { samples: 900, p50_nanos: 3_200, p99_nanos: 2_550_000, longest_nanos: 14_000_000 },
        ..KindStats::default()
    };
    NodeStats { node: name.to_owned(), kinds: vec![kind], state_losses: Vec::new(), data_directory: None }
}
