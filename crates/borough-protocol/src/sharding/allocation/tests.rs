//! Decision tables and properties of the strategies.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use proptest::bool;
use proptest::collection::vec as lists;
use proptest::strategy::Strategy as Generator;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::*;

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

/// Who has which shards, as the coordinator would see it.
#[derive(Clone, Debug, Default)]
struct Town {
    hosts: Vec<u64>,
    places: BTreeMap<u32, Uid>,
    shards: u32,
}

impl Town {
    /// Host 1 has so many shards, host 2 so many, and so on.
    fn of(loads: &[usize]) -> Self {
        let owners = (1..).zip(loads).flat_map(|(host, load)| core::iter::repeat_n(uid(host), *load));
        let places: BTreeMap<u32, Uid> = (0..).zip(owners).collect();
        let shards = u32::try_from(places.len()).expect("few");
        Self { hosts: (1..).take(loads.len()).collect(), places, shards }
    }

    fn loads(&self) -> Vec<HostLoad> {
        let load = |host: &u64| {
            let shards = self.places.values().filter(|owner| **owner == uid(*host)).count();
            HostLoad { uid: uid(*host), name: NodeId::new(alloc::format!("n{host}")), shards, total: shards }
        };
        self.hosts.iter().map(load).collect()
    }

    fn counts(&self) -> Vec<usize> {
        self.loads().iter().map(|host| host.shards).collect()
    }

    fn moves(&self, strategy: &dyn Strategy, moving: usize) -> Vec<(u32, Uid)> {
        let hosts = self.loads();
        strategy.rebalance(&Spread { hosts: &hosts, places: &self.places, moving, shards: self.shards })
    }

    /// Rounds, each settled before the next, until nothing moves; says how many there were, and who gave a shard to whom.
    fn balance(&mut self, strategy: &dyn Strategy) -> (usize, Vec<(Uid, Uid)>) {
        let mut all = Vec::new();
        for round in 0..1000 {
            let moves = self.moves(strategy, 0);
            if moves.is_empty() {
                return (round, all);
            }
            for (shard, to) in moves {
                let from = self.places.insert(shard, to).expect("a shard that there is");
                assert_ne!(from, to, "moved to where it is");
                all.push((from, to));
            }
        }
        panic!("never balanced: {self:?}");
    }

    fn join(&mut self, host: u64) {
        self.hosts.push(host);
        self.hosts.sort_unstable();
    }

    /// It leaves, and what it had is given to others, one by one.
    fn leave(&mut self, host: u64, strategy: &dyn Strategy) {
        self.hosts.retain(|other| *other != host);
        let orphans: Vec<u32> =
            self.places.iter().filter(|(_, owner)| **owner == uid(host)).map(|(shard, _)| *shard).collect();
        for shard in orphans {
            self.places.remove(&shard);
            let to = strategy.allocate(shard, &self.loads()).expect("somebody is left");
            self.places.insert(shard, to);
        }
    }
}

const UNBOUNDED: LeastShards = LeastShards { absolute: 0, percent: 100 };
const USUAL: LeastShards = LeastShards { absolute: 0, percent: 10 };

#[test]
fn a_new_shard_goes_to_the_host_with_the_fewest() {
    let cases: &[(&[usize], Option<u64>)] =
        &[(&[], None), (&[0], Some(1)), (&[2, 1, 3], Some(2)), (&[1, 1, 1], Some(1)), (&[2, 2, 0], Some(3))];
    for (loads, expected) in cases {
        assert_eq!(USUAL.allocate(7, &Town::of(loads).loads()), expected.map(uid), "{loads:?}");
        assert_eq!(External.allocate(7, &Town::of(loads).loads()), expected.map(uid), "{loads:?}");
    }
}

#[test]
fn of_hosts_with_as_many_the_one_with_the_fewest_of_all_types_gets_it() {
    let mut hosts = Town::of(&[1, 1]).loads();
    hosts[0].total = 9;
    assert_eq!(USUAL.allocate(7, &hosts), Some(uid(2)));
}

#[test]
fn what_differs_by_one_is_balanced() {
    for loads in [&[][..], &[0], &[5], &[1, 0], &[3, 4], &[4, 3, 4], &[0, 0, 1], &[7, 7, 7]] {
        assert_eq!(Town::of(loads).moves(&UNBOUNDED, 0), vec![], "{loads:?}");
    }
}

#[test]
fn least_shards_moves_so_many_as_must() {
    let cases: &[(&[usize], usize, &[usize])] = &[
        (&[2, 0], 1, &[1, 1]),
        (&[10, 10, 10, 0], 7, &[8, 8, 7, 7]),
        (&[10, 10, 9, 0], 7, &[8, 7, 7, 7]),
        (&[0, 9], 4, &[4, 5]),
        (&[6, 1, 1, 1], 3, &[3, 2, 2, 2]),
        (&[5, 5, 2], 2, &[4, 4, 4]),
    ];
    for (loads, count, expected) in cases {
        let mut town = Town::of(loads);
        assert_eq!(town.moves(&UNBOUNDED, 0).len(), *count, "{loads:?}");
        town.balance(&UNBOUNDED);
        assert_eq!(town.counts(), *expected, "{loads:?}");
    }
}

#[test]
fn no_more_move_at_once_than_is_allowed() {
    let cases: &[(u32, u8, usize, usize)] = &[
        // Absolute, percent, already moving; how many may begin. The type has 200 shards, 100 of which have to move.
        (0, 10, 0, 20),
        (0, 10, 15, 5),
        (0, 10, 20, 0),
        (0, 10, 30, 0),
        (7, 10, 0, 7),
        (7, 10, 6, 1),
        (50, 10, 0, 20),
        (0, 0, 0, 1),
        (0, 0, 1, 0),
        (0, 100, 0, 100),
        (0, 255, 0, 100),
    ];
    for &(absolute, percent, moving, expected) in cases {
        let moves = Town::of(&[200, 0]).moves(&LeastShards { absolute, percent }, moving);
        assert_eq!(moves.len(), expected, "{absolute} {percent} % {moving}");
    }
}

#[test]
fn a_fourth_node_is_filled_in_a_few_rounds() {
    let mut town = Town::of(&[86, 85, 85, 0]);
    let (rounds, moves) = town.balance(&USUAL);
    assert_eq!((rounds, moves.len()), (3, 64));
    assert!(moves.iter().all(|(_, to)| *to == uid(4)), "{moves:?}");
}

#[test]
fn what_is_moving_already_is_not_moved_again() {
    let mut town = Town::of(&[4, 0]);
    let hosts = town.loads();
    town.places.retain(|shard, _| *shard >= 2);
    let spread = Spread { hosts: &hosts, places: &town.places, moving: 0, shards: 4 };
    assert!(UNBOUNDED.rebalance(&spread).iter().all(|(shard, _)| *shard >= 2));
}

#[test]
fn external_never_moves_anything_by_itself() {
    assert_eq!(Town::of(&[9, 0]).moves(&External, 0), vec![]);
}

#[test]
fn by_rendezvous_the_same_shard_goes_to_the_same_names() {
    // Frozen: another answer would move every shard of every cluster that is upgraded.
    let hosts = Town::of(&[0, 0, 0, 0]).loads();
    let chosen: Vec<u64> =
        (0..12).filter_map(|shard| Rendezvous.allocate(shard, &hosts)).map(Uid::get).collect();
    assert_eq!(chosen, [3, 4, 3, 4, 3, 1, 1, 3, 2, 4, 4, 4]);
}

#[test]
fn by_rendezvous_a_node_gets_about_its_share() {
    let hosts = Town::of(&[0, 0, 0, 0]).loads();
    let mut counts: BTreeMap<Uid, usize> = BTreeMap::new();
    for shard in 0..4000 {
        *counts.entry(Rendezvous.allocate(shard, &hosts).expect("there are hosts")).or_default() += 1;
    }
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
}

#[test]
fn a_custom_type_without_its_function_is_left_to_others() {
    struct First;
    impl Strategy for First {
        fn allocate(&self, _: u32, hosts: &[HostLoad]) -> Option<Uid> {
            hosts.first().map(|host| host.uid)
        }
        fn rebalance(&self, _: &Spread<'_>) -> Vec<(u32, Uid)> {
            Vec::new()
        }
    }
    let hosts = Town::of(&[2, 1]).loads();
    let ask = |custom| with_strategy(Allocation::Custom, custom, |strategy| strategy.allocate(0, &hosts));
    assert_eq!(ask(Some(&First)), Some(uid(1)));
    assert_eq!(ask(None), Some(uid(2)));
}

#[test]
fn versions_are_compared_as_people_count() {
    let ascending =
        ["", "1.0-rc.1", "1.0-rc.2", "1.0-rc.10", "1.0", "1.0.1", "1.2", "1.10", "2", "10.0", "v1"];
    for (place, one) in ascending.iter().enumerate() {
        for (other_place, other) in ascending.iter().enumerate() {
            assert_eq!(compare_versions(one, other), place.cmp(&other_place), "{one} and {other}");
        }
    }
    for (one, other) in [("1.0", "1"), ("1.0.0", "1.0"), ("01.2", "1.02"), ("1.0-a", "1-a")] {
        assert_eq!(compare_versions(one, other), Ordering::Equal, "{one} and {other}");
    }
}

/// Comes, or goes: that host.
#[derive(Clone, Copy, Debug)]
enum Event {
    Join(u64),
    Leave(u64),
}

fn events() -> impl Generator<Value = Vec<Event>> {
    let event = (1..9_u64, bool::ANY);
    let event = event.prop_map(|(host, joins)| if joins { Event::Join(host) } else { Event::Leave(host) });
    lists(event, 1..20)
}

fn excess_of(counts: &[usize]) -> usize {
    let all: usize = counts.iter().sum();
    let (share, larger) = (all / counts.len(), all % counts.len());
    let mut counts = counts.to_vec();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    (0..).zip(counts).map(|(rank, count)| count.saturating_sub(share + usize::from(rank < larger))).sum()
}

fn spread(counts: &[usize]) -> usize {
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

proptest! {
    #[test]
    fn least_shards_reaches_the_balance_with_the_fewest_moves(
        loads in lists(0..40_usize, 1..8),
        percent in 1..=100_u8,
    ) {
        let mut town = Town::of(&loads);
        let least = excess_of(&town.counts());
        let (_, moves) = town.balance(&LeastShards { absolute: 0, percent });
        prop_assert_eq!(moves.len(), least);
        prop_assert!(spread(&town.counts()) <= 1);
    }

    #[test]
    fn least_shards_never_flaps_whoever_comes_and_goes(shards in 1..60_usize, events in events()) {
        let mut town = Town::of(&[shards]);
        for event in events {
            match event {
                Event::Join(host) if !town.hosts.contains(&host) => {
                    town.join(host);
                    let (_, moves) = town.balance(&USUAL);
                    prop_assert!(moves.iter().all(|(_, to)| *to == uid(host)), "between old nodes: {moves:?}");
                }
                Event::Leave(host) if town.hosts.len() > 1 && town.hosts.contains(&host) => {
                    town.leave(host, &USUAL);
                    prop_assert_eq!(town.balance(&USUAL).1, vec![], "what was given away is given away again");
                }
                Event::Join(_) | Event::Leave(_) => {}
            }
            prop_assert!(spread(&town.counts()) <= 1);
        }
    }

    #[test]
    fn by_rendezvous_only_the_share_of_who_comes_or_goes_moves(shards in 1..60_usize, events in events()) {
        let mut town = Town::of(&[shards]);
        for event in events {
            match event {
                Event::Join(host) if !town.hosts.contains(&host) => {
                    town.join(host);
                    let (_, moves) = town.balance(&Rendezvous);
                    prop_assert!(moves.iter().all(|(_, to)| *to == uid(host)), "{moves:?}");
                }
                Event::Leave(host) if town.hosts.len() > 1 && town.hosts.contains(&host) => {
                    town.leave(host, &Rendezvous);
                    prop_assert_eq!(town.balance(&Rendezvous).1, vec![]);
                }
                Event::Join(_) | Event::Leave(_) => {}
            }
        }
    }

    #[test]
    fn versions_are_ordered_whatever_they_are(one in "[0-9a-z.+-]{0,8}", two in "[0-9a-z.+-]{0,8}", three in "[0-9a-z.+-]{0,8}") {
        prop_assert_eq!(compare_versions(&one, &two), compare_versions(&two, &one).reverse());
        if compare_versions(&one, &two).is_le() && compare_versions(&two, &three).is_le() {
            prop_assert!(compare_versions(&one, &three).is_le());
        }
    }
}
