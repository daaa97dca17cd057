//! How long one waits before one tries again.

use std::time::Duration;

use crate::chance::Chance;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// Pauses that double, from 50 ms to 1 s, each scattered so that nobody comes back in step.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    next: Duration,
    longest: Duration,
    chance: Chance,
}

impl Backoff {
    pub(super) fn new(chance: Chance) -> Self {
        Self { next: FIRST, longest: LONGEST, chance }
    }

    /// Pauses that grow to that length only.
    pub(super) fn up_to(longest: Duration, chance: Chance) -> Self {
        Self { longest, ..Self::new(chance) }
    }

    /// How long to wait this time.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.chance.scatter(self.next);
        self.next = (self.next * 2).min(self.longest);
        pause
    }

    /// It worked: the next failure is the first again.
    pub(super) fn reset(&mut self) {
        self.next = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_second_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::new(Chance::seeded(1));
        let pauses: Vec<_> = (0..7).map(|_| backoff.pause()).collect();
        for (pause, longest) in pauses.iter().zip([50, 100, 200, 400, 800, 1000, 1000]) {
            let longest = Duration::from_millis(longest);
            assert!(*pause <= longest && *pause >= longest / 2, "{pauses:?}");
        }
        backoff.reset();
        assert!(backoff.pause() <= FIRST);
    }
}
