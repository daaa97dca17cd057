//! How a node goes: in order, removed by the others, or because it lost them.
//!
//! ```text
//! Staying --Leave--> Asking --Drain in the table--> Draining --Drained, no voter--> SayingGoodbye --Remove--> (left)
//!    |                                                                                  |
//!    +------------- removed while a voter: Lingering until no list names it ------------+--> (gave up)
//! ```

use alloc::vec::Vec;

use super::interface::{Effect, End, Event, GaveUp, Report, Word};
use super::participant::Participant;
use crate::flaws::Flaw;
use crate::lease::Standing;
use crate::machine::Effects;
use crate::office::Request;
use crate::settings::Strategy;
use crate::table::{Removal, State};
use crate::time::Timestamp;

/// Whether and how the node is going.
#[derive(Debug)]
pub(super) enum Departure {
    Staying,
    /// It wants to leave; what lives here is still here.
    Leaving {
        told: bool,
    },
    /// Nothing lives here any more.
    Drained {
        since: Timestamp,
    },
    /// It was removed, and answers the log until no list names it.
    Lingering {
        until: Timestamp,
        left: bool,
    },
    /// A peer was lost, and the strategy says that everybody stops then.
    Alone,
    /// The whole cluster shuts down.
    Closing {
        until: Timestamp,
    },
}

impl Departure {
    pub(super) fn may_run(&self) -> bool {
        match self {
            Self::Staying | Self::Leaving { .. } => true,
            Self::Drained { .. } | Self::Lingering { .. } | Self::Alone | Self::Closing { .. } => false,
        }
    }

    pub(super) fn noticed_removal(&mut self, strategy: Strategy, why: Removal) {
        let lost = matches!(why, Removal::Quiet | Removal::CutOff);
        if strategy == Strategy::DownAll && lost && matches!(self, Self::Staying | Self::Leaving { .. }) {
            *self = Self::Alone;
        }
    }
}

impl Participant {
    /// Somebody wants this node to leave.
    pub(super) fn leave(&mut self, now: Timestamp) -> Option<End> {
        // Nobody would notice.
        if self.state().is_none() {
            return Some(End::Left);
        }
        if matches!(self.departure, Departure::Staying) {
            self.departure = Departure::Leaving { told: false };
            self.times.report = now;
        }
        None
    }

    /// Whether it is the only member.
    pub(super) fn is_last(&self) -> bool {
        self.state().is_some() && self.table.members().len() == 1
    }

    /// Nothing lives here any more.
    pub(super) fn drained(&mut self, now: Timestamp) {
        if matches!(self.departure, Departure::Leaving { .. }) {
            self.departure = Departure::Drained { since: now };
            self.gossip.mark_exiting(now);
            self.times.report = now;
        }
    }

    /// It is no member any more.
    pub(super) fn removed(&mut self, now: Timestamp) -> Option<End> {
        let left = match self.departure {
            Departure::Drained { .. } => true,
            Departure::Lingering { .. } | Departure::Closing { .. } => return None,
            Departure::Staying | Departure::Leaving { .. } | Departure::Alone => false,
        };
        self.departure = Departure::Lingering { until: now + self.identity.settings.linger, left };
        self.times.report = Timestamp::NEVER;
        self.departed(now)
    }

    /// Whether this is the end.
    pub(super) fn departed(&mut self, now: Timestamp) -> Option<End> {
        // A guest that gossip has given up is never admitted; on a member's end the table alone decides.
        let given_up = self.gossip.is_given_up() && self.holder.admission().is_none();
        if self.table.is_removed(self.uid()) || given_up {
            let end = self.removed(now);
            if end.is_some() {
                return end;
            }
        }
        let was_given_up = matches!(self.departure, Departure::Lingering { left: false, .. });
        if was_given_up && self.office.is_some() && self.state().is_some() {
            // Gossip gave a guest up that its cluster needed all the same: as a voter it was elected, and admitted itself.
            self.departure = Departure::Staying;
        }
        match self.departure {
            // Nobody is left to say goodbye to.
            Departure::Drained { .. } if self.is_last() && self.goodbyes_known_at() <= now => Some(End::Left),
            Departure::Staying | Departure::Leaving { .. } | Departure::Drained { .. } => self.lost(now),
            Departure::Lingering { until, left } => {
                let needed = self.votes();
                (!needed || until <= now).then_some(if left {
                    End::Left
                } else {
                    End::GaveUp(GaveUp::Removed)
                })
            }
            Departure::Alone => Some(End::GaveUp(GaveUp::DownAll)),
            Departure::Closing { until } => {
                (until <= now || self.all_know_of_closing(now)).then_some(End::Closed)
            }
        }
    }

    /// When those that have said goodbye know that they are no members any more: each of them has asked for its lease since, and was told.
    pub(super) fn goodbyes_known_at(&self) -> Timestamp {
        self.times.goodbye + self.identity.settings.timing().renew * 2
    }

    /// Whether it has waited in vain for so long that it is better off as another node.
    fn lost(&self, now: Timestamp) -> Option<End> {
        (self.gives_up_at(now) <= now).then(|| {
            End::GaveUp(match self.holder.admission() {
                Some(_) => GaveUp::Suspended,
                None => GaveUp::Forsaken,
            })
        })
    }

    /// When it gives up, if nothing changes.
    pub(super) fn gives_up_at(&self, now: Timestamp) -> Timestamp {
        let patience = self.identity.settings.timing().give_up_after;
        let keeps = matches!(self.departure, Departure::Staying)
            && !self.identity.settings.flaws.has(Flaw::SuspendedNodeGivesUp);
        match self.holder.standing(now) {
            Standing::Running => Timestamp::NEVER,
            // It keeps what it has until it hears a quorum again, or learns that the cluster goes on without it.
            Standing::Suspended if keeps => Timestamp::NEVER,
            Standing::Suspended => self.suspended_since + patience,
            // Its vote is needed wherever it is.
            Standing::Guest if self.durable.resumed.is_some() && keeps => Timestamp::NEVER,
            Standing::Guest => self.holder.heard() + patience,
        }
    }

    /// The table shows that the node may go: what lives here is to move away.
    pub(super) fn tell_to_drain(&mut self, effects: &mut Effects<Effect>) {
        if matches!(self.departure, Departure::Leaving { told: false })
            && (self.state() == Some(State::Draining) || self.is_last())
        {
            self.departure = Departure::Leaving { told: true };
            effects.push(Effect::Publish(Event::Drain));
        }
    }

    /// Repeats to the coordinator what the table does not show yet.
    pub(super) fn report_if_due(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if now < self.times.report {
            return;
        }
        let table = &self.table;
        self.reports.retain(|report| match report {
            Report::Down(uid) => table.member(*uid).is_some(),
            Report::Close => !table.is_closing(),
            Report::Leave | Report::Goodbye => false,
        });
        self.reports.extend(self.own_report(now));
        let waits = matches!(self.departure, Departure::Leaving { .. } | Departure::Drained { .. });
        let again = waits || !self.reports.is_empty();
        self.times.report =
            if again { now + self.identity.settings.timing().renew } else { Timestamp::NEVER };
        let me = self.uid();
        let mut said = Vec::new();
        for report in &self.reports {
            if let Some((_, office)) = &mut self.office {
                office.ask(Request::of(me, *report));
                self.stirred = true;
            } else if let Some(coordinator) = self.holder.coordinator() {
                said.push((coordinator, *report));
            }
        }
        for (coordinator, report) in said {
            effects.push(self.word(coordinator, Word::Report(report)));
        }
    }

    fn own_report(&self, now: Timestamp) -> Option<Report> {
        match self.departure {
            // The last member is told at once. If another joins before it has gone, it leaves like any other.
            Departure::Leaving { told }
                if self.state() == Some(State::Active) && !(told && self.is_last()) =>
            {
                Some(Report::Leave)
            }
            Departure::Leaving { told: true } => self
                .identity
                .settings
                .flaws
                .has(Flaw::GoodbyeBeforeResidentsDropped)
                .then_some(Report::Goodbye),
            Departure::Drained { since } => self.may_say_goodbye(now, since).then_some(Report::Goodbye),
            Departure::Staying
            | Departure::Leaving { .. }
            | Departure::Lingering { .. }
            | Departure::Alone
            | Departure::Closing { .. } => None,
        }
    }

    /// No voter's newest list names it, so that the log does without it; or it has waited for that too long.
    fn may_say_goodbye(&self, now: Timestamp, since: Timestamp) -> bool {
        let (me, voters) = (self.voter(), self.table.voters());
        let unneeded = !voters.names(me) && !self.votes() && self.holder.all_go_by(voters.id);
        unneeded || now.since(since) >= self.identity.settings.timing().give_up_after
    }
}
