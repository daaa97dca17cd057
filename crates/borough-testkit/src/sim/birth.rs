//! How a simulated node comes into the world: its uid, and what it is born with.

use std::sync::Arc;

use borough_protocol::disk::Image;
use borough_protocol::flaws::Flaw;
use borough_protocol::formation::{FoundingRule, Memory, Search};
use borough_protocol::incarnation::{Address, Disk, Facts, Incarnation, NodeId, Uid};
use borough_protocol::node::Start;
use borough_protocol::random::Random;
use borough_protocol::settings::Checked;
use borough_protocol::table::Cluster;
use borough_protocol::time::Timestamp;

use super::moment::{Moment, SECOND};

/// Bits of a uid that say which life of the run it is; those above are drawn, so their order is by chance.
const NUMBER_BITS: u32 = 20;
/// What the wall clock shows when a run begins, in seconds since 2020.
const ERA: u32 = 200_000_000;

/// A node about to start.
#[derive(Debug)]
pub(crate) struct Birth<'a> {
    pub(crate) now: Moment,
    pub(crate) address: &'a Address,
    pub(crate) uid: Uid,
    pub(crate) app_version: &'a str,
    pub(crate) seeds: &'a [Address],
    /// How many nodes it expects to find by its list, if that is discovered.
    pub(crate) expect: Option<usize>,
    pub(crate) settings: &'a Checked,
    /// What the process remembers of the life before.
    pub(crate) memory: Option<Arc<Memory>>,
    /// The cluster that the life before yielded to.
    pub(crate) prefers: Option<Cluster>,
    /// The era of the cluster that it begins anew, if it does.
    pub(crate) recovers: Option<u32>,
    /// What is on its disk, and which life of the disk it is; none without one.
    pub(crate) disk: Option<(Image, Disk)>,
    /// By how many seconds the wall clock of its machine is off.
    pub(crate) wall_clock_off: i32,
}

impl Birth<'_> {
    /// What its machine starts with.
    /// Each life has a clock of its own here, so it counts as a process of its own.
    pub(crate) fn start(mut self, now: Timestamp, random: &mut Random) -> Start {
        let (image, disk) = self.disk.take().unzip();
        Start {
            me: Incarnation { address: self.address.clone(), uid: self.uid },
            facts: Facts {
                id: NodeId::new(self.address.as_str()),
                roles: Arc::new([]),
                app_version: Arc::from(self.app_version),
                zone: Arc::from(""),
                disk,
            },
            search: Search {
                seeds: self.seeds.to_vec(),
                founding: FoundingRule { expect: self.expect, ..FoundingRule::default() },
                memory: self.memory.clone(),
                prefers: self.prefers,
                leases_until: None,
                ..Search::default()
            },
            settings: self.settings.clone(),
            era: self.wall_clock().max(self.recovers.map_or(0, |era| era.saturating_add(1))),
            seed: random.next_u64(),
            recovers: self.recovers.is_some(),
            disk: image,
            process_since: now,
        }
    }

    /// Seconds since 2020, as a restarted process reads them.
    fn wall_clock(&self) -> u32 {
        if self.settings.flaws.has(Flaw::EraRestartsAtOne) {
            return 1;
        }
        let right = ERA + u32::try_from(self.now.nanos() / SECOND).unwrap_or_default();
        right.saturating_add_signed(self.wall_clock_off)
    }
}

/// The uid of the life of that number: by chance, and its low bits lead back to the life without a search.
pub(crate) fn draw_uid(number: usize, random: &mut Random) -> Uid {
    // The highest bit keeps it from being 0.
    let drawn = (random.next_u64() | 1 << 63) >> NUMBER_BITS << NUMBER_BITS;
    Uid::new(drawn | number as u64).expect("a number with its highest bit set is not 0")
}

/// Which life of the run a uid is of, counted from 0.
pub(crate) fn number_of(uid: Uid) -> usize {
    usize::try_from(uid.get() & ((1 << NUMBER_BITS) - 1)).unwrap_or(usize::MAX)
}
