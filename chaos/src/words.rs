//! What a node under test and the harness say to each other, one line each: orders in words, answers and events in JSON.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

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
    /// Every worker of its runtime stands still from now on, for so long.
    Blocked {
        /// How long, in milliseconds.
        millis: u64,
    },
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
    /// To all others.
    Done,
    /// It did not work.
    Failed {
        /// Why.
        why: String,
    },
}
