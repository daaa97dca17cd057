//! What a node says while it waits for others: which addresses are missing, and what an operator can do.
//!
//! Promise: a node that is in no cluster says why, every 5 s, until it is in one.

use std::time::Duration;

use borough_protocol::formation::{Awaited, Missing};
use borough_protocol::node::Node;
use borough_protocol::time::Timestamp;

use borough_protocol::incarnation::Address;

/// How often it says so.
const LOG_EVERY: Duration = Duration::from_secs(5);
/// After so long it is a warning.
const WARN_AFTER: Duration = Duration::from_secs(15);

/// The waiting of one life.
#[derive(Debug)]
pub(super) struct Waiting {
    since: Timestamp,
    next: Timestamp,
}

impl Waiting {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { since: now, next: now + LOG_EVERY }
    }

    /// Looks at the machine, and logs what it waits for if it is time.
    pub(super) fn look(&mut self, machine: &Node, now: Timestamp) {
        if now < self.next {
            return;
        }
        let Some(awaited) = machine.awaited() else { return };
        self.next = now + LOG_EVERY;
        let waited = now.since(self.since);
        let (silent, promised, suspended) = (
            of(&awaited, Missing::Silent),
            of(&awaited, Missing::PromisedToAnother),
            of(&awaited, Missing::Suspended),
        );
        let help = help(&awaited);
        if waited < WARN_AFTER {
            tracing::info!(
                ?waited,
                ?silent,
                ?promised,
                ?suspended,
                help,
                "waiting for seeds before a cluster is founded or joined"
            );
        } else {
            tracing::warn!(
                ?waited,
                ?silent,
                ?promised,
                ?suspended,
                help,
                "waiting for seeds before a cluster is founded or joined"
            );
        }
    }
}

fn of(awaited: &[Awaited], why: Missing) -> Vec<&Address> {
    awaited.iter().filter(|awaited| awaited.why == why).map(|awaited| &awaited.address).collect()
}

/// What an operator can do.
fn help(awaited: &[Awaited]) -> &'static str {
    if awaited.iter().any(|awaited| awaited.why == Missing::Silent) {
        "start the silent nodes, or check their addresses, names and the network; a node is a seed by the address it advertises. If one is gone for good: \
         take it off the list of seeds on all nodes, or run `borough recover` on one of them"
    } else if awaited.iter().any(|awaited| awaited.why == Missing::Suspended) {
        "the suspended nodes keep their state and wait for the other voters of their cluster: bring those back. If they are gone for good: run `borough \
         recover` on a suspended node"
    } else if awaited.is_empty() {
        "all seeds answered; with a discovery, `expect` may ask for more nodes than there are"
    } else {
        "another node is about to found the cluster; its log says what it waits for"
    }
}
