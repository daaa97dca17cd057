//! Every policy says the same as its naive model, whatever it is told.

use borough_protocol::random::Random;
use borough_protocol::sharding::passivation::{Levels, Policy, Ranking};
use proptest::prelude::*;

use crate::models::Model;

#[derive(Clone, Copy, Debug)]
enum Call {
    Insert(u32),
    Access(u32),
    Remove(u32),
    Victim,
    Limit(u32),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        4 => (0..16_u32).prop_map(Call::Insert),
        8 => (0..16_u32).prop_map(Call::Access),
        1 => (0..16_u32).prop_map(Call::Remove),
        4 => Just(Call::Victim),
        1 => (0..12_u32).prop_map(Call::Limit),
    ];
    prop::collection::vec(call, 0..200)
}

fn policies() -> impl Strategy<Value = (Policy, Vec<u8>)> {
    let shares = prop_oneof![
        Just(vec![100]),
        Just(vec![20, 80]),
        Just(vec![1, 99]),
        Just(vec![25, 25, 25, 25]),
        Just(vec![10, 20, 30, 40])
    ];
    prop_oneof![
        Just((Policy::LeastRecentlyUsed, vec![])),
        Just((Policy::MostRecentlyUsed, vec![])),
        any::<bool>().prop_map(|dynamic_aging| (Policy::LeastFrequentlyUsed { dynamic_aging }, vec![])),
        shares.prop_map(|shares| {
            let levels = Levels::new(&shares).expect("valid");
            (Policy::SegmentedLeastRecentlyUsed(levels), shares)
        }),
    ]
}

/// The policy beside its model.
struct Pair {
    ranking: Ranking,
    model: Model,
}

impl Pair {
    fn new(policy: Policy, shares: &[u8], limit: u32) -> Self {
        Self { ranking: Ranking::new(policy, limit), model: Model::new(policy, shares, limit) }
    }

    fn call(&mut self, call: Call) {
        match call {
            Call::Insert(slot) => {
                self.ranking.on_insert(slot, u64::from(slot));
                self.model.insert(slot);
            }
            Call::Access(slot) => {
                self.ranking.on_access(slot);
                self.model.access(slot);
            }
            Call::Remove(slot) => {
                self.ranking.on_remove(slot);
                self.model.remove(slot);
            }
            Call::Victim => assert_eq!(self.ranking.victim(), self.model.victim()),
            Call::Limit(limit) => {
                self.ranking.set_limit(limit);
                self.model.set_limit(limit);
            }
        }
        assert_eq!(self.ranking.len() as usize, self.model.slots().len());
    }

    /// All that are left go in the same order.
    fn empty(&mut self) {
        self.call(Call::Limit(1));
        while self.ranking.len() > 1 {
            self.call(Call::Victim);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_policy_chooses_as_its_model_does((policy, shares) in policies(), limit in 1..12_u32, calls in calls()) {
        let mut pair = Pair::new(policy, &shares, limit);
        for call in calls {
            pair.call(call);
        }
        pair.empty();
    }

    #[test]
    fn a_tiny_lfu_never_chooses_the_last_touched_nor_one_that_is_not_there(limit in 1..12_u32, calls in calls()) {
        let mut ranking = Ranking::new(Policy::default(), limit);
        let mut there = std::collections::BTreeSet::new();
        let mut last = None;
        for call in calls {
            match call {
                Call::Insert(slot) => {
                    ranking.on_insert(slot, u64::from(slot % 8));
                    there.insert(slot);
                    last = Some(slot);
                }
                Call::Access(slot) => {
                    ranking.on_access(slot);
                    last = if there.contains(&slot) { Some(slot) } else { last };
                }
                Call::Remove(slot) => {
                    ranking.on_remove(slot);
                    there.remove(&slot);
                }
                Call::Victim => {
                    let victim = ranking.victim();
                    prop_assert_eq!(victim.is_some(), there.len() > ranking.limit() as usize);
                    if let Some(victim) = victim {
                        prop_assert!(there.remove(&victim), "{} is not there", victim);
                        prop_assert_ne!(Some(victim), last);
                    }
                }
                Call::Limit(limit) => ranking.set_limit(limit),
            }
            prop_assert_eq!(ranking.len() as usize, there.len());
            prop_assert!((0..16).all(|slot| ranking.contains(slot) == there.contains(&slot)));
        }
    }
}

/// Others were admitted behind it, and it is the first of its level then.
#[test]
fn the_last_touched_stays_though_it_is_the_first_of_its_level() {
    let mut ranking = Ranking::new(Policy::default(), 6);
    for slot in [0, 3, 10, 4, 5, 1, 6] {
        ranking.on_insert(slot, u64::from(slot % 8));
    }
    ranking.set_limit(1);
    ranking.on_access(3);
    assert!(ranking.victim().is_some_and(|victim| victim != 3));
    ranking.set_limit(4);
    while ranking.victim().is_some_and(|victim| victim != 3) {}
    ranking.set_limit(1);
    while ranking.victim().is_some_and(|victim| victim != 3) {}
    assert!(ranking.contains(3) && ranking.len() == 1);
}

/// Ranks pass the end of the ring many times, and counts reach their most.
#[test]
fn frequencies_hold_over_a_long_life() {
    for dynamic_aging in [false, true] {
        let mut pair = Pair::new(Policy::LeastFrequentlyUsed { dynamic_aging }, &[], 20);
        let mut random = Random::seeded(1);
        for round in 0..60_000_u32 {
            // A few slots get most of the messages, others in other times.
            let slot = u32::try_from(random.below(1 + random.clone().below(32))).expect("small");
            let slot = (slot + round / 5_000) % 32;
            pair.call(if pair.ranking.contains(slot) { Call::Access(slot) } else { Call::Insert(slot) });
            pair.call(Call::Victim);
        }
        pair.empty();
    }
}

#[test]
fn a_slot_that_is_no_slot_is_left_alone() {
    let mut ranking = Ranking::new(Policy::LeastRecentlyUsed, 1);
    ranking.on_insert(u32::MAX, 0);
    ranking.on_access(7);
    ranking.on_remove(7);
    assert!(ranking.is_empty());
}
