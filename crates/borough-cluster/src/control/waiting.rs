//! What a node says while it waits for others: which addresses are missing, and what an operator can do.
//!
//! Promise: a node that is in no cluster, or without a majority of its voters, says why, every 5 s, until it is not any more. Names that do not resolve, addresses
//! that never answered and addresses that answered before are told apart.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough_protocol::formation::{Awaited, Missing};
use borough_protocol::incarnation::Address;
use borough_protocol::node::Node;
use borough_protocol::settings::Refusal;
use borough_protocol::time::Timestamp;

use super::addresses::Addresses;

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
    /// What is known of the addresses that were dialled.
    addresses: Arc<Mutex<Addresses>>,
}

impl Waiting {
    pub(super) fn new(now: Timestamp, addresses: Arc<Mutex<Addresses>>) -> Self {
        Self { since: Some(now), next: now + LOG_EVERY, addresses }
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
        let known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Told::new(&awaited, &known, machine.cluster().is_some());
        told.log(now.since(since));
    }
}

/// What is said.
#[derive(Default)]
struct Told<'a> {
    /// Whether it belongs to a cluster, of which too few voters answer.
    is_in_cluster: bool,
    /// Names that do not resolve.
    unresolved: Vec<&'a Address>,
    /// Addresses that have not answered since the process started.
    never_answered: Vec<&'a Address>,
    /// Addresses that answered before, and do not now.
    silent: Vec<&'a Address>,
    /// Silent addresses of nodes that were promised to, and may have founded the cluster.
    founders: Vec<&'a Address>,
    /// Where nodes promised to let another one found the cluster.
    promised: Vec<&'a Address>,
    /// Where nodes keep what they have of their cluster, and wait for its voters.
    suspended: Vec<&'a Address>,
    /// Where fresh nodes answer whose addresses are those of voters of a cluster on disks that has not ended.
    lost_voters: Vec<&'a Address>,
    /// Where nodes have other settings, and the first setting that differs.
    differing: Vec<(&'a Address, &'a Refusal)>,
    /// Why the discovery could not say the seeds.
    discovery: Option<&'a str>,
}

/// Logs what is awaited, at that level: `tracing` wants a level that the compiler knows.
macro_rules! log {
    ($level:ident, $told:expr, $waited:expr) => {{
        let Told {
            unresolved,
            never_answered,
            silent,
            founders,
            promised,
            suspended,
            lost_voters,
            differing,
            discovery,
            ..
        } = $told;
        let (waited, help) = ($waited, $told.help());
        if $told.is_in_cluster {
            tracing::$level!(
                ?waited,
                ?unresolved,
                ?never_answered,
                ?silent,
                help,
                "waiting for a majority of the voters of this node's cluster"
            );
        } else {
            tracing::$level!(
                ?waited,
                ?unresolved,
                ?never_answered,
                ?silent,
                ?founders,
                ?promised,
                ?suspended,
                ?lost_voters,
                ?differing,
                discovery,
                help,
                "waiting for seeds before a cluster is founded or joined"
            );
        }
    }};
}

impl<'a> Told<'a> {
    fn new(awaited: &'a [Awaited], known: &'a Addresses, is_in_cluster: bool) -> Self {
        let mut told = Self { is_in_cluster, discovery: known.discovery_error(), ..Self::default() };
        for Awaited { address, why } in awaited {
            let list = match why {
                Missing::Silent if known.is_unresolved(address) => &mut told.unresolved,
                Missing::Silent if !known.has_answered(address) => &mut told.never_answered,
                Missing::Silent => &mut told.silent,
                Missing::MayHaveFounded => &mut told.founders,
                Missing::PromisedToAnother => &mut told.promised,
                Missing::Suspended => &mut told.suspended,
                Missing::VoteLost => &mut told.lost_voters,
                Missing::OtherSettings(refusal) => {
                    told.differing.push((address, refusal));
                    continue;
                }
            };
            list.push(address);
        }
        told
    }

    fn log(&self, waited: Duration) {
        if waited < WARN_AFTER {
            log!(info, self, waited);
        } else {
            log!(warn, self, waited);
        }
    }

    /// What an operator can do.
    fn help(&self) -> String {
        let mut help = Vec::new();
        if !self.unresolved.is_empty() {
            help.push(
                "check how the unresolved names are spelled, that DNS or the hosts file has them, and that this host can ask DNS (`getent hosts NAME`); in Kubernetes the \
                 service must publish addresses that are not ready",
            );
        }
        if self.discovery.is_some() && !self.is_in_cluster {
            help.push("the discovery fails: see its error");
        }
        if !self.differing.is_empty() {
            help.push("give the nodes with differing settings the same ones: nodes with different settings are never in one cluster");
        }
        if !self.founders.is_empty() {
            help.push(
                "the founders are on no list of seeds here, but a node of the list promised to let them found the cluster: start them. If one is gone for good, with its data \
                 directory: run `borough recover` on this node",
            );
        }
        if !self.lost_voters.is_empty() {
            help.push(
                "a node that answers has a data directory of a cluster that has not ended, and the lost voters are fresh nodes at the addresses of its voters: start them with the \
                 data directories they had. If a majority of these directories is lost for good: run `borough recover` on a node that has one left, or, to give up that \
                 cluster, `borough data reset` on every directory that is left of it",
            );
        }
        let has_silent = !self.never_answered.is_empty() || !self.silent.is_empty();
        if self.is_in_cluster {
            help.push(
                "this node keeps its state and goes on by itself: start the silent nodes, or mend the network between them and this node. If a majority of the voters is gone \
                 for good: run `borough recover` on one of those that are left",
            );
        } else if has_silent {
            help.push(
                "start the silent nodes, or check their addresses and the network; a node is a seed by the address it advertises. If one is gone for good: \
                 take it off the list of seeds on all nodes, or run `borough recover` on one of them",
            );
        } else if !self.suspended.is_empty() {
            help.push(
                "the suspended nodes keep their state and wait for the other voters of their cluster: bring those back. If they are gone for good: run `borough \
                 recover` on a suspended node",
            );
        } else if !self.promised.is_empty() {
            help.push("another node is about to found the cluster; its log says what it waits for");
        } else if help.is_empty() {
            help.push("all seeds answered; with a discovery, `expect` may ask for more nodes than there are");
        }
        help.join("; ")
    }
}
