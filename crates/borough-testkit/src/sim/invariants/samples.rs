//! Small tables for the rules' own tests.

use std::sync::Arc;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::gossip::Document;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Entry;
use borough_protocol::node::{Greeting, Life};
use borough_protocol::table::{Admission, Ancestors, Change, Cluster, Removal, Table};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;

use crate::sim::meeting::Meeting;

pub(super) const CLUSTER: Cluster = Cluster {
    name: 1,
    era: 1,
    founder: match Uid::new(1) {
        Some(uid) => uid,
        None => unreachable!(),
    },
};

pub(super) fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

pub(super) fn voter(number: u64) -> VoterId {
    VoterId::of_life(uid(number))
}

/// The table after these entries, each with its term.
pub(super) fn table(entries: &[(u64, Entry<Change>)]) -> Table {
    let mut table = Table::new(CLUSTER);
    for (index, (term, entry)) in (1..).zip(entries) {
        table.apply(Version { term: Term::new(*term), index }, entry);
    }
    table
}

pub(super) fn admit(number: u64) -> Entry<Change> {
    let admission = Admission { incarnation: incarnation(number), facts: facts(number) };
    Entry::Payload(Change::Admit(Arc::new(admission)))
}

/// The document of the first of these members, which brought all others in.
pub(super) fn document(members: &[u64]) -> Document {
    let mut document = Document::new(Duration::from_secs(3600), Flaws::default());
    for member in members {
        document.add_joining(uid(members[0]), incarnation(*member), facts(*member));
    }
    document
}

fn incarnation(number: u64) -> Incarnation {
    Incarnation { address: Address::new(format!("n{number}:1")), uid: uid(number) }
}

fn facts(number: u64) -> Arc<Facts> {
    Arc::new(Facts {
        id: NodeId::new(format!("n{number}")),
        roles: Arc::new([]),
        app_version: Arc::from(""),
        zone: Arc::from(""),
        disk: None,
    })
}

pub(super) fn remove(number: u64) -> Entry<Change> {
    Entry::Payload(Change::Remove(uid(number), Removal::Quiet))
}

pub(super) fn free(number: u64) -> Entry<Change> {
    Entry::Payload(Change::Free(uid(number)))
}

pub(super) fn forget(number: u64) -> Entry<Change> {
    Entry::Payload(Change::Forget(Arc::new([uid(number)])))
}

pub(super) fn voters(now: &[u64], next: &[u64]) -> Entry<Change> {
    let list = |numbers: &[u64]| numbers.iter().map(|number| voter(*number)).collect();
    Entry::Voters { now: list(now), next: list(next) }
}

/// A node of [`CLUSTER`] is greeted by one of the same name and that era.
pub(super) fn meeting(era: u32, works: bool) -> Meeting {
    let cluster = Cluster { era, ..CLUSTER };
    let ancestors = Ancestors::of([]);
    let theirs =
        Greeting { life: Life::Working, cluster, ancestors, settings: 0, nonce: None, answers: None };
    Meeting { uid: CLUSTER.founder, ours: CLUSTER, works, theirs }
}
