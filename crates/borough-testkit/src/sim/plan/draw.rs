//! The drawing of a plan from its seed.

use borough_protocol::random::Random;
use borough_protocol::settings::Checked;

use super::kind::{self, Kind};
use super::{Mode, Plan, Wish, disk_faults, nanos, second_clusters, seeds, settings};
use crate::sim::cuts::SlotIndex;
use crate::sim::disk;
use crate::sim::fault::{Fault, Target};
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};
use crate::sim::network::Weather;
use crate::sim::sharding::Load;
use crate::sim::strike::{Cue, Strike};

const FAULTY: Nanos = 60 * SECOND;
/// So many of a thousand runs last longer, for cuts of up to a minute.
const LONG_RUNS: u64 = 150;
const FAULTY_LONG: Nanos = 90 * SECOND;
/// So many of a thousand runs in which all nodes are seeds discover them.
const DISCOVERED: u64 = 250;
const HEAL: Nanos = 30 * SECOND;
/// Who was removed for bad links is watched for a while before it is admitted.
const HEAL_LINKS: Nanos = 60 * SECOND;
/// A suspended node of the older of two clusters yields to the younger after 60 s, by a clock that may be slow.
const HEAL_WILD: Nanos = 100 * SECOND;
const FAULTS_MIN: u64 = 10;
const FAULTS_MAX: u64 = 30;
/// Faults begin when a cluster had time to form, mostly: the first may strike while it forms.
const FIRST_FAULT: Nanos = SECOND;

/// The whole run of that seed.
pub(super) fn plan(seed: u64, wish: &Wish) -> Plan {
    let mut random = Random::seeded(seed);
    let drawn_mode = draw_mode(&mut random);
    let kind = Kind::of(seed, wish);
    let mut own = kind::chance(seed);
    let mode = wish.mode.or(kind.mode()).unwrap_or(drawn_mode);
    // A machine that is replaced never comes back, and nothing that was on it.
    let has_disks = kind == Kind::Founders || kind != Kind::Replaced && disk::is_durable(seed);
    let is_durable = wish.durable.unwrap_or(has_disks);
    let settings = settings::draw(&mut random, mode, (is_durable, wish.flaws));
    let mut nodes = draw_nodes(&mut random);
    if kind == Kind::Founders {
        nodes = nodes.max(3);
    }
    let mut slots = nodes + usize::from(random.per_mille(300));
    let mut faulty = if random.per_mille(LONG_RUNS) { FAULTY_LONG } else { FAULTY };
    if kind == Kind::BadLinks {
        (nodes, faulty) = kind::of_bad_links(&mut own);
        slots = nodes;
    }
    if kind == Kind::Replaced {
        nodes = kind::of_replaced(&mut own);
        // The last one is of the machine that comes later.
        slots = nodes + 1;
    }
    if kind == Kind::Remembering {
        nodes = kind::of_remembering(&mut own);
        slots = nodes;
    }
    let mut seeds = seeds::draw(&mut random, nodes, slots);
    if kind == Kind::Founders {
        seeds = kind::lists(&mut own, nodes, slots);
    }
    let mut common = 0;
    if kind == Kind::Remembering {
        (seeds, common) = kind::remembering_lists(&mut own, nodes);
    }
    let mut draw = Draw { random, settings: &settings, mode, nodes, slots, seeds: &seeds, faulty };
    let weather = draw.weather();
    let starts = (0..nodes).map(|_| draw.start()).collect();
    let strikes = match kind {
        Kind::Usual => draw.strikes(seed, Vec::new()),
        Kind::Founders => draw.strikes(seed, kind::founders(&mut own)),
        Kind::BadLinks => numbered(kind::bad_links(&mut own, slots, faulty)),
        Kind::Replaced => numbered(kind::replaced(&mut own, nodes, faulty)),
        Kind::Remembering => numbered(kind::remembering(&mut own, common, nodes, faulty)),
    };
    Plan {
        seed,
        mode,
        settings,
        nodes,
        is_discovered: is_discovered(seed, mode)
            && !is_durable
            && seeds.iter().all(|list| list.len() == nodes),
        seeds,
        slots,
        starts,
        weather,
        faulty,
        heal: if kind == Kind::BadLinks { HEAL_LINKS } else { HEAL },
        heal_wild: HEAL_WILD,
        strikes,
        sharding: wish.sharding.then(|| Load::draw(seed, mode, slots)),
        is_forced: false,
    }
}

/// In the order of time, each with its number.
fn numbered(mut strikes: Vec<Strike>) -> Vec<Strike> {
    strikes.sort_by_key(|strike| strike.at);
    for (number, strike) in strikes.iter_mut().enumerate() {
        strike.number = number;
    }
    strikes
}

fn draw_mode(random: &mut Random) -> Mode {
    match random.below(100) {
        0..12 => Mode::Calm,
        12..15 => Mode::Closing,
        15..65 => Mode::Safe,
        _ => Mode::Wild,
    }
}

/// Whether the seeds of that run are discovered, if all nodes are seeds. By chance of its own.
fn is_discovered(seed: u64, mode: Mode) -> bool {
    let is_harsh = matches!(mode, Mode::Safe | Mode::Wild);
    is_harsh && Random::seeded(seed ^ 0xD15C_07E2).per_mille(DISCOVERED)
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
    seeds: &'a [Vec<SlotIndex>],
    faulty: Nanos,
}

impl Draw<'_> {
    fn is_gentle(&self) -> bool {
        matches!(self.mode, Mode::Calm | Mode::Closing)
    }

    fn weather(&mut self) -> Weather {
        // A message and its answer both have to stay within the round trip.
        let tolerated = nanos(self.settings.round_trip) / 2 - MILLISECOND;
        let delay_min = self.random.between(MILLISECOND / 10, (5 * MILLISECOND).min(tolerated / 4));
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

    fn strikes(&mut self, seed: u64, further: Vec<Strike>) -> Vec<Strike> {
        let count = self.random.between(FAULTS_MIN, FAULTS_MAX);
        let refusals = self.random.per_mille(200);
        let mut strikes: Vec<Strike> = (0..count)
            .map(|_| match self.mode {
                Mode::Calm | Mode::Closing => {
                    let fault = self.gentle_fault(refusals);
                    self.strike(None, fault)
                }
                Mode::Safe | Mode::Wild => self.harsh_strike(),
            })
            .collect();
        for slot in self.nodes..self.slots {
            strikes.push(self.strike(None, Fault::Start { slot }));
        }
        if self.mode == Mode::Closing {
            let fault = Fault::Close { by: self.slot() };
            strikes.push(Strike { number: 0, at: Moment::at(self.faulty - SECOND), cue: None, fault });
        }
        if self.faulty == FAULTY_LONG && !self.is_gentle() {
            strikes.push(self.long_cut());
        }
        strikes.extend(self.recovery(seed));
        if self.mode == Mode::Wild && !self.settings.durable {
            strikes.extend(second_clusters::draw(seed, self.slots, self.faulty));
        }
        if self.settings.durable && !self.is_gentle() {
            strikes.extend(disk_faults::draw(seed, self.mode, self.slots, self.faulty));
        }
        strikes.extend(further);
        numbered(strikes)
    }

    /// In some wild runs an operator recovers a cluster. By chance of its own: other runs are as they were before there was one.
    fn recovery(&self, seed: u64) -> Option<Strike> {
        let mut random = Random::seeded(seed ^ 0x0A4E_A000);
        if self.mode != Mode::Wild || !random.per_mille(250) {
            return None;
        }
        let at = Moment::at(random.between(10 * SECOND, self.faulty - 20 * SECOND));
        let slot = usize::try_from(random.below(self.slots as u64)).unwrap_or_default();
        let back_after = random.between(SECOND, 20 * SECOND);
        let lasts = random.between(SECOND, 6 * SECOND);
        let fault = Fault::Recover { whom: Target::Slot(slot), back_after, lasts };
        Some(Strike { number: 0, at, cue: None, fault })
    }

    /// A cut that outlasts every timeout, most often with the voters on the smaller side.
    fn long_cut(&mut self) -> Strike {
        let at = Moment::at(self.random.between(8 * SECOND, 25 * SECOND));
        let lasts = self.random.between(20 * SECOND, 60 * SECOND);
        let fault = if self.random.per_mille(700) {
            Fault::VotersCutOff { lasts }
        } else {
            Fault::Partition { side: self.side(), lasts }
        };
        Strike { number: 0, at, cue: None, fault }
    }

    fn strike(&mut self, cue: Option<(Cue, Nanos)>, fault: Fault) -> Strike {
        let at = Moment::at(self.random.between(FIRST_FAULT, self.faulty - SECOND));
        Strike { number: 0, at, cue, fault }
    }

    /// One in three lies in wait for a bad moment.
    fn harsh_strike(&mut self) -> Strike {
        let cue = match self.random.below(12) {
            0 => Some(Cue::Election),
            1 => Some(Cue::JointPhase),
            2 | 3 => Some(Cue::Removal),
            _ => None,
        };
        let cue = cue.map(|cue| (cue, self.random.below(400 * MILLISECOND)));
        let whom = match cue {
            Some((Cue::Removal, _)) if self.random.per_mille(500) => Target::Victim,
            Some(_) if self.random.per_mille(500) => Target::Coordinator,
            _ => self.target(),
        };
        let fault = self.fault(whom);
        self.strike(cue, fault)
    }

    /// Who refuses connections is half suspected already: a run has refusals or pauses, never both.
    fn gentle_fault(&mut self, refusals: bool) -> Fault {
        let whom = self.target();
        match self.random.below(10) {
            0 => Fault::Leave { whom, back_after: Some(self.random.between(SECOND, 10 * SECOND)) },
            _ if refusals => Fault::Refused { by: whom, whom: self.target() },
            _ => Fault::Pause { whom, lasts: self.short_pause() },
        }
    }

    fn fault(&mut self, whom: Target) -> Fault {
        let lasts = self.lasts();
        match self.random.below(100) {
            0..12 => Fault::Crash { whom, back_after: self.back_after() },
            12..17 => self.restart(),
            17..19 => Fault::WallClock { whom, seconds: self.clock_step() },
            19..24 => Fault::Pause { whom, lasts: self.short_pause() },
            24..38 => Fault::Pause { whom, lasts },
            38..41 => Fault::VotersCutOff { lasts },
            41..54 => Fault::Partition { side: self.side(), lasts },
            54..62 => Fault::Apart { one: whom, other: self.target(), lasts: self.lasts_apart() },
            62..68 => Fault::OneWay { from: whom, to: self.target(), lasts: self.lasts_apart() },
            68..73 => Fault::Deaf { whom, lasts },
            73..78 => Fault::Mute { whom, lasts },
            78..84 => Fault::Storm { weather: self.storm(), lasts },
            84..91 => Fault::Leave { whom, back_after: self.back_after() },
            91..96 => Fault::Down { by: whom, whom: self.target() },
            _ => Fault::Refused { by: whom, whom: self.target() },
        }
    }

    /// Several processes die and are back within two seconds, most often those that others name as seeds.
    fn restart(&mut self) -> Fault {
        let of = self.any(self.slots);
        let mut slots = self.seeds[of].clone();
        if slots.is_empty() || self.random.per_mille(300) {
            slots = (0..self.slots).collect();
        }
        if slots.len() > 1 && self.random.per_mille(500) {
            let out = self.any(slots.len());
            slots.remove(out);
        }
        Fault::Restart { slots, back_within: self.random.between(20 * MILLISECOND, 2 * SECOND) }
    }

    /// Back or forth; mostly by little.
    fn clock_step(&mut self) -> i32 {
        let longest = if self.random.per_mille(700) { 10 } else { 7200 };
        let step = i32::try_from(self.random.between(1, longest)).unwrap_or(1);
        if self.random.per_mille(500) { -step } else { step }
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

    /// Two that cannot hear each other are told apart late: sometimes long enough for that.
    fn lasts_apart(&mut self) -> Nanos {
        if self.random.per_mille(200) { self.random.between(25 * SECOND, 40 * SECOND) } else { self.lasts() }
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
        let bearable = nanos(self.settings.round_trip) * 6 / 10;
        Weather {
            delay_min: delay_min.min(bearable),
            delay_max: delay_max.min(bearable),
            late_max: storm.late_max.min(nanos(self.settings.timing().lease)),
            loss_per_mille: storm.loss_per_mille / 5,
            ..storm
        }
    }
}
