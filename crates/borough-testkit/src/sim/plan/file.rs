//! A plan as a file: what is left of a failing seed when the drawing changes.
//!
//! The promise: a file says everything that was drawn before the run, and the seed of what is drawn during it. It is read by field names, so
//! that a plan gains fields without invalidating files.

use std::sync::Arc;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_protocol::sharding::{Allocation, Hashing, Kind};
use serde::{Deserialize, Serialize};

use super::{Mode, Plan, nanos};
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{Moment, Nanos};
use crate::sim::network::Weather;
use crate::sim::sharding::Load;
use crate::sim::strike::Strike;

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum BadPlan {
    /// It is not the JSON of a plan.
    #[error("not the JSON of a plan: {0}; write it with `cargo xtask sim --seed N --save FILE`")]
    Json(#[from] serde_json::Error),
    /// Its settings are unknown or unsafe.
    #[error("field `settings` of the plan: {0}")]
    Settings(String),
    /// It speaks of slots that it does not have.
    #[error("field `{0}` of the plan names a slot that the plan does not have")]
    Slots(&'static str),
}

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    /// What the plan broke when it was written.
    found: String,
    seed: u64,
    mode: Mode,
    settings: SettingsFile,
    nodes: usize,
    slots: usize,
    seeds: Vec<Vec<SlotIndex>>,
    #[serde(default)]
    is_discovered: bool,
    starts: Vec<Moment>,
    weather: Weather,
    faulty: Nanos,
    heal: Nanos,
    heal_wild: Nanos,
    is_forced: bool,
    strikes: Vec<Strike>,
    sharding: Option<LoadFile>,
}

/// The settings that are drawn; all others are the defaults.
#[derive(Serialize, Deserialize)]
struct SettingsFile {
    strategy: StrategyFile,
    max_voters: usize,
    log_kept: usize,
    max_pause: Nanos,
    round_trip: Nanos,
    drift_per_mille: u32,
    #[serde(default)]
    durable: bool,
}

#[derive(Serialize, Deserialize)]
enum StrategyFile {
    KeepMajority,
    StaticQuorum(usize),
    KeepOldest,
    DownAll,
}

#[derive(Serialize, Deserialize)]
struct LoadFile {
    kinds: Vec<KindFile>,
    senders: u8,
    entities: u8,
    pace: Nanos,
    wishes: Option<Nanos>,
    hosting: u64,
    dawdling: u64,
    dawdle: Nanos,
    betrayals: u64,
    impossible: u64,
    stills: u64,
    stuck: u64,
    /// Not in plans written before stores had strangers.
    #[serde(default)]
    strangers: u64,
}

#[derive(Serialize, Deserialize)]
struct KindFile {
    name: String,
    shards: u32,
    allocation: AllocationFile,
    is_stored: bool,
}

#[derive(Serialize, Deserialize)]
enum AllocationFile {
    LeastShards { absolute: u32, percent: u8 },
    Rendezvous,
    External,
}

impl Plan {
    /// The plan as a file, with a note of what it broke.
    ///
    /// # Errors
    /// If the plan has something that no plan is drawn with: another strategy, or another allocation.
    pub fn to_json(&self, found: &str) -> Result<String, BadPlan> {
        let file = File {
            found: found.to_owned(),
            seed: self.seed,
            mode: self.mode,
            settings: SettingsFile::of(&self.settings)?,
            nodes: self.nodes,
            slots: self.slots,
            seeds: self.seeds.clone(),
            is_discovered: self.is_discovered,
            starts: self.starts.clone(),
            weather: self.weather,
            faulty: self.faulty,
            heal: self.heal,
            heal_wild: self.heal_wild,
            is_forced: self.is_forced,
            strikes: self.strikes.clone(),
            sharding: self.sharding.as_ref().map(LoadFile::of).transpose()?,
        };
        Ok(serde_json::to_string_pretty(&file)?)
    }

    /// The plan of that file.
    ///
    /// # Errors
    /// If the text is no plan.
    pub fn from_json(text: &str) -> Result<Self, BadPlan> {
        let file: File = serde_json::from_str(text)?;
        let fits = |slot: &SlotIndex| *slot < file.slots;
        if file.starts.len() != file.nodes || file.nodes > file.slots {
            return Err(BadPlan::Slots("starts"));
        }
        if file.seeds.len() != file.slots || !file.seeds.iter().flatten().all(fits) {
            return Err(BadPlan::Slots("seeds"));
        }
        if !file.strikes.iter().all(|strike| strike.fault.fits(file.slots)) {
            return Err(BadPlan::Slots("strikes"));
        }
        Ok(Self {
            seed: file.seed,
            mode: file.mode,
            settings: file.settings.checked()?,
            nodes: file.nodes,
            seeds: file.seeds,
            is_discovered: file.is_discovered,
            slots: file.slots,
            starts: file.starts,
            weather: file.weather,
            faulty: file.faulty,
            heal: file.heal,
            heal_wild: file.heal_wild,
            strikes: file.strikes,
            sharding: file.sharding.map(LoadFile::load),
            is_forced: file.is_forced,
        })
    }
}

impl SettingsFile {
    fn of(settings: &Checked) -> Result<Self, BadPlan> {
        let strategy = match settings.strategy {
            Strategy::KeepMajority => StrategyFile::KeepMajority,
            Strategy::StaticQuorum { quorum } => StrategyFile::StaticQuorum(quorum),
            Strategy::KeepOldest => StrategyFile::KeepOldest,
            Strategy::DownAll => StrategyFile::DownAll,
            Strategy::LeaseMajority => return Err(BadPlan::Settings(settings.strategy.to_string())),
        };
        Ok(Self {
            strategy,
            max_voters: settings.max_voters,
            log_kept: settings.log_kept,
            max_pause: nanos(settings.max_pause),
            round_trip: nanos(settings.round_trip),
            drift_per_mille: settings.drift_per_mille,
            durable: settings.durable,
        })
    }

    fn checked(self) -> Result<Checked, BadPlan> {
        let settings = Settings {
            strategy: match self.strategy {
                StrategyFile::KeepMajority => Strategy::KeepMajority,
                StrategyFile::StaticQuorum(quorum) => Strategy::StaticQuorum { quorum },
                StrategyFile::KeepOldest => Strategy::KeepOldest,
                StrategyFile::DownAll => Strategy::DownAll,
            },
            max_voters: self.max_voters,
            log_kept: self.log_kept,
            max_pause: Duration::from_nanos(self.max_pause),
            round_trip: Duration::from_nanos(self.round_trip),
            drift_per_mille: self.drift_per_mille,
            durable: self.durable,
            ..Settings::default()
        };
        let mut checked = Checked::new(settings).map_err(|reason| BadPlan::Settings(reason.to_string()))?;
        checked.flaws = Flaws::default();
        Ok(checked)
    }
}

impl LoadFile {
    fn of(load: &Load) -> Result<Self, BadPlan> {
        let kinds = load.kinds.iter().map(|(kind, is_stored)| KindFile::of(kind, *is_stored));
        Ok(Self {
            kinds: kinds.collect::<Result<_, _>>()?,
            senders: load.senders,
            entities: load.entities,
            pace: load.pace,
            wishes: load.wishes,
            hosting: load.hosting,
            dawdling: load.dawdling,
            dawdle: load.dawdle,
            betrayals: load.betrayals,
            impossible: load.impossible,
            stills: load.stills,
            stuck: load.stuck,
            strangers: load.strangers,
        })
    }

    fn load(self) -> Load {
        Load {
            kinds: self.kinds.into_iter().map(KindFile::kind).collect(),
            senders: self.senders,
            entities: self.entities,
            pace: self.pace,
            wishes: self.wishes,
            hosting: self.hosting,
            dawdling: self.dawdling,
            dawdle: self.dawdle,
            betrayals: self.betrayals,
            impossible: self.impossible,
            stills: self.stills,
            stuck: self.stuck,
            strangers: self.strangers,
        }
    }
}

impl KindFile {
    fn of(kind: &Kind, is_stored: bool) -> Result<Self, BadPlan> {
        let allocation = match kind.allocation {
            Allocation::LeastShards { absolute, percent } => {
                AllocationFile::LeastShards { absolute, percent }
            }
            Allocation::Rendezvous => AllocationFile::Rendezvous,
            Allocation::External => AllocationFile::External,
            Allocation::Custom => return Err(BadPlan::Settings("an allocation of the user's".to_owned())),
        };
        Ok(Self { name: kind.name.to_string(), shards: kind.shards, allocation, is_stored })
    }

    fn kind(self) -> (Arc<Kind>, bool) {
        let kind = Kind {
            name: self.name.into(),
            shards: self.shards,
            hashing: Hashing::Xxh3,
            role: None,
            min_hosts: 1,
            allocation: match self.allocation {
                AllocationFile::LeastShards { absolute, percent } => {
                    Allocation::LeastShards { absolute, percent }
                }
                AllocationFile::Rendezvous => Allocation::Rendezvous,
                AllocationFile::External => Allocation::External,
            },
            codec: 1,
        };
        (Arc::new(kind), self.is_stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::plan::Wish;

    #[test]
    fn what_is_read_is_what_was_written() {
        for (seed, sharding) in (0..200).flat_map(|seed| [(seed, false), (seed, true)]) {
            let plan = Plan::draw(seed, &Wish { sharding, ..Wish::default() });
            let text = plan.to_json("nothing").expect("everything drawn can be written");
            let read = Plan::from_json(&text).expect("it is a plan");
            assert_eq!(format!("{read:?}"), format!("{plan:?}"));
        }
    }

    #[test]
    fn a_file_that_names_slots_it_does_not_have_is_refused() {
        let mut plan = Plan::draw(1, &Wish::default());
        plan.seeds[0].push(99);
        let text = plan.to_json("").expect("written");
        assert!(matches!(Plan::from_json(&text), Err(BadPlan::Slots("seeds"))));
        assert!(matches!(Plan::from_json("{}"), Err(BadPlan::Json(_))));
    }
}
