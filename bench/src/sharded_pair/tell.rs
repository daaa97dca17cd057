//! The flood: from the first tell until every entity has answered, after the last, what it saw.

use super::Link;
use crate::driver::{Breath, Figure};
use crate::remote::Total;
use crate::sharded::Ids;
use std::time::Instant;

pub(super) async fn flood<L: Link>(link: &L, ids: Ids, count: u64) -> Figure {
    let begin = Instant::now();
    link.flood(ids, 0..count, Breath::ALONE).await;
    let total = totals(link, ids).await;
    let elapsed = begin.elapsed();
    assert_eq!(total.wrong, 0, "items out of order or damaged, of {}", total.count);
    Figure::rate(count, elapsed, total.count, count)
}

/// Of all entities, asked at once.
async fn totals<L: Link>(link: &L, ids: Ids) -> Total {
    let asked: Vec<_> = (0..ids.count)
        .map(|place| {
            let link = link.clone();
            tokio::spawn(async move { link.total(ids.nth(place)).await })
        })
        .collect();
    let mut all = Total::default();
    for asked in asked {
        let total = asked.await.expect("an entity answers");
        all.count += total.count;
        all.wrong += total.wrong;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Item;
    use crate::sharded::Id;
    use crate::sharded_pair::Guest;
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::sync::{Arc, Mutex};

    /// Entities in the same process, told the numbers that `send` makes of those to be sent.
    #[derive(Clone)]
    struct Near {
        guests: Arc<Mutex<BTreeMap<Id, Guest>>>,
        send: fn(Range<u64>) -> Vec<u64>,
    }

    impl Link for Near {
        async fn flood(&self, ids: Ids, numbers: Range<u64>, _breath: Breath) {
            for number in (self.send)(numbers) {
                let mut guests = self.guests.lock().expect("not poisoned");
                guests.entry(ids.of(number)).or_default().accept(&Item::new(number));
            }
        }

        async fn ask(&self, _id: Id, _item: Item) -> u64 {
            unreachable!("a flood asks nothing but the totals")
        }

        async fn total(&self, id: Id) -> Total {
            self.guests.lock().expect("not poisoned").get(&id).map(Guest::total).unwrap_or_default()
        }
    }

    fn flooded(send: fn(Range<u64>) -> Vec<u64>) -> Figure {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(flood(&Near { guests: Arc::default(), send }, Ids::shuffled(3), 100))
    }

    #[test]
    fn a_whole_flood_has_the_expected_sum() {
        let figure = flooded(Iterator::collect);
        assert_eq!((figure.sum, figure.expected), (100, 100));
    }

    #[test]
    fn a_flood_that_loses_some_has_a_wrong_sum() {
        let figure = flooded(|numbers| numbers.skip(7).collect());
        assert_eq!((figure.sum, figure.expected), (93, 100));
    }

    #[test]
    #[should_panic(expected = "items out of order")]
    fn a_flood_out_of_order_has_no_figure() {
        flooded(|numbers| numbers.rev().collect());
    }
}
