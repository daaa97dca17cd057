//! How long turns take, by samples, and whose take longest.
//!
//! Promise: the clock is not read for every message. Of those that are handled one in up to 127 is timed, by their number alone, so that slow ones
//! are no more likely to be timed than others; it stands for all since the one before. Whoever looks has the next be timed, and few pass between
//! those that follow: so there is something to say of types that handle one message in a second, too.
//!
//! A turn that awaits something is timed in any case: to put it aside costs far more than a look at the clock. It is offered to the slowest then, and
//! counted with the others only if its number was up.

use std::time::Duration;

use borough_actor::EntityId;
use tokio::time::Instant;

use super::slowest::Slowest;
use super::spread::Spread;

/// One of so many messages is timed, once there are many. No power of two, nor any other round number: what users send comes in such rounds.
const GAP: u32 = 127;
/// What is told is of the last such time that is over, and of the one that is not.
const WINDOW: Duration = Duration::from_secs(10);

/// See the module.
pub(super) struct Pace {
    /// How many messages were handled.
    handled: u64,
    /// The number of the one that is timed next.
    next: u64,
    /// How many that one stands for.
    gap: u32,
    log: Box<Log>,
}

/// Since when a turn goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    at: Instant,
    /// Zero if its number was not up.
    stands_for: u32,
}

struct Log {
    current: Spread,
    last: Spread,
    /// When the current window began.
    began: Instant,
    slowest: Slowest,
}

impl Since {
    /// A turn that is put aside, and was not timed so far.
    pub(super) fn now() -> Self {
        Self { at: Instant::now(), stands_for: 0 }
    }

    pub(super) fn lasted(self, now: Instant) -> Duration {
        now.duration_since(self.at)
    }
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        let (current, last) = (Spread::default(), Spread::default());
        let log = Box::new(Log { current, last, began: now, slowest: Slowest::default() });
        Self { handled: 0, next: 1, gap: 1, log }
    }

    pub(super) fn handled(&self) -> u64 {
        self.handled
    }

    /// A message is about to be handled; it is timed if its number is up.
    #[inline]
    pub(super) fn begin(&mut self) -> Option<Since> {
        self.handled += 1;
        (self.handled == self.next).then(|| self.time())
    }

    #[cold]
    fn time(&mut self) -> Since {
        let stands_for = self.gap;
        self.gap = (self.gap * 2).min(GAP);
        self.next = self.handled + u64::from(self.gap);
        Since { at: Instant::now(), stands_for }
    }

    /// A turn of that entity is over.
    #[cold]
    pub(super) fn end(&mut self, id: &EntityId, since: Since) {
        let now = Instant::now();
        let took = since.lasted(now);
        if since.stands_for > 0 {
            self.log.turn_over(now);
            self.log.current.add(took, since.stands_for);
        }
        self.log.slowest.offer(id, took, now);
    }

    /// How long turns took of late.
    pub(super) fn look(&mut self, now: Instant) -> Spread {
        (self.gap, self.next) = (1, self.handled + 1);
        self.log.turn_over(now);
        let mut both = self.log.last.clone();
        both.merge(&self.log.current);
        both
    }

    /// Those that took longest, to be held against turns that still go on.
    pub(super) fn slowest(&self) -> Slowest {
        self.log.slowest.clone()
    }
}

impl Log {
    fn turn_over(&mut self, now: Instant) {
        let passed = now.duration_since(self.began);
        if passed < WINDOW {
            return;
        }
        self.last = std::mem::take(&mut self.current);
        self.began += WINDOW;
        if passed >= WINDOW * 2 {
            (self.last, self.began) = (Spread::default(), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use borough_actor::IntoEntityId;
    use tokio::time::advance;

    use super::*;

    const TURN: Duration = Duration::from_millis(4);

    /// Has that many messages handled, each within a turn; how many of them were timed.
    async fn handle(pace: &mut Pace, messages: u32) -> usize {
        let mut timed = 0;
        for _ in 0..messages {
            let since = pace.begin();
            advance(TURN).await;
            if let Some(since) = since {
                pace.end(&"a".into_entity_id().unwrap(), since);
                timed += 1;
            }
        }
        timed
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_messages_few_are_timed_and_they_stand_for_all() {
        let mut pace = Pace::new(Instant::now());
        // 1, 2, 4, .. 64, and then every 127th.
        assert_eq!(handle(&mut pace, 127 + 2 * GAP).await, 9);
        let spread = pace.look(Instant::now());
        let mut all = Spread::default();
        (0..7).for_each(|power| all.add(TURN, 1 << power));
        (0..2).for_each(|_| all.add(TURN, GAP));
        assert_eq!(spread, all);
        assert_eq!(pace.handled(), u64::from(127 + 2 * GAP));
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_look_the_next_message_is_timed() {
        let mut pace = Pace::new(Instant::now());
        handle(&mut pace, 200).await;
        assert_eq!(handle(&mut pace, 1).await, 0);
        pace.look(Instant::now());
        assert_eq!(handle(&mut pace, 1).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_timed_is_told_for_ten_seconds_at_least_and_twenty_at_most() {
        let mut pace = Pace::new(Instant::now());
        advance(WINDOW.saturating_sub(TURN * 2)).await;
        handle(&mut pace, 1).await;
        advance(WINDOW).await;
        assert_eq!(pace.look(Instant::now()).times().samples, 1);
        advance(WINDOW).await;
        assert_eq!(pace.look(Instant::now()).times().samples, 0);
        handle(&mut pace, 1).await;
        advance(WINDOW * 2).await;
        assert_eq!(pace.look(Instant::now()).times().samples, 0, "both windows are over");
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_whose_number_was_not_up_is_among_the_slowest_alone() {
        let mut pace = Pace::new(Instant::now());
        let since = Since::now();
        advance(TURN).await;
        pace.end(&"a".into_entity_id().unwrap(), since);
        let now = Instant::now();
        assert_eq!(pace.look(now).times().samples, 0);
        assert_eq!(pace.slowest().named(now), [("a".to_owned(), TURN)]);
    }
}
