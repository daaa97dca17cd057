//! One life of a large cluster, from the first seed on.
//!
//! ```text
//! found -> join, batch by batch -> rest -> crash -> rest -> cut off a tenth -> heal
//! ```

use std::time::Duration;

use borough_protocol::settings::{Checked, Settings};

use super::crowd::Crowd;
use super::phase::Phase;
use super::stage::Stage;
use crate::sim::moment::{Nanos, SECOND};

/// How long everything is left alone before a rest is measured: the list of voters may still grow, what a removed node
/// owned is freed.
const CALM: Nanos = 8 * SECOND;
const SEEDS: usize = 3;

/// What a run is to be.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// How many nodes there are in the end.
    pub nodes: usize,
    /// How many start together.
    pub batch: usize,
    /// How long nothing happens, in each rest.
    pub rest: Nanos,
    /// How long a tenth of the nodes is cut off.
    pub cut: Nanos,
    /// What chance is drawn from.
    pub seed: u64,
}

impl Scenario {
    /// A run of so many nodes as the documentation shows it.
    pub fn of(nodes: usize, seed: u64) -> Self {
        Self { nodes, batch: 50, rest: 30 * SECOND, cut: 20 * SECOND, seed }
    }

    /// Runs it and tells of each phase when it is over.
    ///
    /// # Errors
    /// What keeps the nodes from agreeing, if they do not in time.
    ///
    /// # Panics
    /// If it has fewer than ten nodes: a tenth would be none, and all would vote.
    pub fn run(&self, mut tell: impl FnMut(&Phase)) -> Result<Course, String> {
        assert!(self.nodes >= 10, "a run of scale has ten nodes at least");
        let crowd = Crowd::new(self.nodes, SEEDS, settings(), self.seed);
        let mut stage = Stage::new(crowd, &mut tell);
        found(&mut stage)?;
        self.join(&mut stage)?;
        self.rest(&mut stage)?;
        self.crash(&mut stage)?;
        self.rest(&mut stage)?;
        self.cut_off(&mut stage)?;
        self.heal(&mut stage)?;
        match stage.crowd.differences(self.nodes - 1) {
            None => Ok(Course { nodes: self.nodes, phases: stage.phases }),
            Some(difference) => Err(difference),
        }
    }

    /// The next batch starts when all know that all know the last one.
    fn join(&self, stage: &mut Stage<'_>) -> Result<(), String> {
        stage.measure("join", |stage| {
            let mut running = SEEDS;
            while running < self.nodes {
                let more = self.batch.min(self.nodes - running);
                for slot in running..running + more {
                    stage.start_within(slot, SECOND);
                }
                running += more;
                stage.settle(running, |_| true)?;
            }
            Ok(())
        })
    }

    fn rest(&self, stage: &mut Stage<'_>) -> Result<(), String> {
        stage.wait(CALM);
        stage.measure("rest", |stage| {
            stage.wait(self.rest);
            Ok(())
        })
    }

    fn crash(&self, stage: &mut Stage<'_>) -> Result<(), String> {
        let victim = stage.some_members(1)[0];
        stage.measure("crash", |stage| {
            let began = stage.crowd.now();
            let uid = stage.crowd.crash(victim).ok_or("nobody was there to crash")?;
            let known = stage.until(|crowd| {
                if crowd.all_know_removed(uid) {
                    None
                } else {
                    Some(format!("not all know that {uid} is gone"))
                }
            })?;
            stage.settle(self.nodes - 1, |_| true)?;
            stage.known_after = Some(known.since(began));
            Ok(())
        })
    }

    fn cut_off(&self, stage: &mut Stage<'_>) -> Result<(), String> {
        let side = stage.some_members(self.nodes / 10);
        let others = self.nodes - 1 - side.len();
        stage.measure("cut", |stage| {
            let began = stage.crowd.now();
            stage.crowd.cut(&side);
            let known = stage.settle(others, |slot| side.binary_search(&slot).is_err())?;
            stage.known_after = Some(known.since(began));
            let left = self.cut.saturating_sub(known.since(began));
            stage.wait(left);
            Ok(())
        })
    }

    fn heal(&self, stage: &mut Stage<'_>) -> Result<(), String> {
        stage.measure("heal", |stage| {
            stage.crowd.heal();
            stage.settle(self.nodes - 1, |_| true).map(drop)
        })
    }
}

fn found(stage: &mut Stage<'_>) -> Result<(), String> {
    for slot in 0..SEEDS {
        stage.start_within(slot, SECOND);
    }
    stage.measure("found", |stage| stage.settle(SEEDS, |_| true).map(drop))
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// How many nodes there were.
    pub nodes: usize,
    /// Its phases, in order.
    pub phases: Vec<Phase>,
}

impl Course {
    /// The first phase of that name.
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// How soon a crash must be known to all: suspicion, the commit (a report and its round trip) and ten rounds of gossip.
pub fn crash_bound() -> Duration {
    let settings = settings();
    settings.timing().suspect_after + settings.round_trip + settings.gossip_interval / 5 * 10
}

fn settings() -> Checked {
    Checked::new(Settings::default()).expect("the defaults are safe")
}
