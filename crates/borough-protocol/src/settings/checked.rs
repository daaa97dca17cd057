//! Settings that passed every check: the only ones a machine takes.

use alloc::string::ToString;
use alloc::sync::Arc;
use core::ops::Deref;
use core::time::Duration;

use super::timing::SHORTEST;
use super::{ClusterSettings, Settings, Strategy, Timing, Unsafe};
use crate::flaws::Flaws;

/// Longer is a mistake, and near the end of what a clock counts.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The slowest heartbeat: the detector counts microseconds in 32 bits.
const SLOWEST: Duration = Duration::from_secs(10 * 60);

/// Settings that keep the promise, with what follows from them. A clone costs one count.
///
/// The settings can be read through it (`checked.gossip_interval`) and not changed.
#[derive(Clone, Debug)]
pub struct Checked {
    shared: Arc<Shared>,
    /// Which rules this node breaks on purpose: none, unless the simulator tests itself.
    pub flaws: Flaws,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    timing: Timing,
    cluster: ClusterSettings,
    tag: u64,
}

impl Checked {
    /// Checks the settings; the first that is unsafe is named.
    pub fn new(settings: Settings) -> Result<Self, Unsafe> {
        if settings.strategy == Strategy::LeaseMajority {
            return Err(Unsafe::NoStore);
        }
        Self::with_simulated_store(settings)
    }

    /// As [`new`](Self::new), for simulations that have a [`Register`](crate::store::Register): with one lease-majority is a
    /// strategy like the others. No real store keeps its rules yet, so nothing else may use this.
    pub fn with_simulated_store(settings: Settings) -> Result<Self, Unsafe> {
        check_lengths(&settings)?;
        let timing = Timing::derive(&settings)?;
        check_members(&settings)?;
        check_detection(&settings)?;
        check_life(&settings, &timing)?;
        let cluster = ClusterSettings::of(&settings);
        let tag = tag(&settings, &timing);
        Ok(Self { shared: Arc::new(Shared { settings, timing, cluster, tag }), flaws: Flaws::default() })
    }

    /// The times that follow from `max_pause`.
    pub fn timing(&self) -> &Timing {
        &self.shared.timing
    }

    /// What must be the same on all nodes; to be sent when joining.
    pub fn cluster_settings(&self) -> &ClusterSettings {
        &self.shared.cluster
    }

    /// A number of what votes and leases go by: who votes, and how long leases last and are waited for. Nodes that differ in that do not count for each other.
    ///
    /// It is made of these settings alone: others may be new in a later version, and nodes of both are in a cluster during an update.
    pub fn tag(&self) -> u64 {
        self.shared.tag
    }
}

fn tag(settings: &Settings, timing: &Timing) -> u64 {
    let times = [timing.lease, timing.wait].into_iter().flat_map(|time| time.as_nanos().to_le_bytes());
    let voters = settings.max_voters.to_le_bytes().into_iter();
    let bytes = times.chain(voters).chain(settings.strategy.to_string().into_bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

impl Deref for Checked {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.shared.settings
    }
}

/// No time is so long that a moment plus some of it is past the end of the clock.
fn check_lengths(settings: &Settings) -> Result<(), Unsafe> {
    let all = [
        ("max_pause", settings.max_pause),
        ("round_trip", settings.round_trip),
        ("failover_target", settings.failover_target),
        ("gossip_interval", settings.gossip_interval),
        ("heartbeat_interval", settings.heartbeat_interval),
        ("phi_min_deviation", settings.phi_min_deviation),
        ("acceptable_pause", settings.acceptable_pause),
        ("tombstone_life", settings.tombstone_life),
        ("seed_timeout", settings.seed_timeout),
        ("seed_ask_interval", settings.seed_ask_interval),
        ("linger", settings.linger),
        ("voters_settle", settings.voters_settle),
    ];
    all.into_iter()
        .try_for_each(|(setting, value)| Unsafe::if_too_long(setting, value, LONGEST, "check its unit"))
}

fn check_members(settings: &Settings) -> Result<(), Unsafe> {
    if settings.cluster.is_empty() {
        return Err(Unsafe::Empty { setting: "cluster", remedy: "give the cluster a name" });
    }
    Unsafe::if_outside(
        "max_voters",
        settings.max_voters,
        1,
        usize::MAX,
        "without voters nothing is decided",
    )?;
    if settings.max_voters.is_multiple_of(2) {
        return Err(Unsafe::EvenVoters { value: settings.max_voters });
    }
    if let Strategy::StaticQuorum { quorum } = settings.strategy {
        Unsafe::if_outside(
            "strategy static-quorum",
            quorum,
            1,
            usize::MAX,
            "set how many voters must agree",
        )?;
        if quorum > settings.max_voters.div_ceil(2) {
            return Err(Unsafe::QuorumAboveVoters { quorum, max_voters: settings.max_voters });
        }
    }
    let remedy = "set 1 to admit members as they come";
    Unsafe::if_outside("minimum_members", settings.minimum_members, 1, usize::MAX, remedy)?;
    for (role, &members) in &settings.minimum_per_role {
        if role.is_empty() {
            return Err(Unsafe::Empty { setting: "a role of minimum_per_role", remedy: "name the role" });
        }
        Unsafe::if_outside("minimum_per_role", members, 1, usize::MAX, "leave out a role without a minimum")?;
    }
    Ok(())
}

fn check_detection(settings: &Settings) -> Result<(), Unsafe> {
    let remedy = "a heartbeat must be answered before the next one is sent";
    Unsafe::if_too_short("heartbeat_interval", settings.heartbeat_interval, settings.round_trip, remedy)?;
    let least = settings.heartbeat_interval + settings.max_pause;
    let remedy = "one lost heartbeat and one pause are no reason to accuse";
    Unsafe::if_too_short("acceptable_pause", settings.acceptable_pause, least, remedy)?;
    for (setting, value) in
        [("heartbeat_interval", settings.heartbeat_interval), ("acceptable_pause", settings.acceptable_pause)]
    {
        Unsafe::if_too_long(setting, value, SLOWEST, "a loss would be noticed by others long before")?;
    }
    Unsafe::if_outside("monitors", settings.monitors, 1, 32, "9 are enough for any size")?;
    let threshold = usize::try_from(settings.phi_threshold_tenths).unwrap_or(usize::MAX);
    Unsafe::if_outside("phi_threshold_tenths", threshold, 10, 160, "80 is phi 8")?;
    Unsafe::if_outside("phi_window", settings.phi_window, 2, 10_000, "100 follow a rhythm well")?;
    let remedy = "no network is that regular";
    Unsafe::if_too_short("phi_min_deviation", settings.phi_min_deviation, SHORTEST, remedy)
}

fn check_life(settings: &Settings, timing: &Timing) -> Result<(), Unsafe> {
    Unsafe::if_too_short(
        "gossip_interval",
        settings.gossip_interval,
        SHORTEST,
        "1 s is enough for any size",
    )?;
    let remedy = "a node that gave up must not find itself forgotten: ten times give_up_after";
    Unsafe::if_too_short("tombstone_life", settings.tombstone_life, timing.give_up_after * 10, remedy)?;
    Unsafe::if_too_short(
        "seed_ask_interval",
        settings.seed_ask_interval,
        SHORTEST,
        "200 ms is often enough",
    )?;
    let remedy = "seeds must be asked five times in an attempt: raise it, or lower seed_ask_interval";
    Unsafe::if_too_short("seed_timeout", settings.seed_timeout, settings.seed_ask_interval * 5, remedy)?;
    let election = timing.suspect_after + settings.round_trip * 6;
    let remedy = "a leaving voter must still be there for an election: suspect_after + 6 round_trip";
    Unsafe::if_too_short("linger", settings.linger, election, remedy)?;
    let remedy = "who may be silent already must not become a voter: suspect_after";
    Unsafe::if_too_short("voters_settle", settings.voters_settle, timing.suspect_after, remedy)?;
    Unsafe::if_outside("log_kept", settings.log_kept, 4, 1_000_000, "256 are enough for any size")
}
