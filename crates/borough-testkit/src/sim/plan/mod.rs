//! Everything about a run that is decided before it begins: a seed written out, so that parts of it can be left out.

mod disk_faults;
mod draw;
mod file;
mod kind;
mod second_clusters;
mod seeds;
mod settings;

use std::mem;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::settings::Checked;
use serde::{Deserialize, Serialize};

pub use self::file::BadPlan;
pub use self::kind::Kind;
use super::cuts::SlotIndex;
use super::moment::{Moment, Nanos};
use super::network::Weather;
use super::sharding::Load;
use super::strike::Strike;

/// How much a run may do to its cluster, and what is asked of the cluster for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Nothing beyond what a healthy cluster must bear: nobody that lives may be removed.
    Calm,
    /// A quorum of the voters always lives and hears each other: the cluster must outlive the run.
    Safe,
    /// Anything: a cluster must come to life again once everything is healed, perhaps another one.
    Wild,
    /// As calm, and at the end the whole cluster is shut down: everybody must end, and nobody be removed.
    Closing,
}

/// What a run is asked to be, before anything is drawn.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// So many nodes instead of a drawn number.
    pub nodes: Option<usize>,
    /// These faults of the drawn ones, by number, instead of all.
    pub keep: Option<Vec<usize>>,
    /// This mode instead of a drawn one.
    pub mode: Option<Mode>,
    /// Rules that all nodes break on purpose.
    pub flaws: Flaws,
    /// Whether there are shards, and senders to them.
    pub sharding: bool,
    /// Whether voters are on disks, instead of what is drawn.
    pub durable: Option<bool>,
    /// What the run is about, instead of what its number says.
    pub kind: Option<Kind>,
}

/// A whole run, written out.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What everything was drawn from, and what is drawn during the run is drawn from.
    pub seed: u64,
    /// How much it may do.
    pub mode: Mode,
    /// The settings of all nodes.
    pub settings: Checked,
    /// How many slots start at the beginning.
    pub nodes: usize,
    /// Which slots the nodes of each slot name as their seeds.
    pub seeds: Vec<Vec<SlotIndex>>,
    /// Whether a service shows those seeds, at first perhaps a part of them.
    pub is_discovered: bool,
    /// How many slots there are; those above `nodes` start later, if at all.
    pub slots: usize,
    /// When each of the first nodes starts.
    pub starts: Vec<Moment>,
    /// The network when nothing is wrong with it.
    pub weather: Weather,
    /// How long faults happen.
    pub faulty: Nanos,
    /// How long a cluster that lost no quorum may take to heal.
    pub heal: Nanos,
    /// How long any other may take: its nodes have to give up first, and found another.
    pub heal_wild: Nanos,
    /// What happens, in the order of time.
    pub strikes: Vec<Strike>,
    /// What is asked of its shards; none: there are none.
    pub sharding: Option<Load>,
    /// Whether every fault strikes, whatever the mode allows: they are those that another run bore.
    pub is_forced: bool,
}

impl Plan {
    /// The run of that seed, with what is wished for.
    ///
    /// # Panics
    /// If the settings drawn are unsafe, which would be a mistake in the drawing.
    pub fn draw(seed: u64, wish: &Wish) -> Self {
        let mut plan = draw::plan(seed, wish);
        if let Some(nodes) = wish.nodes {
            plan.shrink_to(nodes);
        }
        if let Some(keep) = &wish.keep {
            plan.strikes.retain(|strike| keep.contains(&strike.number));
        }
        plan
    }

    /// Fewer nodes; faults that speak of the others are left out. More nodes only make a plan larger than any drawn.
    pub fn shrink_to(&mut self, nodes: usize) {
        let further = self.slots - self.nodes;
        self.nodes = nodes;
        self.slots = if nodes == self.starts.len() { nodes + further } else { nodes };
        let last = self.starts.last().copied().unwrap_or_default();
        self.starts.resize(nodes, last);
        let slots = self.slots;
        self.seeds.truncate(slots);
        for seeds in &mut self.seeds {
            // What the lists had in common they still have: otherwise two clusters are what was asked for.
            let named = mem::take(seeds).into_iter().map(|seed| if seed < nodes { seed } else { 0 });
            for seed in named {
                if !seeds.contains(&seed) {
                    seeds.push(seed);
                }
            }
        }
        let last = self.seeds.last().cloned().unwrap_or_default();
        self.seeds.resize(slots, last);
        self.strikes.retain(|strike| strike.fault.fits(slots));
    }
}

/// A length as the simulator counts it.
pub(super) fn nanos(length: Duration) -> Nanos {
    u64::try_from(length.as_nanos()).unwrap_or(Nanos::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::fault::Fault;

    fn plan(seed: u64) -> Plan {
        Plan::draw(seed, &Wish::default())
    }

    #[test]
    fn a_seed_gives_one_plan() {
        assert_eq!(format!("{:?}", plan(7)), format!("{:?}", plan(7)));
        assert_ne!(format!("{:?}", plan(7)), format!("{:?}", plan(8)));
    }

    #[test]
    fn every_plan_has_ten_faults_at_least_and_speaks_of_its_own_slots() {
        for (seed, plan) in (0..500).map(|seed| (seed, plan(seed))) {
            let is_about_links = Kind::of(seed, &Wish::default()) == Kind::BadLinks;
            assert!(plan.strikes.len() >= 10 || is_about_links);
            assert!(plan.strikes.iter().all(|strike| strike.fault.fits(plan.slots)), "{plan:?}");
            assert!(plan.strikes.is_sorted_by_key(|strike| strike.at));
        }
    }

    #[test]
    fn a_calm_plan_stays_within_the_tolerance() {
        for plan in (0..500).map(plan).filter(|plan| plan.mode == Mode::Calm) {
            assert!(plan.weather.late_max < nanos(plan.settings.round_trip) / 2);
            for Strike { fault, .. } in &plan.strikes {
                let tolerable = match fault {
                    Fault::Pause { lasts, .. } => *lasts <= nanos(plan.settings.max_pause),
                    Fault::Leave { .. } | Fault::Refused { .. } | Fault::Start { .. } => true,
                    _ => false,
                };
                assert!(tolerable, "{fault}");
            }
        }
    }

    #[test]
    fn faults_keep_their_numbers_when_others_are_left_out() {
        let whole = plan(3);
        let wish = Wish { keep: Some(vec![2, 5]), ..Wish::default() };
        let kept = Plan::draw(3, &wish);
        assert_eq!(kept.strikes, [whole.strikes[2].clone(), whole.strikes[5].clone()]);
    }

    #[test]
    fn fewer_nodes_take_their_faults_with_them() {
        let wish = Wish { nodes: Some(2), ..Wish::default() };
        let plan = Plan::draw(3, &wish);
        assert_eq!((plan.nodes, plan.slots, plan.starts.len()), (2, 2, 2));
        assert_eq!(plan.seeds.len(), 2);
        assert!(plan.seeds.iter().flatten().all(|seed| *seed < 2));
        assert!(plan.strikes.iter().all(|strike| strike.fault.fits(2)));
    }
}
