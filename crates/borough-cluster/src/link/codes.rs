//! The numbers by which small things travel. They never change their meaning.

use borough_actor::StopReason;
use borough_actor::remote::{Interruption, Lost};

/// The reason of one who was gone before it was watched.
const GONE_BEFORE: u8 = 0xff;

pub(super) fn of_lost(lost: Lost) -> u8 {
    match lost {
        Lost::Discarded => 1,
        Lost::Unreadable => 3,
        Lost::Overdue => 4,
        _ => 2,
    }
}

/// Why there is no answer; an unknown reason says no more than that.
pub(super) fn lost(number: u8) -> Lost {
    match number {
        1 => Lost::Discarded,
        3 => Lost::Unreadable,
        4 => Lost::Overdue,
        _ => Lost::Dropped,
    }
}

pub(super) fn of_interruption(what: Interruption) -> u8 {
    match what {
        Interruption::Stop => 1,
        Interruption::StopWhenDrained => 2,
        Interruption::Kill => 3,
    }
}

pub(super) fn interruption(number: u8) -> Option<Interruption> {
    match number {
        1 => Some(Interruption::Stop),
        2 => Some(Interruption::StopWhenDrained),
        3 => Some(Interruption::Kill),
        _ => None,
    }
}

pub(super) fn of_stop_reason(reason: Option<StopReason>) -> u8 {
    match reason {
        None => GONE_BEFORE,
        Some(StopReason::ParentStopped) => 2,
        Some(StopReason::Fault) => 3,
        Some(StopReason::Killed) => 4,
        Some(StopReason::SystemStopped) => 5,
        Some(StopReason::NodeLost) => 6,
        Some(_) => 1,
    }
}

/// Why an actor is gone; an unknown reason counts as asked for.
pub(super) fn stop_reason(number: u8) -> Option<StopReason> {
    match number {
        GONE_BEFORE => None,
        2 => Some(StopReason::ParentStopped),
        3 => Some(StopReason::Fault),
        4 => Some(StopReason::Killed),
        5 => Some(StopReason::SystemStopped),
        6 => Some(StopReason::NodeLost),
        _ => Some(StopReason::Requested),
    }
}

/// What a lookup found.
pub(super) const FOUND: u8 = 0;
pub(super) const NOT_FOUND: u8 = 1;
pub(super) const OTHER_MESSAGES: u8 = 2;
