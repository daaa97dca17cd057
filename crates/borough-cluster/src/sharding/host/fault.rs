//! What becomes of an entity that failed: as its type's supervision says.

use borough_actor::resident;
use borough_actor::{Actor, Directive, Fault, StopReason};
use tokio::time::Instant;

use super::alarms::Due;
use super::busy::{Doing, Waits, busy};
use super::floor::{Floor, Home};
use super::order::LaneReport;
use super::turns::Turns;
use crate::sharding::settings::EpochRefused;

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// The entity in that slot failed. `actor`, if it can go on; `wants_end`, if it said before that it wants to end. The slot is lent.
    #[cold]
    pub(super) fn failed(
        &mut self,
        home: &mut Home<A, T>,
        slot: u32,
        actor: Option<A>,
        fault: Fault,
        wants_end: bool,
    ) {
        self.note_refusal(home, &fault);
        // The decision is user code too; one that panics stops the entity.
        let decided = resident::catch(|| self.settings.supervision.decide(&fault));
        let directive = match (decided.unwrap_or(Directive::Stop), &actor) {
            (Directive::Resume, None) => Directive::Restart,
            // Nobody stands above an entity.
            (Directive::Escalate, _) => Directive::Stop,
            (directive, _) => directive,
        };
        let path = self.path(&home.table.peek(slot).id);
        resident::report_failure(&self.system, path, &fault, directive);
        let entity = busy(&mut home.table.slot(slot).body);
        match (directive, actor) {
            (Directive::Resume, Some(actor)) => entity.doing = Doing::Idle(actor),
            (Directive::Restart, Some(actor)) if wants_end => {
                entity.doing = Doing::Idle(actor);
                entity.queue.push_front(Waits::End(StopReason::Requested));
            }
            (Directive::Restart | Directive::Resume, actor) => self.restart(home, slot, actor, fault),
            (Directive::Stop | Directive::Escalate, Some(actor)) => {
                self.end(home, slot, actor, StopReason::Fault);
            }
            (Directive::Stop | Directive::Escalate, None) => self.ended(home, slot, StopReason::Fault),
        }
    }

    /// A store refused what the turn wrote: the shard goes on once it has an epoch above the one that the store has seen.
    fn note_refusal(&self, home: &Home<A, T>, fault: &Fault) {
        if let Some(EpochRefused { seen }) = fault.downcast_ref()
            && *seen >= home.epoch
        {
            let (shard, epoch, seen) = (home.number, home.epoch, *seen);
            self.around.report(LaneReport::Refused { shard, epoch, seen });
        }
    }

    /// A new instance follows, after a while; what waits is kept, what was stashed comes first.
    fn restart(&mut self, home: &mut Home<A, T>, slot: u32, actor: Option<A>, fault: Fault) {
        if let Some(actor) = actor {
            self.drop_actor(actor);
        }
        let mut belongings = home.table.take_belongings(slot);
        let stashed = belongings.forget_instance();
        let wait = belongings.next_restart(&self.settings.supervision);
        belongings.set_followed(fault);
        home.table.put_belongings(slot, belongings, &mut self.alarms);
        let entity = busy(&mut home.table.slot(slot).body);
        entity.doing = Doing::Rest;
        for (message, ask) in stashed.into_iter().rev() {
            entity.queue.push_front(Waits::Message(message, ask));
        }
        if let Some(wait) = wait {
            let due = Due::Restart { shard: home.number, epoch: home.since, slot };
            self.alarms.set(Instant::now() + wait, due);
            return;
        }
        let path = self.path(&home.table.peek(slot).id);
        tracing::error!(entity = %path, "failed too often, stops");
        self.ended(home, slot, StopReason::Fault);
    }

    /// Drops what lived; that is user code too.
    pub(super) fn drop_actor(&self, actor: A) {
        if let Err(fault) = resident::catch(|| drop(actor)) {
            tracing::error!(kind = self.around.kind(), %fault, "an entity panicked as it was dropped");
        }
    }

    /// The time of rest is over.
    pub(super) fn restart_now(&mut self, home: &mut Home<A, T>, slot: u32) {
        let entity = &mut home.table.slot(slot).body;
        if !matches!(entity, super::table::Body::Busy(busy) if matches!(busy.doing, Doing::Rest)) {
            return;
        }
        if home.frozen {
            // What waits moves; the next instance is made where it goes, or here when the shard resumes.
            busy(entity).doing = Doing::Ended;
            return;
        }
        busy(entity).doing = Doing::Lent;
        self.begin(home, slot);
        self.go_on(home, slot);
    }
}
