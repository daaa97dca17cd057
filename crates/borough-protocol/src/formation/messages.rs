//! What nodes that seek a cluster say to each other, and what is said to them.

use alloc::sync::Arc;

use super::Memory;
use crate::disk::Pledge;
use crate::gossip::Delta;
use crate::incarnation::{Address, Facts, Incarnation};
use crate::node::Identity;
use crate::settings::ClusterSettings;
use crate::table::{Cluster, Table};
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// "Is there a cluster? If not, may I found it?"
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Knock {
    /// Who asks.
    pub me: Incarnation,
    /// What it says of itself.
    pub facts: Arc<Facts>,
    /// What must be the same on all nodes.
    pub settings: ClusterSettings,
    /// Where it looks for others, itself included, in its order.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub seeds: Arc<[Address]>,
    /// Its attempt to found a cluster; `None` if it does not ask for a promise.
    pub attempt: Option<u32>,
    /// The cluster that it was in before; `None`: it is fresh.
    pub memory: Option<Arc<Memory>>,
    /// The clusters that can never go on: those that are suspended in one of them are asked to give up.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub over: Arc<[Over]>,
    /// The clusters that have ended as a whole: those that still wait for one of them are fresh.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub ended: Arc<[Cluster]>,
    /// It is a voter that stays silent for some time: it is welcome, and does not come yet.
    pub rests: bool,
}

impl Knock {
    /// Of a node that asks for no promise.
    pub(crate) fn of_guest(identity: &Identity) -> Self {
        Self {
            me: identity.me.clone(),
            facts: identity.facts.clone(),
            settings: identity.settings.cluster_settings().clone(),
            seeds: identity.seeds.clone(),
            attempt: None,
            memory: None,
            over: [].into(),
            ended: [].into(),
            rests: false,
        }
    }
}

/// "Too few voters of that cluster are left": every address of that list answered, and those that are suspended are no quorum of it, or none of them can be elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Over {
    /// Which founding.
    pub cluster: Cluster,
    /// The list of voters that was looked at. A node that knows a newer one does not give up.
    pub voters: Version,
}

/// "I am in no cluster that works", and whether the one who asked may found one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vow {
    /// Where the one who answers listens.
    pub seed: Address,
    /// The attempt that is answered.
    pub attempt: u32,
    /// Whether it has the promise.
    pub granted: bool,
    /// It was welcomed to a cluster, and asks for its promise back.
    pub withdrawn: bool,
    /// Where the node listens that has it: the one who answers, the one who asked, or another.
    pub holder: Address,
    /// What the one who answers was in before.
    pub past: Past,
    /// The directory of the one who answers: by it a promise of another node is known to be told of.
    pub voter: VoterId,
    /// The promises of the one who answers that it did not get back: those that had them may have founded a cluster.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub pledged: Arc<[Pledge]>,
    /// The clusters of which others told the one who answers, and which may work or go on: whoever wants to found has to hear their voters. They are not passed on
    /// once more, or nodes that seek would remind each other for ever.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub heard_of: Arc<[Arc<Memory>]>,
}

/// How the log of a node ends: by that it counts the votes for it, and others whether they vote for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogEnd {
    /// The last entry.
    pub last: Version,
    /// The newest lists in it, committed or not.
    pub voters: Voters,
    /// Where these voters listen, as far as it is known.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub places: Arc<[(VoterId, Address)]>,
}

/// What a node that is in no working cluster was in before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Past {
    /// The process never was in a cluster.
    Fresh,
    /// It was in that one, and has dropped all that it had of it.
    GaveUp(Arc<Memory>),
    /// It is in that one, keeps what it has, and waits for a quorum of the voters; and how its log ends, if that is lost with its life.
    Suspended(Arc<Memory>, Option<Arc<LogEnd>>),
    /// It left that one in order. Others may have stayed.
    Left(Arc<Memory>),
    /// It was in that one, which has ended as a whole.
    Ended(Arc<Memory>),
}

impl Past {
    /// The cluster that it was in.
    pub fn memory(&self) -> Option<&Arc<Memory>> {
        match self {
            Self::Fresh => None,
            Self::GaveUp(memory) | Self::Suspended(memory, _) | Self::Left(memory) | Self::Ended(memory) => {
                Some(memory)
            }
        }
    }
}

/// "Yes, this one": what a node needs to take part.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Welcome {
    /// The table of the one who welcomes.
    pub table: Arc<Table>,
    /// All of its gossip.
    pub gossip: Arc<Delta>,
}
