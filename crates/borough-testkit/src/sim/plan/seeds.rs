//! The drawing of seed lists, as users write them.

use borough_protocol::random::Random;

use crate::sim::cuts::SlotIndex;

/// The list of each slot. All lists of a run have a slot in common: nodes whose lists have none in common are two clusters on purpose.
pub(super) fn draw(random: &mut Random, nodes: usize, slots: usize) -> Vec<Vec<SlotIndex>> {
    let first = |count: usize| (0..count.min(nodes)).collect::<Vec<_>>();
    match random.below(100) {
        // Everybody is a seed: that is where foundings go wrong most.
        0..40 => vec![first(nodes); slots],
        // The first node names nobody, and all others name it.
        40..55 => {
            let mut lists = vec![first(1); slots];
            lists[0].clear();
            lists
        }
        55..62 => vec![first(1); slots],
        62..72 => vec![first(2); slots],
        72..85 => vec![first(3); slots],
        _ => {
            let common = any(random, nodes);
            (0..slots).map(|_| different(random, nodes, common)).collect()
        }
    }
}

/// A list of one to three with that slot in it, at any place.
fn different(random: &mut Random, nodes: usize, common: SlotIndex) -> Vec<SlotIndex> {
    let mut list = vec![common];
    for _ in 0..random.below(3) {
        let seed = any(random, nodes);
        if !list.contains(&seed) {
            list.push(seed);
        }
    }
    let place = any(random, list.len());
    list.swap(0, place);
    list
}

fn any(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_those_that_users_write() {
        let drawn: Vec<_> = (0..500).map(|seed| draw(&mut Random::seeded(seed), 7, 7)).collect();
        let all_have =
            |count: usize| move |lists: &Vec<Vec<SlotIndex>>| lists.iter().all(|list| list.len() == count);
        for count in [1, 2, 3, 7] {
            assert!(drawn.iter().any(all_have(count)), "{count}");
        }
        assert!(drawn.iter().any(|lists| lists[0].is_empty() && lists[1..].iter().all(|list| *list == [0])));
        assert!(drawn.iter().any(|lists| lists.iter().any(|list| *list != lists[0] && !lists[0].is_empty())));
    }

    #[test]
    fn all_lists_of_a_run_have_a_slot_in_common() {
        for seed in 0..500 {
            let lists = draw(&mut Random::seeded(seed), 5, 6);
            let named = |slot: usize| lists.iter().all(|list| list.is_empty() || list.contains(&slot));
            assert!((0..5).any(named), "{lists:?}");
        }
    }
}
