//! How much a node may trust its own ears: who is slow should accuse others less.
//!
//! After Lifeguard (Dadgar, Phillips, Currey 2018). A score of 0 is a healthy node; each step adds the acceptable pause
//! once more to what a peer's silence may last.

/// The score of one node about itself, 0 to 8.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    score: u8,
    was_late: bool,
}

impl Health {
    /// The worst score.
    pub const WORST: u8 = 8;

    /// The worst score that the silence of others alone makes. In a real split most peers are silent for good: they
    /// have to be accused in a time not much longer than usual.
    pub const WORST_BY_SILENCE: u8 = 2;

    /// The node was away when its deadline came.
    pub fn was_late(&mut self) {
        self.score = (self.score + 1).min(Self::WORST);
        self.was_late = true;
    }

    /// An interval is over. If most peers were silent, it is probably this node that is cut off or slow; an interval
    /// without anything bad makes up for one that had it.
    pub fn end_interval(&mut self, most_are_silent: bool) {
        if most_are_silent {
            self.score = self.score.max((self.score + 1).min(Self::WORST_BY_SILENCE));
        } else if !self.was_late {
            self.score = self.score.saturating_sub(1);
        }
        self.was_late = false;
    }

    /// The score: 0 is healthy.
    pub fn score(self) -> u8 {
        self.score
    }

    /// By how much the acceptable pause is multiplied.
    pub fn patience(self) -> u32 {
        1 + u32::from(self.score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_raises_the_score_up_to_the_worst_and_good_intervals_lower_it() {
        let mut health = Health::default();
        for score in [1, 2, 3, 4, 5, 6, 7, 8, 8, 8] {
            health.was_late();
            health.end_interval(false);
            assert_eq!(health.score(), score);
        }
        for score in [7, 6, 5, 4, 3, 2, 1, 0, 0] {
            health.end_interval(false);
            assert_eq!((health.score(), health.patience()), (score, u32::from(score) + 1));
        }
    }

    #[test]
    fn silence_of_the_others_raises_it_a_little_and_never_lowers_it() {
        let mut health = Health::default();
        for score in [1, 2, 2, 2] {
            health.end_interval(true);
            assert_eq!(health.score(), score);
        }
        (0..3).for_each(|_| health.was_late());
        health.end_interval(true);
        assert_eq!(health.score(), 5);
    }
}
