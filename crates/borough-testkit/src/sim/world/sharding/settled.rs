//! Whether all is well with shards when nothing is wrong any more: all hosted, nothing held, everything ended.

use borough_protocol::settings::Strategy;

use super::World;
use crate::sim::moment::SECOND;
use crate::sim::plan::Mode;
use crate::sim::sharding::Situations;
use crate::sim::violation::Violation;

impl World {
    /// What keeps the shards from being as they should be.
    pub(in crate::sim::world) fn unsettled_shards(&self) -> Option<String> {
        let sharding = self.sharding.as_ref()?;
        for (slot, life) in self.slots.running() {
            let site = life.site.as_ref()?;
            let uid = life.uid();
            // A fixed quorum that was never complete owns nothing: what is sent waits.
            if let Strategy::StaticQuorum { quorum } = self.settings.strategy
                && site.region.table().most_voters() < 2 * quorum - 1
            {
                let owned = site.region.table().kinds().iter().any(|kind| !kind.shards().is_empty());
                return owned.then(|| format!("n{slot} has shards before its quorum was ever complete"));
            }
            let held: usize = site.routes.values().map(|route| route.held().len()).sum();
            if held > 0 {
                return Some(format!("n{slot} holds {held} messages"));
            }
            if site.region.closed_ways() > 0 {
                return Some(format!("n{slot} has {} closed ways", site.region.closed_ways()));
            }
            for (shard, entry) in site.region.table().owned_by(uid) {
                let runs = site.lanes.get(&shard).is_some_and(|lane| lane.runs(entry.epoch));
                if !runs || entry.moving.is_some() {
                    return Some(format!("{shard:?} does not run on n{slot}, or moves: {entry:?}"));
                }
            }
            for kind in site.region.table().kinds() {
                let gone = |uid| site.region.table().member(uid).is_none();
                if let Some(entry) = kind.shards().values().find(|entry| gone(entry.owner)) {
                    return Some(format!("an orphan has no new owner: {entry:?}"));
                }
            }
        }
        if self.now.since(sharding.books.changed()) < 3 * SECOND {
            return Some("shards still move, or have new owners".to_owned());
        }
        sharding.books.unended()
    }

    /// The last look: what was lost although nothing was wrong.
    pub(in crate::sim) fn close_books(&self) -> Result<(), Violation> {
        match &self.sharding {
            Some(sharding) if self.mode == Mode::Calm => sharding.books.lost_in_calm(),
            Some(_) | None => Ok(()),
        }
    }

    /// What came up.
    pub(in crate::sim) fn situations(&self) -> Situations {
        self.sharding.as_ref().map(|sharding| sharding.situations.clone()).unwrap_or_default()
    }

    /// How many messages were sent, handled, refused and lost.
    pub(in crate::sim) fn tally(&self) -> [usize; 4] {
        self.sharding.as_ref().map_or([0; 4], |sharding| sharding.books.tally())
    }
}
