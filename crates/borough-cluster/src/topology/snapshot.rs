//! What a node knows of its cluster at one moment.

use std::fmt;
use std::sync::Arc;

pub use borough_protocol::gossip::Shown as MemberState;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::node::GaveUp;
use borough_protocol::settings::Refusal;
use borough_protocol::table::Cluster;
use borough_protocol::version::Version;
use borough_protocol::voters::{VoterId, Voters};

use super::failure::Failure;

/// How a node stands to its cluster.
///
/// ```text
///    +-------------------------------------------------------------------------+
///    v                                                                         |
/// Seeking --> Joining --> Member <--> Suspended --lost the others, removed--> Returning, or GaveUp
///    |                      |
///    |                      +--> Leaving --> Left
///    +--> Refused           +--> Closing --> Closed
///
/// any of them --cannot run its entities any more--> Failed
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It looks for a cluster, or for others to found one with.
    Seeking,
    /// It has found its cluster and is not admitted yet.
    Joining,
    /// It is a member and may work.
    Member,
    /// It is a member that too few voters hear: it must not work until they do.
    Suspended,
    /// It is leaving in order.
    Leaving,
    /// It has left; the process may stop.
    Left,
    /// The whole cluster is shutting down.
    Closing,
    /// The whole cluster was shut down; the process may stop.
    Closed,
    /// Its life is over, for that reason: its refs to other nodes are lost, its own actors go on. It comes back by itself, under a new uid.
    Returning(GaveUp),
    /// As [`Returning`](Standing::Returning), but the node was told not to come back.
    GaveUp(GaveUp),
    /// It may not join: its settings are not the cluster's. It must be started with others; [`Node::run_until_signal`](crate::Node::run_until_signal) ends
    /// with that error.
    Refused(Refusal),
    /// It was stopped without leaving.
    Stopped,
    /// It cannot run its entities any more, and gave up its lease: the others wait until that is over, and go on without it.
    /// [`Failure::remedy`] says what to do.
    Failed(Failure),
}

impl Standing {
    /// Whether nothing comes after it: the node has no part in a cluster any more and looks for none.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Left
            | Self::Closed
            | Self::GaveUp(_)
            | Self::Refused(_)
            | Self::Stopped
            | Self::Failed(_) => true,
            Self::Seeking
            | Self::Joining
            | Self::Member
            | Self::Suspended
            | Self::Leaving
            | Self::Closing
            | Self::Returning(_) => false,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seeking => "seeking",
            Self::Joining => "joining",
            Self::Member => "member",
            Self::Suspended => "suspended",
            Self::Leaving => "leaving",
            Self::Left => "left",
            Self::Closing => "closing",
            Self::Closed => "closed",
            Self::Returning(why) => return write!(f, "returning ({why:?})"),
            Self::GaveUp(why) => return write!(f, "gave up ({why:?})"),
            Self::Refused(refusal) => return write!(f, "refused: {refusal}"),
            Self::Stopped => "stopped",
            Self::Failed(failure) => return write!(f, "failed: {failure}"),
        })
    }
}

/// One member, or one that wants to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Which life of which address.
    pub incarnation: Incarnation,
    /// How far it has come.
    pub state: MemberState,
    /// Whether nobody says that it cannot be reached.
    pub is_reachable: bool,
    /// The version of its admission, by which age goes; `None` before.
    pub admission: Option<Version>,
    pub(super) facts: Arc<Facts>,
}

impl Member {
    /// What people call it.
    pub fn node_id(&self) -> &NodeId {
        &self.facts.id
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.incarnation.address
    }

    /// Which life it is.
    pub fn uid(&self) -> Uid {
        self.incarnation.uid
    }

    /// Its identity as a voter: that of its data directory, or of its life if it has none.
    pub fn voter(&self) -> VoterId {
        self.facts.voter(self.incarnation.uid)
    }

    /// What it may be used for, sorted.
    pub fn roles(&self) -> &[String] {
        &self.facts.roles
    }

    /// Whether it has that role.
    pub fn has_role(&self, role: &str) -> bool {
        self.facts.roles.iter().any(|own| own == role)
    }

    /// The version of the program it runs; empty if nobody said.
    pub fn app_version(&self) -> &str {
        &self.facts.app_version
    }

    /// The zone it stands in; empty if nobody said.
    pub fn zone(&self) -> &str {
        &self.facts.zone
    }
}

/// What a node knows of its cluster at one moment. It never changes; a newer one takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopologySnapshot {
    /// What this node is called.
    pub node_id: NodeId,
    /// Which life this node lives, or lived last.
    pub incarnation: Incarnation,
    /// How this node stands to its cluster.
    pub standing: Standing,
    /// Which founding of which cluster; `None` while it seeks one.
    pub cluster: Option<Cluster>,
    /// Who is there: the oldest first, after them those who are not admitted yet.
    pub members: Vec<Member>,
    /// Who votes on what is decided, as far as this node knows.
    pub voters: Voters,
    /// Who has the decisions written down, as far as this node knows; members that do not vote often do not.
    pub coordinator: Option<Uid>,
    /// How far the table has come that this node follows.
    pub version: Version,
}

impl TopologySnapshot {
    pub(crate) fn alone(node_id: NodeId, incarnation: Incarnation) -> Self {
        Self {
            node_id,
            incarnation,
            standing: Standing::Seeking,
            cluster: None,
            members: Vec::new(),
            voters: Voters::default(),
            coordinator: None,
            version: Version::ZERO,
        }
    }

    /// The members that are up, the oldest first: admitted, and not about to go.
    pub fn up(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.state == MemberState::Up)
    }

    /// The member of that uid.
    pub fn member(&self, uid: Uid) -> Option<&Member> {
        self.members.iter().find(|member| member.uid() == uid)
    }

    /// Whether the member of that uid votes.
    pub fn votes(&self, uid: Uid) -> bool {
        self.member(uid).is_some_and(|member| self.voters.names(member.voter()))
    }

    /// The members that vote, the oldest first. A voter whose process is down is no member.
    pub fn voting(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| self.voters.names(member.voter()))
    }

    /// The members that are called so and are not gone: there should be one at most, and there are two while a name is used twice.
    pub fn named<'a>(&'a self, node_id: &'a str) -> impl Iterator<Item = &'a Member> {
        let here = |member: &&Member| !matches!(member.state, MemberState::Down | MemberState::Removed);
        self.members.iter().filter(here).filter(move |member| member.node_id().as_str() == node_id)
    }

    /// How many more voters may be lost at once, now, with the others still able to decide.
    ///
    /// Voters that cannot be reached count as lost already. 0 also for a node that knows of no voters.
    pub fn tolerates(&self) -> usize {
        let spare = |list: &std::collections::BTreeSet<VoterId>| {
            let there = list.iter().filter(|voter| self.is_there(**voter)).count();
            there.saturating_sub(list.len() / 2 + 1)
        };
        let now = spare(&self.voters.now);
        if self.voters.is_joint() { now.min(spare(&self.voters.next)) } else { now }
    }

    fn is_there(&self, voter: VoterId) -> bool {
        self.members.iter().any(|member| {
            let is_gone = matches!(member.state, MemberState::Down | MemberState::Removed);
            member.voter() == voter && member.is_reachable && !is_gone
        })
    }
}
