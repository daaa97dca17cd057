//! What goes into a node and what comes out: the whole boundary.

use alloc::sync::Arc;
use core::time::Duration;

use super::feed::Feed;
use crate::disk::{Image, Write};
use crate::formation::{Knock, Search, Vow, Welcome};
use crate::gossip;
use crate::heartbeat;
use crate::incarnation::{Address, Facts, Incarnation, Uid};
use crate::lease::{Renew, Renewed};
use crate::log::raft::{self, Unrestorable};
use crate::settings::{Checked, Refusal};
use crate::sharding::ShardReport;
use crate::sharding::allocation::Custom;
use crate::store;
use crate::table::{Ancestors, Change, Cluster, Removal, Table};
use crate::time::Timestamp;
use crate::version::Version;

/// Everything a node is born with.
#[derive(Clone, Debug)]
pub struct Start {
    /// Who it is.
    pub me: Incarnation,
    /// What it says of itself.
    pub facts: Facts,
    /// Where it looks for its cluster, and when it may found one.
    pub search: Search,
    /// The settings.
    pub settings: Checked,
    /// Seconds since the beginning of 2020 by the wall clock, or one more than the last era if that is stored.
    pub era: u32,
    /// Where its chance comes from.
    pub seed: u64,
    /// Whether it recovers its cluster: the life before ended with [`GaveUp::Recovers`]. It founds at once, whatever its seeds say, and acts
    /// once every lease of the cluster before is over.
    pub recovers: bool,
    /// What is on its disk; `None` for a node without a data directory.
    pub disk: Option<Image>,
    /// When its process began, or later, by the clock of this life: whatever leases an earlier process counted for began before.
    pub process_since: Timestamp,
}

/// Something happens to a node.
#[derive(Clone, Debug)]
pub enum Input {
    /// Another node says something. `from` is who the transport knows it to be.
    Message {
        /// Who sent it.
        from: Uid,
        /// What it says.
        message: Message,
    },
    /// Somebody here wants something.
    Command(Command),
    /// The moment asked for has come.
    Deadline,
    /// Every write up to that number is on the disk.
    Written(u64),
    /// Whether the disk takes writes: a voter whose disk does not answers nobody.
    DiskWorks(bool),
}

/// What the process around a node can want of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Leave the cluster in order.
    Leave,
    /// Everything that lived here has moved away or was dropped; what [`Event::Drain`] asked for.
    Drained,
    /// Remove that member, if this node or its coordinator can.
    Down(Uid),
    /// Shut the whole cluster down.
    CloseCluster,
    /// A connection to that node was refused or reset.
    Refused(Uid),
    /// What the region of this node wants the coordinator to know. It replaces the report before, is said at once and again until an
    /// empty one is handed over. One that comes before the node is in a cluster is kept.
    Shards(Arc<ShardReport>),
    /// Where shards of a type that is allocated by a function of the user's go, whenever this node is the coordinator. It replaces the
    /// function before.
    Allocate(Custom),
    /// The list of seeds is that from now on.
    Seeds(Arc<[Address]>),
    /// Recover the cluster without those that are dead; an operator confirms that. It ends this life with [`GaveUp::Recovers`], or
    /// changes nothing if [`Node::recovery`](super::Node::recovery) says why not.
    Recover,
}

/// Something a node wants done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Say this to that node. It may get lost, come late, twice or in another order.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        message: Message,
    },
    /// Close every connection to that node and take nothing of it any more: it was removed.
    Close(Uid),
    /// Tell whoever listens.
    Publish(Event),
    /// This life is over. Nothing comes after it.
    End(End),
    /// Write this to the disk, whole or not at all, after everything with a lower number, and say [`Input::Written`] when it is there. Writes that were
    /// given out before the end of a life are to be made, and reported, before the next one starts.
    Write {
        /// Its number in this life.
        number: u64,
        /// What.
        write: Write,
    },
}

/// Whom to send to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// That life, and no other at its address.
    Node(Uid),
    /// Whoever listens there.
    Address(Address),
}

/// What a node has to tell its own process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It belongs to this cluster now: it founded it, or was welcomed.
    Joined(Cluster),
    /// It is a member now.
    Admitted(Version),
    /// Its lease is over: no turn, no start, nothing goes out.
    Suspended,
    /// It has a lease: go on.
    Resumed,
    /// The members, their states or who can hear whom changed.
    Topology,
    /// The table has a new version.
    Table(Version),
    /// That member was removed.
    Removed(Uid, Removal),
    /// What that removed member owned may have new owners.
    Freed(Uid),
    /// It is to leave: move away what lives here, then say [`Command::Drained`].
    Drain,
    /// The whole cluster is shutting down: drop what lives here.
    Closing,
    /// The log of the voter that speaks by that life is shorter than what it had confirmed: its disk was restored from a copy, or has lost writes. It may
    /// be this node's.
    LogLost(Uid),
    /// The second one names the address of the first, which is a member and is heard: it is not admitted. Only the coordinator says so, once for each of them.
    AddressTaken(Uid, Uid),
    /// It founds a cluster, and the era of that earlier one is so far ahead that a clock must have been wrong: the new era is not above it.
    EraIgnored(Cluster),
    /// The settings of its leases are shorter than those of its last life: it says nothing as a voter for so long.
    Rests(Duration),
}

/// Why a life is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It left; the process may stop.
    Left,
    /// The whole cluster was shut down.
    Closed,
    /// The cluster goes on without it: drop everything, come back as a new incarnation.
    GaveUp(GaveUp),
    /// It may not join: come back when the settings agree.
    Refused(Refusal),
    /// What is on its disk cannot be the log of a voter: an operator has to look.
    Unreadable(Unrestorable),
}

/// Why a node gives its life up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It was removed.
    Removed,
    /// It was leaving, and no quorum of the voters has answered it for too long.
    Suspended,
    /// It was suspended, and a node that wants to found showed that its cluster can never go on: all of its voters but too few are new processes, or have given up.
    Over,
    /// It was never admitted, and nobody answers any more.
    Forsaken,
    /// There is another founding of the same name, to which it yields: an older one that works, or the successor of its own.
    Overtaken(Cluster),
    /// The strategy says that who loses a peer stops.
    DownAll,
    /// An operator says that the others are dead: the next life recovers the cluster.
    Recovers,
    /// Its data directory is a copy of an earlier state of one that has been used since: the next life needs a new identity.
    Copy,
}

/// Of which cluster a node is, and whether that works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Greeting {
    /// How the one who greets stands in it.
    pub life: Life,
    /// Which founding.
    pub cluster: Cluster,
    /// The foundings that it succeeded.
    pub ancestors: Ancestors,
    /// What votes and leases go by there; see `Checked::tag`.
    pub settings: u64,
    /// A number that an answer is to repeat; `None` if none is asked for.
    pub nonce: Option<u64>,
    /// The number of the question that this answers.
    pub answers: Option<u64>,
}

/// How a node stands in its cluster, as it says to nodes of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Life {
    /// The cluster has no members yet: it has decided nothing.
    Forming,
    /// The node is not admitted, or has no lease.
    Suspended,
    /// The node has a lease from a quorum of the voters now.
    Working,
}

/// What nodes say to each other.
///
/// With the feature `serde` it can be written and read; on the wire it is written by postcard. There the ORDER of variants and
/// fields is the format, here and in everything inside: a new variant goes to the end, a field is neither added, removed, moved nor
/// retyped, and what must change so is a new variant or a new version of the protocol (see [`Versions`](crate::settings::Versions)).
/// `tests/wire` has bytes of each variant that must be read, and written again, for ever.
///
/// What is read is well-formed: no uid is 0, lists that are sorted are, clocks count, tables are such as entries can make. Whether
/// it is true is for the machines to judge. Whoever reads must see that no byte is left over, and bound the length of what is read:
/// reading takes at most 64 times as much memory, and 64 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Is there a cluster? If not, may I found it?"
    Knock(Arc<Knock>),
    /// "I am in no cluster", and whether the one who asked may found one.
    Promise(Vow),
    /// "I yielded to another": whoever promised for that attempt is free again.
    Release {
        /// The attempt that is given up.
        attempt: u32,
    },
    /// "Yes, this one."
    Welcome(Arc<Welcome>),
    /// "Your settings differ."
    Refused(Refusal),
    /// "That life of yours is over for this cluster: come as another."
    Gone,
    /// "I am of this cluster": to seeds that are not, and to whoever speaks of another one.
    Hello(Greeting),
    /// What those who take part say to each other.
    Word {
        /// Which cluster they take part in, and for how long leases last there by their settings: [`Cluster::tag`] and `Timing::tag`, by exclusive or. One
        /// who knocked on a cluster may have joined another since, or has started again with other settings: without the tag the two would mix.
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))]
        cluster: u64,
        /// What is said.
        word: Word,
    },
    /// To the shared store, where that is the one voter; the peer is [`Uid::STORE`].
    ToStore(store::Ask),
    /// From there.
    FromStore(store::Answer),
    /// "Your data directory is a copy: a later life of it is known here."
    Copy,
}

/// What those who take part in a cluster say to each other: each variant is one module's messages, documented there.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "the module says it")]
pub enum Word {
    Gossip(gossip::Message),
    Heartbeat(heartbeat::Message),
    Log(raft::Message<Change, Arc<Table>>),
    Renew(Renew),
    Renewed(Renewed),
    Feed(Feed),
    Quiet(QuietReport),
    Report(Report),
    Shards(Arc<ShardReport>),
    /// "That life of yours was removed."
    Gone,
    /// "Your log is shorter than what you had confirmed": it is not to vote until it knows of a commit up to that place.
    LogLost(u64),
}

/// Whom a voter has not heard for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QuietReport {
    /// Which report of that voter this is: an older one that comes late or twice says nothing of now.
    pub seq: u64,
    /// Who.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub quiet: Arc<[Uid]>,
}

/// What a member asks of the coordinator, again and again until the table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Report {
    /// It wants to leave.
    Leave,
    /// It has dropped everything.
    Goodbye,
    /// It wants that member removed.
    Down(Uid),
    /// It wants the whole cluster shut down.
    Close,
}
