//! What gossip promises, on documents made by random histories and on whole clusters of gossiping nodes.

mod changes;
mod churn;
#[cfg(feature = "flaws")]
mod flaws;
mod history;
mod laws;
mod spreading;

use alloc::format;
use alloc::sync::Arc;
use core::time::Duration;

use super::{Change, Document};
use crate::flaws::Flaws;
use crate::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use crate::time::Timestamp;
use crate::version::{Term, Version};

const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
const NOW: Timestamp = Timestamp::from_millis(1000);

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

fn incarnation(uid: Uid) -> Incarnation {
    Incarnation { address: Address::new(format!("node-{uid}:2550")), uid }
}

fn facts(uid: Uid) -> Arc<Facts> {
    let id = NodeId::new(format!("node-{uid}"));
    Arc::new(Facts {
        id,
        roles: Arc::new(["back".into()]),
        app_version: "1.0".into(),
        zone: "".into(),
        disk: None,
    })
}

fn version(index: u64) -> Version {
    Version { term: Term::new(1), index }
}

/// A document of node `me` that knows the others as joining, by its own word.
fn document(me: u64, others: &[u64], flaws: Flaws) -> Document {
    let mut document = Document::new(LIFE, flaws);
    for number in [me].iter().chain(others) {
        document.add_joining(uid(me), incarnation(uid(*number)), facts(uid(*number)));
    }
    document
}

fn admit(document: &mut Document, index: u64, number: u64) -> Change {
    document.admit(index, incarnation(uid(number)), facts(uid(number)), version(index))
}

/// Sends `to` what it lacks of `from`, as nodes do.
fn tell(from: &Document, to: &mut Document, now: Timestamp) -> Change {
    let delta = from.delta_for(to.clock(), now, false);
    to.merge_delta(&delta, now)
}
