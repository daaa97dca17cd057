//! Tests of leases: what a voter says to a renewal, and what its answers are worth to the member.

mod grants;
mod holder;

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::flaws::Flaws;
use crate::incarnation::{Address, Facts, Incarnation, NodeId};
use crate::log::{Committed, Entry, Log, Malformed, NotTaken, Outbox, VotersChange};
use crate::settings::{Checked, Settings, Timing};
use crate::table::{Admission, Change, Cluster, Removal, Table};
use crate::time::Timestamp;
use crate::version::Term;
use crate::voters::VoterId;

const ME: u64 = 9;

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn voter(number: u64) -> VoterId {
    VoterId::new(number).expect("not 0")
}

fn version(index: u64) -> Version {
    Version { term: Term::new(1), index }
}

fn voters(id: u64, now: &[u64], next: &[u64]) -> Voters {
    let set = |list: &[u64]| -> BTreeSet<VoterId> { list.iter().map(|number| voter(*number)).collect() };
    Voters { id: version(id), now: set(now), next: set(next) }
}

fn timing() -> Timing {
    *Checked::new(Settings::default()).expect("good").timing()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}
