//! What a node says while it waits for others: which addresses are missing, and what an operator can do.
//!
//! Promise: a node that is in no cluster, or without a majority of its voters, says why, every 5 s, until it is not any more.

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
    /// Since when it has waited; `None` while it does not.
    since: Option<Timestamp>,
    next: Timestamp,
}

impl Waiting {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { since: Some(now), next: now + LOG_EVERY }
    }

    /// Looks at the machine, and logs what it waits for if it is time.
    pub(super) fn look(&mut self, machine: &Node, now: Timestamp) {
        if now < self.next {
            return;
        }
        let Some(awaited) = machine.awaited(now) else {
            self.since = None;
            return;
        };
        let since = *self.since.get_or_insert(now);
        self.next = now + LOG_EVERY;
        let waited = now.since(since);
        let told = Told { waited, awaited: &awaited, is_in_cluster: machine.cluster().is_some() };
        told.log();
    }
}

/// Logs what is awaited, at that level: `tracing` wants a level that the compiler knows.
macro_rules! log {
    ($level:ident, $told:expr) => {{
        let (waited, silent, help) = ($told.waited, $told.of(Missing::Silent), $told.help());
        if $told.is_in_cluster {
            tracing::$level!(
                ?waited,
                ?silent,
                help,
                "waiting for a majority of the voters of this node's cluster"
            );
        } else {
            let promised = $told.of(Missing::PromisedToAnother);
            let suspended = $told.of(Missing::Suspended);
            tracing::$level!(
                ?waited,
                ?silent,
                ?promised,
                ?suspended,
                help,
                "waiting for seeds before a cluster is founded or joined"
            );
        }
    }};
}

/// What is said.
struct Told<'a> {
    waited: Duration,
    awaited: &'a [Awaited],
    /// Whether it belongs to a cluster, of which too few voters answer.
    is_in_cluster: bool,
}

impl Told<'_> {
    fn log(&self) {
        if self.waited < WARN_AFTER {
            log!(info, self);
        } else {
            log!(warn, self);
        }
    }

    fn of(&self, why: Missing) -> Vec<&Address> {
        self.awaited.iter().filter(|awaited| awaited.why == why).map(|awaited| &awaited.address).collect()
    }

    /// What an operator can do.
    fn help(&self) -> &'static str {
        let has = |why| self.awaited.iter().any(|awaited| awaited.why == why);
        if self.is_in_cluster {
            "this node keeps its state and goes on by itself: start the silent nodes, or mend the network between them and this node. If a majority of the voters is gone \
             for good: run `borough recover` on one of those that are left"
        } else if has(Missing::Silent) {
            "start the silent nodes, or check their addresses, names and the network; a node is a seed by the address it advertises. If one is gone for good: \
             take it off the list of seeds on all nodes, or run `borough recover` on one of them"
        } else if has(Missing::Suspended) {
            "the suspended nodes keep their state and wait for the other voters of their cluster: bring those back. If they are gone for good: run `borough \
             recover` on a suspended node"
        } else if self.awaited.is_empty() {
            "all seeds answered; with a discovery, `expect` may ask for more nodes than there are"
        } else {
            "another node is about to found the cluster; its log says what it waits for"
        }
    }
}
