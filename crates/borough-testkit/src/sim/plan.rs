//! Everything about a run that is decided before it begins: a seed written out, so that parts of it can be left out.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::random::Random;
use borough_protocol::settings::{Checked, Settings};

use super::fault::{Fault, Target};
use super::moment::{MILLISECOND, Moment, Nanos, SECOND};
use super::network::Weather;

/// How much a run may do to its cluster, and what is asked of the cluster for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// How many slots start at the beginning, and are each other's seeds.
    pub nodes: usize,
    /// How many slots there are; those above `nodes` start later, if at all.
    pub slots: usize,
    /// When each of the first nodes starts.
    pub starts: Vec<Moment>,
    /// The network when nothing is wrong with it.
    pub weather: Weather,
    /// How long faults happen.
    pub faulty: Nanos,
    /// How long the cluster may take to heal.
    pub heal: Nanos,
    /// What happens, when, and under which number, in the order of time.
    pub faults: Vec<(usize, Moment, Fault)>,
}

const FAULTY: Nanos = 60 * SECOND;
const FAULTS_MIN: u64 = 10;
const FAULTS_MAX: u64 = 30;
/// Faults begin when a cluster had time to form, mostly: the first may strike while it forms.
const FIRST_FAULT: Nanos = SECOND;

impl Plan {
    /// The run of that seed, with what is wished for.
    ///
    /// # Panics
    /// If the settings drawn are unsafe, which would be a mistake in the drawing.
    pub fn draw(seed: u64, wish: &Wish) -> Self {
        let mut random = Random::seeded(seed);
        let settings = draw_settings(&mut random, wish.flaws);
        let drawn_mode = draw_mode(&mut random);
        let drawn_nodes = draw_nodes(&mut random);
        let further = usize::from(random.per_mille(300));
        let mode = wish.mode.unwrap_or(drawn_mode);
        let mut draw =
            Draw { random, settings: &settings, mode, nodes: drawn_nodes, slots: drawn_nodes + further };
        let weather = draw.weather();
        let starts = (0..drawn_nodes).map(|_| draw.start()).collect();
        let faults = draw.faults();
        let mut plan = Self {
            seed,
            mode,
            settings: settings.clone(),
            nodes: drawn_nodes,
            slots: drawn_nodes + further,
            starts,
            weather,
            faulty: FAULTY,
            heal: if mode == Mode::Wild { 60 * SECOND } else { 30 * SECOND },
            faults,
        };
        if let Some(nodes) = wish.nodes {
            plan.shrink_to(nodes);
        }
        if let Some(keep) = &wish.keep {
            plan.faults.retain(|(number, ..)| keep.contains(number));
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
        self.faults.retain(|(.., fault)| fault.fits(slots));
    }
}

/// A length as the simulator counts it.
pub(super) fn nanos(length: Duration) -> Nanos {
    u64::try_from(length.as_nanos()).unwrap_or(Nanos::MAX)
}

/// With few voters some members follow a table that they have no part in.
fn draw_settings(random: &mut Random, flaws: Flaws) -> Checked {
    let max_voters = if random.per_mille(300) { 3 } else { 5 };
    let settings = Settings { max_voters, ..Settings::default() };
    let mut checked = Checked::new(settings).expect("the defaults are safe with any odd number of voters");
    checked.flaws = flaws;
    checked
}

fn draw_mode(random: &mut Random) -> Mode {
    match random.below(100) {
        0..12 => Mode::Calm,
        12..15 => Mode::Closing,
        15..65 => Mode::Safe,
        _ => Mode::Wild,
    }
}

fn draw_nodes(random: &mut Random) -> usize {
    match random.below(20) {
        0 => 2,
        1..4 => 3,
        4..7 => 4,
        7..17 => 5,
        17 => 6,
        _ => 7,
    }
}

/// The drawing of one plan.
struct Draw<'a> {
    random: Random,
    settings: &'a Checked,
    mode: Mode,
    nodes: usize,
    slots: usize,
}

impl Draw<'_> {
    fn is_gentle(&self) -> bool {
        matches!(self.mode, Mode::Calm | Mode::Closing)
    }

    fn weather(&mut self) -> Weather {
        // A message and its answer both have to stay within the round trip.
        let tolerated = nanos(self.settings.round_trip) / 2 - MILLISECOND;
        let delay_min = self.random.between(MILLISECOND / 10, 5 * MILLISECOND);
        let delay_max = self.random.between(delay_min, tolerated / 2);
        let twice_per_mille = self.random.below(20);
        if self.is_gentle() {
            let late_per_mille = self.random.below(50);
            return Weather {
                delay_min,
                delay_max,
                late_per_mille,
                late_max: tolerated,
                loss_per_mille: 0,
                twice_per_mille,
            };
        }
        Weather {
            delay_min,
            delay_max,
            late_per_mille: self.random.below(20),
            late_max: self.random.between(tolerated, SECOND),
            loss_per_mille: self.random.below(10),
            twice_per_mille,
        }
    }

    /// All at once, or one after another.
    fn start(&mut self) -> Moment {
        let spread = if self.random.per_mille(500) { 50 * MILLISECOND } else { 3 * SECOND };
        Moment::at(self.random.below(spread))
    }

    fn faults(&mut self) -> Vec<(usize, Moment, Fault)> {
        let count = self.random.between(FAULTS_MIN, FAULTS_MAX);
        let mut faults: Vec<(Moment, Fault)> = (0..count)
            .map(|_| {
                let at = Moment::at(self.random.between(FIRST_FAULT, FAULTY - SECOND));
                (at, if self.is_gentle() { self.gentle_fault() } else { self.fault() })
            })
            .collect();
        for slot in self.nodes..self.slots {
            faults
                .push((Moment::at(self.random.between(FIRST_FAULT, FAULTY - SECOND)), Fault::Start { slot }));
        }
        if self.mode == Mode::Closing {
            faults.push((Moment::at(FAULTY - SECOND), Fault::Close { by: self.slot() }));
        }
        faults.sort_by_key(|(at, _)| *at);
        faults.into_iter().enumerate().map(|(number, (at, fault))| (number, at, fault)).collect()
    }

    fn gentle_fault(&mut self) -> Fault {
        let whom = self.target();
        match self.random.below(10) {
            0 => Fault::Leave { whom, back_after: Some(self.random.between(SECOND, 10 * SECOND)) },
            1 => Fault::Refused { by: whom, whom: self.target() },
            _ => Fault::Pause { whom, lasts: self.short_pause() },
        }
    }

    fn fault(&mut self) -> Fault {
        let whom = self.target();
        let lasts = self.lasts();
        match self.random.below(100) {
            0..16 => Fault::Crash { whom, back_after: self.back_after() },
            16..24 => Fault::Pause { whom, lasts: self.short_pause() },
            24..38 => Fault::Pause { whom, lasts },
            38..54 => Fault::Partition { side: self.side(), lasts },
            54..62 => Fault::Apart { one: whom, other: self.target(), lasts },
            62..68 => Fault::OneWay { from: whom, to: self.target(), lasts },
            68..73 => Fault::Deaf { whom, lasts },
            73..78 => Fault::Mute { whom, lasts },
            78..84 => Fault::Storm { weather: self.storm(), lasts },
            84..91 => Fault::Leave { whom, back_after: self.back_after() },
            91..96 => Fault::Down { by: whom, whom: self.target() },
            _ => Fault::Refused { by: whom, whom: self.target() },
        }
    }

    fn slot(&mut self) -> Target {
        Target::Slot(self.any(self.slots))
    }

    fn target(&mut self) -> Target {
        match self.random.below(10) {
            0..3 => Target::Coordinator,
            3 => Target::Follower(self.any(self.slots)),
            _ => self.slot(),
        }
    }

    fn any(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.below(bound as u64)).unwrap_or_default()
    }

    fn side(&mut self) -> Vec<usize> {
        let size = 1 + self.any((self.slots / 2).max(1));
        let mut slots: Vec<usize> = (0..self.slots).collect();
        while slots.len() > size {
            let out = self.any(slots.len());
            slots.remove(out);
        }
        slots
    }

    /// Up to what a healthy node may show, often just that.
    fn short_pause(&mut self) -> Nanos {
        let longest = nanos(self.settings.max_pause);
        if self.random.per_mille(300) { longest } else { self.random.between(MILLISECOND, longest) }
    }

    /// Around the timeouts of leases and suspicion, or longer than all of them.
    fn lasts(&mut self) -> Nanos {
        match self.random.below(10) {
            0..3 => self.random.between(100 * MILLISECOND, SECOND),
            3..8 => self.random.between(SECOND, 6 * SECOND),
            _ => self.random.between(6 * SECOND, 25 * SECOND),
        }
    }

    fn back_after(&mut self) -> Option<Nanos> {
        match self.random.below(10) {
            0 => None,
            1..5 => Some(self.random.between(10 * MILLISECOND, SECOND)),
            _ => Some(self.random.between(SECOND, 8 * SECOND)),
        }
    }

    fn storm(&mut self) -> Weather {
        let delay_min = self.random.between(MILLISECOND, 20 * MILLISECOND);
        let delay_max = self.random.between(delay_min, 300 * MILLISECOND);
        let storm = Weather {
            delay_min,
            delay_max,
            late_per_mille: self.random.below(100),
            late_max: self.random.between(delay_max, 3 * SECOND),
            loss_per_mille: self.random.below(400),
            twice_per_mille: self.random.below(100),
        };
        if self.mode == Mode::Wild {
            return storm;
        }
        // One that leases outlive, mostly: those who lose theirs must not be a majority.
        Weather {
            delay_max: delay_max.min(60 * MILLISECOND),
            late_max: storm.late_max.min(SECOND),
            loss_per_mille: storm.loss_per_mille / 5,
            ..storm
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for plan in (0..500).map(plan) {
            assert!(plan.faults.len() >= 10);
            assert!(plan.faults.iter().all(|(.., fault)| fault.fits(plan.slots)), "{plan:?}");
            assert!(plan.faults.is_sorted_by_key(|(_, at, _)| *at));
        }
    }

    #[test]
    fn a_calm_plan_stays_within_the_tolerance() {
        for plan in (0..500).map(plan).filter(|plan| plan.mode == Mode::Calm) {
            assert!(plan.weather.late_max < nanos(plan.settings.round_trip) / 2);
            for (.., fault) in &plan.faults {
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
        assert_eq!(kept.faults, [whole.faults[2].clone(), whole.faults[5].clone()]);
    }

    #[test]
    fn fewer_nodes_take_their_faults_with_them() {
        let wish = Wish { nodes: Some(2), ..Wish::default() };
        let plan = Plan::draw(3, &wish);
        assert_eq!((plan.nodes, plan.slots, plan.starts.len()), (2, 2, 2));
        assert!(plan.faults.iter().all(|(.., fault)| fault.fits(2)));
    }
}
