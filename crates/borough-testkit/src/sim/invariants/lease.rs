//! By true time nobody is in a turn once what it owned may have new owners.
//!
//! This is the second promise of ownership: it holds while no piece of a turn takes longer than `max_pause` and clocks stay
//! within the drift. A turn that was made longer by a pause is outside of the promise from the moment it is too long.

use std::collections::BTreeMap;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::settings::Checked;

use crate::sim::life::Life;
use crate::sim::moment::{Moment, Nanos};
use crate::sim::plan::nanos;
use crate::sim::rare::{Met, Rare};
use crate::sim::violation::Violation;

/// Near the end of a lease is this close, by the holder's clock.
const CLOSE: Duration = Duration::from_millis(50);

/// Whose shards may have new owners, and since when.
#[derive(Debug)]
pub(super) struct Lease {
    max_pause: Nanos,
    freed: BTreeMap<Uid, Moment>,
}

impl Lease {
    pub(super) fn new(settings: &Checked) -> Self {
        Self { max_pause: nanos(settings.max_pause), freed: BTreeMap::new() }
    }

    /// Somebody says that what `uid` owned may have new owners.
    pub(super) fn freed(&mut self, now: Moment, uid: Uid, life: Option<&Life>) -> Result<(), Violation> {
        if self.freed.contains_key(&uid) {
            return Ok(());
        }
        self.freed.insert(uid, now);
        match life.and_then(|life| life.turn_at(now)) {
            Some(turn) if now.since(turn.since) <= self.max_pause => {
                let since = turn.since;
                Err(broken(format!("{uid:?} is freed at {now} while it is in a turn since {since}")))
            }
            _ => Ok(()),
        }
    }

    /// A node begins a turn.
    pub(super) fn turn_begins(&self, life: &Life, now: Moment, met: &mut Met) -> Result<(), Violation> {
        if !life.node.may_run(life.local(now) + CLOSE) {
            met.count(Rare::TurnAtTheEndOfTheLease);
        }
        match self.freed.get(&life.uid()) {
            Some(since) => {
                Err(broken(format!("{:?} begins a turn at {now}, freed since {since}", life.uid())))
            }
            None => Ok(()),
        }
    }
}

fn broken(text: String) -> Violation {
    Violation::Safety("lease", text)
}
