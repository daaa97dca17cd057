//! What a node says while it waits for others: which addresses are missing, and what an operator can do.
//!
//! Promise: a node that is in no cluster, or without a majority of its voters, says why, every 5 s, until it is not any more. Names that do not resolve, addresses
//! that never answered and addresses that answered before are told apart.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough_protocol::formation::{Awaited, HeldBack, Missing};
use borough_protocol::incarnation::Address;
use borough_protocol::node::Node;
use borough_protocol::settings::Refusal;
use borough_protocol::table::Cluster;
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
        let told = Told::new(&awaited, &known).of(machine);
        told.log(now.since(since));
    }
}

/// What the node that waits is to its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tie {
    /// In none.
    #[default]
    None,
    /// Its disk names one, and it looks for that.
    Bound,
    /// It takes part, and too few voters answer.
    TakesPart,
}

/// What is said.
#[derive(Default)]
struct Told<'a> {
    tie: Tie,
    /// Whether the voters keep their votes on their disks.
    is_durable: bool,
    /// The cluster that its disk names.
    cluster: Option<Cluster>,
    /// Names that do not resolve.
    unresolved: Vec<&'a Address>,
    /// Addresses that have not answered since the process started.
    never_answered: Vec<&'a Address>,
    /// Addresses that answered before, and do not now.
    silent: Vec<&'a Address>,
    /// Silent addresses of nodes that were promised to, and may have founded the cluster.
    possible_founders: Vec<&'a Address>,
    replaced_founders: Vec<&'a Address>,
    /// Silent addresses of voters of a cluster that nodes of the list remember.
    voters: Vec<&'a Address>,
    /// Where nodes promised to let another one found the cluster.
    promised: Vec<&'a Address>,
    /// Where nodes keep what they have of their cluster, and wait for its voters.
    suspended: Vec<&'a Address>,
    /// Where fresh nodes answer whose addresses are those of voters of a cluster on disks that has not ended.
    lost_voters: Vec<&'a Address>,
    /// Where nodes left a cluster in which others may have stayed.
    left_cluster: Vec<&'a Address>,
    /// Where nodes voted in the cluster that the disk names, and run without the data directories they had.
    lost_data_directory: Vec<&'a Address>,
    /// Where nodes answer that are in no cluster, while this one never founds any.
    in_no_cluster: Vec<&'a Address>,
    /// Where nodes have other settings, and the first setting that differs.
    differing: Vec<(&'a Address, &'a Refusal)>,
    /// Why the discovery could not say the seeds.
    discovery: Option<&'a str>,
    /// Its settings say that it founds no cluster.
    never_founds: bool,
    /// Clusters whose members greet this node without answering its questions.
    greeted_by: Vec<Cluster>,
    /// The node that has this one's promise, which this one needs back to join a cluster.
    promise_held_by: Option<Address>,
}

/// Logs what is awaited, at that level: `tracing` wants a level that the compiler knows.
macro_rules! log {
    ($level:ident, $told:expr, $waited:expr) => {{
        let Told {
            cluster,
            unresolved,
            never_answered,
            silent,
            possible_founders,
            replaced_founders,
            voters,
            promised,
            suspended,
            lost_voters,
            left_cluster,
            lost_data_directory,
            in_no_cluster,
            differing,
            discovery,
            greeted_by,
            promise_held_by,
            ..
        } = $told;
        let (waited, help) = ($waited, $told.help());
        match $told.tie {
            Tie::TakesPart => tracing::$level!(
                ?waited,
                ?unresolved,
                ?never_answered,
                ?silent,
                ?differing,
                help,
                "waiting for a majority of the voters of this node's cluster"
            ),
            Tie::Bound => tracing::$level!(
                ?waited,
                cluster = cluster.as_ref().map(tracing::field::debug),
                ?unresolved,
                ?never_answered,
                ?silent,
                ?suspended,
                ?left_cluster,
                ?lost_data_directory,
                ?differing,
                discovery,
                help,
                "waiting for the voters of the cluster that this node's data directory names"
            ),
            Tie::None => tracing::$level!(
                ?waited,
                ?unresolved,
                ?never_answered,
                ?silent,
                ?possible_founders,
                ?replaced_founders,
                ?voters,
                ?promised,
                ?in_no_cluster,
                ?suspended,
                ?lost_voters,
                ?left_cluster,
                ?differing,
                ?greeted_by,
                promise_held_by = promise_held_by.as_ref().map(Address::as_str),
                discovery,
                help,
                "waiting for seeds before a cluster is founded or joined"
            ),
        }
    }};
}

/// What `recover` costs.
const COST: &str =
    "it founds a successor of the cluster, and what entities hold in memory is lost on every node";

impl<'a> Told<'a> {
    fn new(awaited: &'a [Awaited], known: &'a Addresses) -> Self {
        let mut told = Self { discovery: known.discovery_error(), ..Self::default() };
        for Awaited { address, why } in awaited {
            let list = match why {
                Missing::Silent | Missing::SilentVoter if known.is_unresolved(address) => {
                    &mut told.unresolved
                }
                Missing::SilentVoter => &mut told.voters,
                Missing::Silent if !known.has_answered(address) => &mut told.never_answered,
                Missing::Silent => &mut told.silent,
                Missing::MayHaveFounded => &mut told.possible_founders,
                Missing::OtherDirectory => &mut told.replaced_founders,
                Missing::PromisedToAnother => &mut told.promised,
                Missing::Suspended => &mut told.suspended,
                Missing::VoteLost => &mut told.lost_voters,
                Missing::Left => &mut told.left_cluster,
                Missing::Forgot => &mut told.lost_data_directory,
                Missing::InNoCluster => &mut told.in_no_cluster,
                Missing::OtherSettings(refusal) => {
                    told.differing.push((address, refusal));
                    continue;
                }
            };
            list.push(address);
        }
        told
    }

    /// The same, of a node that is or was in a cluster.
    fn of(self, machine: &Node) -> Self {
        let cluster = machine.sought();
        let tie = match cluster {
            _ if machine.cluster().is_some() => Tie::TakesPart,
            Some(_) => Tie::Bound,
            None => Tie::None,
        };
        let told = Self { tie, cluster, is_durable: machine.is_durable(), ..self };
        told.held_back(machine.held_back())
    }

    fn held_back(mut self, all: Vec<HeldBack>) -> Self {
        for held_back in all {
            match held_back {
                HeldBack::NeverFounds => self.never_founds = true,
                HeldBack::Greeted(cluster) => self.greeted_by.push(cluster),
                HeldBack::TakesBackPromise(holder) => self.promise_held_by = Some(holder),
            }
        }
        self
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
        let mut help: Vec<String> = Vec::new();
        if !self.unresolved.is_empty() {
            help.push(
                "check how the unresolved names are spelled, that DNS or the hosts file has them, and that this host can ask DNS (`getent hosts NAME`); in Kubernetes the \
                 service must publish addresses that are not ready"
                    .into(),
            );
        }
        if self.discovery.is_some() && self.tie != Tie::TakesPart {
            help.push("the discovery fails: see its error".into());
        }
        if !self.differing.is_empty() {
            help.push(
                "give the nodes with differing settings the same ones: nodes with different settings are never in one cluster"
                    .into(),
            );
        }
        if !self.lost_voters.is_empty() {
            help.push(
                "a node that answers has a data directory of a cluster that has not ended, and the lost voters are fresh nodes at the addresses of its voters: start them with the \
                 data directories they had. If a majority of these directories is lost for good: run `borough recover` on a node that has one left, or, to give up that \
                 cluster, `borough data reset` on every directory that is left of it"
                    .into(),
            );
        }
        match self.tie {
            // Those that answer are no mystery: their settings differ.
            Tie::TakesPart
                if self.differing.is_empty() || self.has_silent() || !self.unresolved.is_empty() =>
            {
                help.push(self.help_to_go_on());
            }
            Tie::TakesPart => {}
            Tie::Bound => self.help_to_return(&mut help),
            Tie::None => self.help_to_found(&mut help),
        }
        help.join("; ")
    }

    /// For a node that is suspended, or has started again as the voter that it was.
    fn help_to_go_on(&self) -> String {
        if !self.has_silent() && self.unresolved.is_empty() {
            "this node hears the voters, and no majority of them answers it yet: if that lasts, look at their logs, and check the network between the voters and this node \
             in both directions"
                .to_owned()
        } else if self.is_durable {
            format!(
                "this node keeps its state and goes on by itself once a majority of the voters answers: start the silent ones with their data directories, or restore the network \
                 between them and this node. Only if the disks of a majority of the voters are lost for good: run `borough recover` on a node that is left; {COST}"
            )
        } else {
            format!(
                "this node keeps its state and goes on by itself once a majority of the voters answers: restore the network between the silent nodes and this one, if their processes \
                 still run. A voter whose process has ended does not come back by starting it: if that is a majority of them, start all of them, so that the nodes found a new \
                 cluster together; or, if some cannot be started, run `borough recover` on a node that is left: {COST}. Founding a new one loses the same"
            )
        }
    }

    /// For a node that looks for the cluster of its disk.
    fn help_to_return(&self, help: &mut Vec<String>) {
        if self.has_silent() {
            help.push(
                "this node belongs to that cluster, or left it while others may have stayed: it joins that one, and founds none. Start its voters at the silent addresses with \
                 their data directories, or restore the network to them. A majority of the voters is enough: the others may stay away"
                    .into(),
            );
        }
        if !self.lost_data_directory.is_empty() {
            help.push(
                "the nodes that lost their data directories were voters of the cluster and run without the directories they had: start them with those".into(),
            );
        }
        if !(self.has_silent() || self.suspended.is_empty() && self.left_cluster.is_empty()) {
            help.push(
                "the nodes that answer wait for a majority of the voters, too; their logs say for which"
                    .into(),
            );
        }
        help.push(format!(
            "only if the disks of a majority of the voters are lost for good: run `borough recover` on a node that is left; {COST}"
        ));
    }

    /// For a node that is in no cluster and may found one.
    fn help_to_found(&self, help: &mut Vec<String>) {
        if !self.possible_founders.is_empty() {
            help.push(
                "the possible founders are on no list of seeds here, but a node of the list promised to let them found the cluster: start them. If one is gone for good, with its \
                 data directory: run `borough recover` on this node"
                    .into(),
            );
        }
        if !self.replaced_founders.is_empty() {
            help.push(
                "a node promised to let the node at the address of a replaced founder found the cluster, and another data directory is used there now: start the one that was there, \
                 wherever it is now. If it is gone for good: run `borough recover` on this node"
                    .into(),
            );
        }
        if !self.voters.is_empty() {
            help.push(if self.is_durable {
                "a node that answers belongs to a cluster whose silent voters are under `voters`: start them with their data directories. A majority of the voters is \
                 enough, and this node joins. Only if the disks of a majority of them are lost for good: run `borough recover` on a node that belonged to that cluster"
                    .into()
            } else {
                "a node that answers remembers a cluster whose silent voters are under `voters`, and which may still work: restore the network to them, or start nodes at their addresses. If one is gone \
                 for good: run `borough recover` on one of the nodes that wait"
                    .to_owned()
            });
        }
        if !self.greeted_by.is_empty() {
            help.push(
                "members of a cluster greet this node, and its questions to them get no answer: check the network from this node to them, and the addresses that they advertise. \
                 This node founds nothing meanwhile, and joins once they answer"
                    .into(),
            );
        }
        if self.promise_held_by.is_some() {
            help.push(
                "a cluster that works welcomed this node, which has promised another node to let it found one: this node joins once it has the promise back, or after two attempts to \
                 found"
                    .into(),
            );
        }
        if self.has_silent() {
            help.push(
                "start the silent nodes, or check their addresses and the network; a node is a seed by the address it advertises. If one is gone for good: \
                 take it off the list of seeds on all nodes, or run `borough recover` on one of them"
                    .into(),
            );
        }
        if !self.suspended.is_empty() {
            help.push(if self.is_durable {
                format!(
                    "the suspended nodes keep their state and wait for a majority of the voters of their cluster: start those with their data directories. Only if the disks of a majority \
                     are lost for good: run `borough recover` on a suspended node; {COST}"
                )
            } else {
                "the suspended nodes keep their state and wait for the voters of their cluster: restore the network between them. Voters whose processes have ended do not come back by \
                 starting them; once all awaited addresses answer, the suspended nodes drop their state and a new cluster is founded"
                    .to_owned()
            });
        }
        if !self.left_cluster.is_empty() {
            help.push(
                "the nodes that left did so while others may have stayed in their cluster: start those others with their data directories, a majority of the voters is enough. If \
                 their disks are lost for good: run `borough recover` on a node that left"
                    .into(),
            );
        }
        if self.never_founds {
            help.push(
                "this node never founds a cluster (`found_with = never`): it joins as soon as a node that answers is in one, so another node must found it".into(),
            );
        }
        if !self.promised.is_empty() && help.is_empty() {
            help.push("another node is about to found the cluster; its log says what it waits for".into());
        } else if help.is_empty() {
            help.push(
                "all seeds answered; with a discovery, `expect` may ask for more nodes than there are".into(),
            );
        }
    }

    fn has_silent(&self) -> bool {
        !self.never_answered.is_empty() || !self.silent.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::incarnation::Uid;

    use super::*;

    fn help(tie: Tie, is_durable: bool, missing: &[(&str, Missing)]) -> String {
        told((tie, is_durable), missing, &[])
    }

    fn help_held_back(tie: Tie, missing: &[(&str, Missing)], held_back: &[HeldBack]) -> String {
        told((tie, true), missing, held_back)
    }

    fn told((tie, is_durable): (Tie, bool), missing: &[(&str, Missing)], held_back: &[HeldBack]) -> String {
        let awaited =
            |(address, why): &(&str, Missing)| Awaited { address: Address::new(*address), why: why.clone() };
        let (awaited, known) = (missing.iter().map(awaited).collect::<Vec<_>>(), Addresses::default());
        let told = Told { tie, is_durable, ..Told::new(&awaited, &known) };
        told.held_back(held_back.to_vec()).help()
    }

    #[test]
    fn a_node_that_belongs_to_a_cluster_is_told_of_its_voters_and_of_no_list() {
        let help = help(Tie::Bound, true, &[("a:1", Missing::Silent), ("b:1", Missing::Forgot)]);
        assert!(
            help.contains("A majority of the voters is enough")
                && help.contains("lost their data directories"),
            "{help}"
        );
        assert!(help.contains("is lost on every node") && !help.contains("list of seeds"), "{help}");
    }

    #[test]
    fn a_node_that_never_founds_says_so_and_of_nobody_that_it_promised() {
        let held_back = [HeldBack::NeverFounds];
        let help = help_held_back(Tie::None, &[("a:1", Missing::InNoCluster)], &held_back);
        assert!(help.contains("found_with = never") && !help.contains("about to found"), "{help}");
    }

    #[test]
    fn a_node_that_is_held_back_is_not_told_that_all_seeds_answered() {
        let cluster = Cluster { name: 1, era: 2, founder: Uid::new(3).expect("not 0") };
        for (held_back, words) in [
            (HeldBack::Greeted(cluster), "members of a cluster greet this node"),
            (HeldBack::TakesBackPromise(Address::new("a:1")), "once it has the promise back"),
        ] {
            let help = help_held_back(Tie::None, &[], &[held_back]);
            assert!(help.contains(words) && !help.contains("all seeds answered"), "{help}");
        }
    }

    #[test]
    fn a_node_that_waits_for_voters_with_other_settings_is_not_told_of_the_network() {
        let refusal = Refusal { setting: "max_pause".into(), ours: "400 ms".into(), theirs: "250 ms".into() };
        let differs = ("a:1", Missing::OtherSettings(refusal));
        let help_of = |missing: &[(&str, Missing)]| help(Tie::TakesPart, true, missing);
        let words = help_of(std::slice::from_ref(&differs));
        assert!(words.contains("differing settings") && !words.contains("network"), "{words}");
        let words = help_of(&[differs, ("b:1", Missing::Silent)]);
        assert!(words.contains("differing settings") && words.contains("start the silent ones"), "{words}");
    }

    #[test]
    fn a_suspended_node_that_hears_all_voters_is_not_told_to_start_them() {
        for is_durable in [true, false] {
            let help = help(Tie::TakesPart, is_durable, &[]);
            assert!(help.contains("in both directions") && !help.contains("start"), "{help}");
        }
    }

    #[test]
    fn nodes_that_left_are_not_about_to_found() {
        let help = help(Tie::None, true, &[("a:1", Missing::Left), ("b:1", Missing::PromisedToAnother)]);
        assert!(help.contains("others may have stayed") && !help.contains("about to found"), "{help}");
    }

    #[test]
    fn a_silent_voter_of_another_cluster_is_not_to_be_taken_off_a_list() {
        for is_durable in [true, false] {
            let help = help(Tie::None, is_durable, &[("a:1", Missing::SilentVoter)]);
            assert!(help.contains("borough recover") && !help.contains("take it off"), "{help}");
        }
    }

    #[test]
    fn a_restarted_voter_is_said_to_help_only_where_voters_have_disks() {
        let missing = [("a:1", Missing::Silent)];
        let (durable, volatile) =
            (help(Tie::TakesPart, true, &missing), help(Tie::TakesPart, false, &missing));
        assert!(durable.contains("start the silent ones with their data directories"), "{durable}");
        assert!(
            volatile.contains("does not come back by starting it") && !volatile.contains("data"),
            "{volatile}"
        );
        let missing = [("a:1", Missing::Suspended)];
        assert!(help(Tie::None, true, &missing).contains("with their data directories"));
        assert!(help(Tie::None, false, &missing).contains("drop their state"));
    }
}
