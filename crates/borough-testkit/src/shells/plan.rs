//! What a seed draws, up front.

use std::time::Duration;

use borough_protocol::random::Random;

use super::fault::{Fault, Strike, Way};

/// Most runs are so long before everything heals.
const SHORT: Duration = Duration::from_secs(25);
/// A few are so long that a lane loses its patience with a peer.
const LONG: Duration = Duration::from_secs(70);
/// No strike before that: the first nodes have found each other then.
const CALM: Duration = Duration::from_secs(4);
/// A node that was told to leave is dropped so much later: it has left by then, or cannot.
const AFTER_LEAVING: Duration = Duration::from_secs(12);

/// Everything that a run is given; the same seed gives the same plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it was drawn from.
    pub seed: u64,
    /// How many nodes there are at the beginning.
    pub nodes: usize,
    /// How many addresses there are: those beyond `nodes` join later, if at all.
    pub places: usize,
    /// In bytes, what a frame may have; larger messages travel in parts.
    pub frame_max: usize,
    /// How many messages wait for a lane; further senders stand in line.
    pub queue: usize,
    /// How many tasks send on each node.
    pub senders: usize,
    /// What every connection is late by, at most.
    pub weather: Duration,
    /// How long faults strike before everything heals.
    pub length: Duration,
    /// What strikes, in order.
    pub strikes: Vec<Strike>,
}

impl Plan {
    /// The plan of that seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let nodes = number(&mut random, 3, 7);
        let places = nodes + number(&mut random, 0, 2);
        let length = if random.per_mille(150) { LONG } else { SHORT };
        let mut plan = Self {
            seed,
            nodes,
            places,
            frame_max: *random.pick(&[4096, 16 * 1024, 256 * 1024]).unwrap_or(&4096),
            queue: *random.pick(&[2, 16, 2048]).unwrap_or(&16),
            senders: number(&mut random, 1, 2),
            weather: Duration::from_micros(*random.pick(&[0, 200, 2000, 10_000]).unwrap_or(&0)),
            length,
            strikes: Vec::new(),
        };
        plan.draw_starts(&mut random);
        let troubles = random.between(4, 14);
        for _ in 0..troubles {
            plan.draw_trouble(&mut random);
        }
        plan.strikes.sort_by_key(|strike| strike.at);
        plan
    }

    fn push(&mut self, at: Duration, fault: Fault) {
        if at < self.length {
            self.strikes.push(Strike { at, fault });
        }
    }

    fn push_for(&mut self, begin: Duration, end: Duration, fault: Fault, over: Fault) {
        self.push(begin, fault);
        self.push(end, over);
    }

    /// The first nodes start in any order, most of them at once.
    fn draw_starts(&mut self, random: &mut Random) {
        for place in 0..self.nodes {
            let late = if random.per_mille(700) { random.below(50) } else { random.below(3000) };
            self.push(Duration::from_millis(late), Fault::Start(place));
        }
    }

    fn draw_trouble(&mut self, random: &mut Random) {
        let begin = CALM + millis(random, 0, as_millis(self.length.saturating_sub(CALM)));
        let lasts = match random.below(4) {
            0 => millis(random, 1, 300),
            1 => millis(random, 300, 3000),
            2 => millis(random, 3000, 12_000),
            _ => millis(random, 10_000, 60_000),
        };
        let (way, end) = (self.draw_way(random), begin + lasts);
        match random.below(20) {
            0 | 1 => self.push_for(begin, end, Fault::Cut(way), Fault::Heal(way)),
            2 | 3 => {
                for way in [way, way.back()] {
                    self.push_for(begin, end, Fault::Cut(way), Fault::Heal(way));
                }
            }
            4 | 5 => {
                let group = self.draw_group(random);
                self.push_for(begin, end, Fault::Isolate(group.clone()), Fault::Rejoin(group));
            }
            6 => {
                self.push_for(begin, end, Fault::Refuse(way), Fault::Heal(way));
                self.push(begin, Fault::Reset(way));
            }
            7 => {
                let least = millis(random, 0, 50);
                let most = least + millis(random, 1, 400);
                self.push_for(begin, end, Fault::Delay(way, least, most), Fault::Heal(way));
            }
            8 => self.push_for(begin, end, Fault::Slow(way, 1 << random.between(8, 20)), Fault::Heal(way)),
            9..=12 => {
                for again in 0..random.between(1, 6) {
                    let at = begin + Duration::from_millis(again * random.below(400));
                    self.push(at, Fault::Reset(way));
                }
            }
            13 => self.push(begin, Fault::ResetAll),
            14..=16 => self.push_for(begin, end, Fault::Crash(way.from), Fault::Start(way.from)),
            17 => {
                self.push(begin, Fault::Leave(way.from));
                let (begin, end) = (begin + AFTER_LEAVING, end + AFTER_LEAVING);
                self.push_for(begin, end, Fault::Crash(way.from), Fault::Start(way.from));
            }
            18 => self.push(begin, Fault::StopActor(way.from)),
            _ => {
                for place in self.nodes..self.places {
                    self.push(begin, Fault::Start(place));
                }
            }
        }
    }

    fn draw_way(&self, random: &mut Random) -> Way {
        let from = number(random, 0, self.places - 1);
        let to = (from + number(random, 1, self.places - 1)) % self.places;
        Way { from, to }
    }

    fn draw_group(&self, random: &mut Random) -> Vec<usize> {
        let most = self.nodes.div_ceil(2);
        let wanted = number(random, 1, most);
        let first = number(random, 0, self.places - 1);
        (0..wanted).map(|next| (first + next) % self.places).collect()
    }
}

fn number(random: &mut Random, low: usize, high: usize) -> usize {
    usize::try_from(random.between(low as u64, high as u64)).unwrap_or(low)
}

fn millis(random: &mut Random, low: u64, high: u64) -> Duration {
    Duration::from_millis(random.between(low, high))
}

fn as_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_plan_every_time_and_another_draws_another() {
        assert_eq!(Plan::draw(5), Plan::draw(5));
        assert_ne!(Plan::draw(5).strikes, Plan::draw(6).strikes);
    }

    #[test]
    fn strikes_are_in_order_and_within_the_run() {
        for seed in 0..100 {
            let plan = Plan::draw(seed);
            assert!(plan.strikes.is_sorted_by_key(|strike| strike.at));
            assert!(plan.strikes.iter().all(|strike| strike.at < plan.length));
            assert!((3..=7).contains(&plan.nodes));
        }
    }
}
