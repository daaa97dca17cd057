//! Why a node does not work, and what helps, in words.
//!
//! Promise: this agrees with what the node logs. What is said of voters that ended depends on whether they have data directories: with one, a voter that is
//! started again is the same voter; without, it is a new process, and its vote is lost.

use borough_cluster::{Failure, GaveUp, Standing};

/// Why a node does not work, and what helps; `None` if it does.
pub(super) fn advice(standing: &Standing, is_durable: bool) -> Option<String> {
    match standing {
        Standing::Seeking => Some(while_seeking(is_durable).to_owned()),
        Standing::Joining => {
            Some("it is not admitted yet: a majority of the voters must be there to admit it".to_owned())
        }
        Standing::Suspended => Some(while_suspended(is_durable).to_owned()),
        Standing::Returning(why) => {
            let Past { what, next } = Past::of(*why, is_durable);
            Some(format!("{what}: it {next} by itself, under a new uid"))
        }
        Standing::GaveUp(why) => {
            let Past { what, next } = Past::of(*why, is_durable);
            Some(format!(
                "{what}, and it does not come back by itself (`rejoin`): start its process again, and it {next}"
            ))
        }
        Standing::Refused(_) => {
            Some("its settings are not the cluster's: start it with the cluster's".to_owned())
        }
        Standing::Stopped => Some("it was stopped: start its process again".to_owned()),
        Standing::Failed(failure) => Some(after_failure(*failure)),
        // It works, or it went in order.
        _ => None,
    }
}

fn while_seeking(is_durable: bool) -> &'static str {
    if is_durable {
        "it waits for the voters of the cluster that its data directory names, or, if that names none, for all of its seeds; its log says every 5 s for which addresses. \
         Start the voters with their data directories: a majority of them is enough. See that each seed runs, can be reached from here, and has the same cluster name. Only if \
         the disks of a majority of the voters are lost for good: run `borough recover` on a node that is left; it founds a successor of the cluster, and what entities hold in \
         memory is lost on every node"
    } else {
        "it waits for all of its seeds, and for the voters of a cluster that one of them remembers; its log says every 5 s for which addresses. See that each seed runs, can be \
         reached from here, and has the same cluster name. If one is gone for good: take it off the list of seeds on all nodes, or run `borough recover` on one of them"
    }
}

fn while_suspended(is_durable: bool) -> &'static str {
    if is_durable {
        "no majority of the voters answers it, so it runs nothing; it keeps its state, and goes on by itself once a majority answers: start the silent voters with their data \
         directories, or restore the network between them and this node. Only if the disks of a majority of the voters are lost for good: run `borough recover` on a node that is \
         left; it founds a successor of the cluster, and what entities hold in memory is lost on every node"
    } else {
        "no majority of the voters answers it, so it runs nothing; it keeps its state, and goes on by itself once a majority answers: restore the network between the silent voters \
         and this node, if their processes still run. A voter whose process has ended does not come back by starting it: if that is a majority of them, start all of them, so \
         that the nodes found a new cluster together; or, if some cannot be started, run `borough recover` on a node that is left. Both lose what entities hold in memory"
    }
}

/// What became of a node that gave up.
struct Past {
    /// What happened.
    what: &'static str,
    /// What the next life of the node does.
    next: &'static str,
}

impl Past {
    fn of(why: GaveUp, is_durable: bool) -> Self {
        let (what, next) = match why {
            GaveUp::Removed => (
                "the cluster removed it and goes on without it; it dropped its shards and entities",
                "joins again as a new member",
            ),
            // One that joins was no member: it had nothing to drop.
            GaveUp::Forsaken if is_durable => {
                ("it was not admitted before the voters fell silent", "looks for its cluster again")
            }
            GaveUp::Forsaken => {
                ("it was not admitted before the voters fell silent", "looks for its seeds again")
            }
            GaveUp::Suspended => (
                "it was leaving, and no majority of the voters answered; it dropped its shards and entities",
                "looks for its cluster again",
            ),
            // With data directories nobody is told that the voters are gone: only an end that was decided makes a node give up.
            GaveUp::Over if is_durable => (
                "its cluster has ended: it was closed, or its last member left; this node dropped its shards and entities",
                "helps to found a new cluster, or joins it",
            ),
            GaveUp::Over => (
                "the voters of its cluster are gone for good; it dropped its shards and entities",
                "helps to found a new cluster, or joins it",
            ),
            GaveUp::Overtaken(_) => (
                "it yielded to another cluster of its name, and dropped its shards and entities",
                "joins that cluster",
            ),
            GaveUp::DownAll => (
                "a peer was lost, and the strategy `down-all` stops every member then; it dropped its shards and entities",
                "looks for its cluster again",
            ),
            GaveUp::Recovers => {
                ("recovery was ordered; it dropped its shards and entities", "founds the cluster again")
            }
            GaveUp::Copy => (
                "its data directory is an older copy: the cluster knows a later state of it, so it gave up the vote of that directory. Do not restore data directories from \
                 backups, and do not start a copy beside its original",
                "joins as a new voter",
            ),
        };
        Self { what, next }
    }
}

fn after_failure(failure: Failure) -> String {
    let remedy = failure.remedy();
    if failure.ends_with_process() {
        format!(
            "it cannot run its entities any more and gave up its lease: the others go on without it; {remedy}"
        )
    } else {
        format!(
            "{failure}, and the node's log says what is wrong with it; to start the process again does not help. Do not restore an older copy of the directory, which would forget \
             votes: {remedy}"
        )
    }
}

#[cfg(test)]
mod tests;
