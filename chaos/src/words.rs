//! What a node under test and the harness say to each other, one line each: orders in words, answers and events in JSON.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The type of entities that count what they are sent, and move with it.
pub(crate) const LEDGER: &str = "ledger";
/// The type of entities that ignore that they are to stop.
pub(crate) const MULE: &str = "mule";
/// The type of entities that nobody sends to before the flood.
pub(crate) const UNKNOWN: &str = "unknown";

/// Threads of the runtime that runs a node's actors, unless the node is told otherwise.
pub(crate) const WORKERS: usize = 2;

/// One line of a node's standard output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Said {
    /// It has started, and can be reached.
    Listening {
        /// What it is called.
        node: String,
        /// Where others reach it.
        address: String,
        /// Which life it begins with.
        uid: u64,
    },
    /// What it knows of its cluster has changed.
    Topology(View),
    /// Somebody was refused, or a message reached nobody, since it last said so.
    Counts(Counts),
    /// Every worker of its runtime stands still from now on.
    Blocked,
    /// What came of an order.
    Answer {
        /// Which order: the number it began with.
        id: u64,
        /// What came of it.
        answer: Answer,
    },
    /// The process ends in order.
    Ending {
        /// How.
        how: String,
    },
}

/// What a node knows of its cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its own life.
    pub uid: u64,
    /// How it stands to its cluster, in words.
    pub standing: String,
    /// Which founding, if it knows one.
    pub cluster: Option<String>,
    /// Who has decisions written down.
    pub coordinator: Option<u64>,
    /// How far the table has come.
    pub version: String,
    /// Who votes.
    pub voters: BTreeSet<u64>,
    /// Whether other voters are about to take their place.
    pub is_joint: bool,
    /// How many more voters may be lost at once.
    pub tolerates: usize,
    /// Who is there.
    pub members: Vec<Seen>,
}

/// One member, as a node sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// What it is called.
    pub node: String,
    /// Which life.
    pub uid: u64,
    /// How far it has come, in words.
    pub state: String,
    /// Whether nobody says that it cannot be reached.
    pub reachable: bool,
}

impl View {
    /// The lives of those who are up.
    pub fn up(&self) -> BTreeSet<u64> {
        self.members.iter().filter(|seen| seen.state == "Up").map(|seen| seen.uid).collect()
    }

    /// The lives of all who are listed.
    pub fn listed(&self) -> BTreeSet<u64> {
        self.members.iter().map(|seen| seen.uid).collect()
    }
}

/// What a node counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Who was not let in, by reason; only reasons that occurred.
    pub refusals: BTreeMap<String, u64>,
    /// Messages that reached nobody, by reason; only reasons that occurred.
    pub dead_letters: BTreeMap<String, u64>,
    /// What the control lane lost: dropped, unreadable, broken.
    pub control: [u64; 3],
}

/// How a process is, at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// What it knows of its cluster.
    pub view: View,
    /// What it has counted.
    pub counts: Counts,
    /// The memory that it holds, in KiB.
    pub rss_kib: u64,
    /// How many threads it has.
    pub threads: u64,
    /// How many sockets it has open.
    pub sockets: u64,
    /// How many numbered messages its counter took.
    pub received: u64,
    /// How many of them did not follow the one before.
    pub out_of_order: u64,
}

/// What came of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Answer {
    /// To `status`.
    Status(Box<Status>),
    /// To `tell`.
    Told {
        /// How many messages were accepted.
        accepted: u64,
        /// Why there were not more.
        failed: Option<String>,
        /// How long it took.
        millis: u64,
    },
    /// To `asks`.
    Asked {
        /// How many were answered.
        answered: u64,
        /// How many were not.
        failed: u64,
        /// The middle of the times they took, in microseconds.
        median_us: u64,
        /// The longest, in microseconds.
        max_us: u64,
    },
    /// To `load look` and `load stop`.
    Load(LoadCounts),
    /// To `read`.
    Read {
        /// How many entities did not say what they remember.
        unread: usize,
    },
    /// To `shards`.
    Shards {
        /// Node by node.
        nodes: Vec<ShardsOf>,
    },
    /// To `received`.
    Received {
        /// Entities of which type.
        kind: String,
        /// How many messages they have had.
        received: u64,
        /// How many of them were out of order.
        misplaced: u64,
    },
    /// To `recovery`.
    Recovery {
        /// How many voters there were, and how many did not answer.
        voters: (usize, usize),
        /// Members that answered.
        kept: Vec<String>,
        /// Members that did not.
        given_up: Vec<String>,
        /// How many shards would begin anew.
        shards: usize,
    },
    /// To all others.
    Done,
    /// It did not work.
    Failed {
        /// Why.
        why: String,
    },
}

/// What a load has sent so far, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadCounts {
    /// Tells.
    pub tells: u64,
    /// Asks.
    pub asks: u64,
    /// Asks that were answered.
    pub answered: u64,
    /// Messages that came back with a reason.
    pub refused: u64,
    /// The longest that an ask took, in microseconds.
    pub slowest_us: u64,
}

/// What lives of one type on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardsOf {
    /// What the node is called.
    pub node: String,
    /// Whether entities of the type can live there.
    pub hosts: bool,
    /// The shards there, and since which epoch. Pairs: numbers cannot be names in an answer.
    pub shards: Vec<(u32, u64)>,
    /// How many entities.
    pub entities: usize,
    /// Messages that wait there for a way.
    pub held: usize,
    /// Messages refused there so far.
    pub refused: usize,
    /// Why the node did not say, if it did not.
    pub missing: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_node_says_of_its_shards_is_read_as_it_was_written() {
        let node = ShardsOf { node: "n1".to_owned(), shards: vec![(3, 1), (4, 9)], ..ShardsOf::default() };
        let said = Said::Answer { id: 7, answer: Answer::Shards { nodes: vec![node.clone()] } };
        let read = serde_json::from_str(&serde_json::to_string(&said).unwrap());
        let Ok(Said::Answer { id: 7, answer: Answer::Shards { nodes } }) = read else { panic!("{read:?}") };
        assert_eq!(nodes, [node]);
    }
}
