//! The workers of one type, as the watchdog sees them.

use std::sync::atomic::Ordering;

use borough_actor::EntityId;
use borough_actor::remote::Message;

use super::host::Lane;
use super::kind::KindCore;
use super::watchdog::{PINGS, WedgedWorker, silence};

/// A worker that has not answered so many pings in a row is named where something waits for it.
const SILENT_PINGS: u32 = 3;

impl<M: Message> KindCore<M> {
    /// Pings each lane; gives those that are wedged. A handler that is running after its lease is counted meanwhile.
    pub(super) fn ping_lanes(&self, starts_over: bool) -> Vec<WedgedWorker> {
        let is_overdue = self.sharding.lease.is_overdue();
        if is_overdue {
            self.polled_apart.count().iter().for_each(|id| self.outlasts(id));
        }
        let mut wedged = Vec::new();
        for lane in self.lanes() {
            let Some(missed) = lane.ping(starts_over) else { continue };
            let turn = lane.probe().turn();
            if let Some((poll, id)) = turn.as_ref().filter(|_| is_overdue && missed > 0)
                && lane.probe().count_once(*poll)
            {
                self.outlasts(id);
            }
            if missed < PINGS {
                continue;
            }
            let entity = turn.map(|(_, id)| id.to_string());
            if missed == PINGS {
                self.say_wedged(entity.as_deref());
            }
            let kind = Some(self.kind.name.to_string());
            wedged.push(WedgedWorker { kind, entity, silent: silence(missed) });
        }
        wedged
    }

    /// The lanes that have not answered the last few pings.
    pub(super) fn silent_lanes(&self) -> Vec<WedgedWorker> {
        let silent = self.lanes().iter().filter(|lane| lane.probe().missed() >= SILENT_PINGS);
        let worker = |lane: &Lane<M>| WedgedWorker {
            kind: Some(self.kind.name.to_string()),
            entity: lane.probe().turn().map(|(_, id)| id.to_string()),
            silent: silence(lane.probe().missed()),
        };
        silent.map(worker).collect()
    }

    #[cold]
    fn say_wedged(&self, entity: Option<&str>) {
        self.counts.wedged.fetch_add(1, Ordering::Relaxed);
        let kind = &*self.kind.name;
        if let Some(entity) = entity {
            tracing::error!(
                kind,
                entity,
                pings = PINGS,
                "a handler blocks its worker: other entities of that worker wait; await instead of blocking, or use `task_per_entity`"
            );
        } else {
            tracing::error!(
                kind,
                pings = PINGS,
                "the runtime does not run a worker: its entities wait; see what blocks the threads of the runtime"
            );
        }
    }

    /// A handler still runs although the lease has been over for longer than `max_pause`.
    #[cold]
    fn outlasts(&self, id: &EntityId) {
        self.counts.overran.fetch_add(1, Ordering::Relaxed);
        tracing::error!(
            kind = &*self.kind.name,
            entity = %id,
            "a handler still runs although the lease has been over for longer than `max_pause`: another node may run the entity at the same time"
        );
    }

    /// One that did so returned; it is counted unless it was while it ran.
    #[cold]
    pub(super) fn has_outlasted(&self, id: &EntityId, is_new: bool) {
        self.counts.overran.fetch_add(u64::from(is_new), Ordering::Relaxed);
        tracing::error!(
            kind = &*self.kind.name,
            entity = %id,
            "a handler returned although the lease has been over for longer than `max_pause`: another node may run the entity at the same time"
        );
    }
}
