//! The slowest turns of late, with the entities whose they were.
//!
//! Promise: a few at most, each entity once, and none that is long over.

use std::cmp::Reverse;
use std::time::Duration;

use borough_actor::EntityId;
use tokio::time::Instant;

/// How many are kept.
pub(crate) const SLOWEST: usize = 10;
/// For how long.
const KEPT: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Slowest {
    all: Vec<Slow>,
}

#[derive(Clone)]
struct Slow {
    id: EntityId,
    took: Duration,
    /// When it was seen.
    at: Instant,
}

impl Slow {
    fn is_recent(&self, now: Instant) -> bool {
        now.duration_since(self.at) < KEPT
    }
}

impl Slowest {
    /// A turn of that entity took so long, or does so far; it is kept if it is among the slowest.
    pub(super) fn offer(&mut self, id: &EntityId, took: Duration, now: Instant) {
        let is_slower = |slow: &Slow| slow.took > took && slow.is_recent(now);
        if self.all.len() >= SLOWEST && self.all.iter().all(is_slower) {
            return;
        }
        self.all.retain(|slow| slow.is_recent(now));
        let slow = Slow { id: id.clone(), took, at: now };
        if let Some(known) = self.all.iter_mut().find(|known| known.id == *id) {
            if known.took <= took {
                *known = slow;
            }
        } else if self.all.len() < SLOWEST {
            self.all.push(slow);
        } else if let Some(least) = self.all.iter_mut().min_by_key(|slow| slow.took)
            && least.took < took
        {
            *least = slow;
        }
    }

    /// Those of late, the slowest first.
    pub(super) fn named(mut self, now: Instant) -> Vec<(String, Duration)> {
        self.all.retain(|slow| slow.is_recent(now));
        self.all.sort_by_key(|slow| Reverse(slow.took));
        self.all.into_iter().map(|slow| (slow.id.to_string(), slow.took)).collect()
    }
}

#[cfg(test)]
mod tests {
    use borough_actor::IntoEntityId;

    use super::*;

    fn id(number: u64) -> EntityId {
        number.into_entity_id().unwrap()
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn of_many_the_slowest_few_are_kept_and_named_in_order() {
        let (mut slowest, now) = (Slowest::default(), Instant::now());
        for number in 0..100 {
            // All lengths up to 100 ms, in no order.
            slowest.offer(&id(number), millis(number * 37 % 100), now);
        }
        let took: Vec<_> = slowest.named(now).into_iter().map(|(_, took)| took).collect();
        assert_eq!(took, [99, 98, 97, 96, 95, 94, 93, 92, 91, 90].map(millis));
    }

    #[test]
    fn an_entity_is_named_once_with_its_slowest_turn() {
        let (mut slowest, now) = (Slowest::default(), Instant::now());
        for took in [3, 9, 5] {
            slowest.offer(&id(7), millis(took), now);
        }
        assert_eq!(slowest.named(now), [("7".to_owned(), millis(9))]);
    }

    #[test]
    fn what_is_a_minute_old_makes_room_for_what_is_quicker() {
        let (mut slowest, now) = (Slowest::default(), Instant::now());
        for number in 0..SLOWEST as u64 {
            slowest.offer(&id(number), millis(500), now);
        }
        let later = now + millis(59_999);
        slowest.offer(&id(50), millis(1), later);
        assert_eq!(slowest.clone().named(later).len(), SLOWEST);
        let much_later = now + millis(60_000);
        slowest.offer(&id(51), millis(1), much_later);
        assert_eq!(slowest.clone().named(much_later), [("51".to_owned(), millis(1))]);
        assert_eq!(slowest.named(much_later + millis(60_000)), []);
    }
}
