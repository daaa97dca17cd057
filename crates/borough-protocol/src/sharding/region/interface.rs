//! What goes into a region and what comes out: the whole boundary.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::incarnation::Uid;
use crate::sharding::{Epoch, Kind, KindId, ShardId, ShardReport};
use crate::table::Table;
use crate::time::Timestamp;
use crate::version::Version;

/// How long a region waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A barrier, or a question of a node that leaves, is sent again after this long.
    pub again: Duration,
    /// So long it is remembered where a shard went; half as long, whence it came.
    pub records: Duration,
    /// So long a node that leaves, or ends a type, waits until everything has moved away. Then what does not move is [forced](Effect::Force), and
    /// what does not move even so is dropped. `None`: it waits for as long as it takes, and drops nothing.
    pub drain: Option<Duration>,
    /// So long after what does not move was forced, or the last of it moved, the rest is dropped.
    pub force: Duration,
    /// So long a node that leaves, and has nothing any more, waits until all others are clear.
    pub clear: Duration,
    /// So long a wish of an operator is repeated.
    pub places: Duration,
}

/// Again after 500 ms, records for 30 s, no end of draining, 10 s for what is forced, 60 s for the others to be clear and for wishes.
impl Default for Patience {
    fn default() -> Self {
        Self {
            again: Duration::from_millis(500),
            records: Duration::from_secs(30),
            drain: None,
            force: Duration::from_secs(10),
            clear: Duration::from_secs(60),
            places: Duration::from_secs(60),
        }
    }
}

/// How long a move of a shard away from here may make no progress. It is called off then, and tried again after a rest.
///
/// The old owner alone judges that: it has the entities that wait, and hears from its lane and from the node the shard moves to how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// So long its entities may take to end their turns.
    pub turns: Duration,
    /// So long nothing of it may arrive, or be said by its lane.
    pub stall: Duration,
}

/// 60 s for turns, and 10 s for anything else.
impl Default for Pace {
    fn default() -> Self {
        Self { turns: Duration::from_secs(60), stall: Duration::from_secs(10) }
    }
}

/// Something happens to a region.
#[derive(Clone, Debug)]
pub enum Input {
    /// A newer committed table; versions may be skipped.
    Table(Arc<Table>),
    /// A type is started here.
    Start {
        /// Which.
        kind: Arc<Kind>,
        /// Whether shards of it may live here; else it is only sent to.
        hosts: bool,
        /// How long its shards may take to move away.
        pace: Pace,
    },
    /// Shards of that type are to live here no more: they move away, and messages still find them. As long as no other hosts the type they live on.
    End {
        /// Its name.
        kind: Arc<str>,
    },
    /// Somebody sends to a shard that has no way; what is sent is held.
    Want(ShardId),
    /// The answer to [`Effect::Close`]: no sender uses the old way any more.
    Closed {
        /// Of which shard.
        shard: ShardId,
        /// Whether anything ever went by the old way.
        used: bool,
    },
    /// The lane has not begun to freeze the shard, because much of others is on its way to the same node.
    PutOff {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move: the `next` of the order.
        epoch: Epoch,
    },
    /// The lane begins to freeze the shard.
    Freezing {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move.
        epoch: Epoch,
    },
    /// The lane has frozen the shard, cut its queue and handed the transfer of that move to the way there.
    Froze {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move: the `next` of the order.
        epoch: Epoch,
    },
    /// The move cannot be: the state cannot be captured or read, or a turn does not end in time.
    Impossible {
        /// Of which shard.
        shard: ShardId,
        /// The epoch of the move.
        epoch: Epoch,
    },
    /// The lane has taken a whole transfer in, and its digest was right.
    Installed {
        /// Of which shard.
        shard: ShardId,
        /// The epoch of the move.
        epoch: Epoch,
    },
    /// The lane has dropped the shard, as ordered by [`Effect::Drop`], and the last of its entities has ended.
    Dropped {
        /// Which shard.
        shard: ShardId,
        /// The epoch it lived at.
        epoch: Epoch,
    },
    /// The store refused the shard: it has seen a higher epoch, or the same one of another owner. No turn runs until it is fenced.
    Refused {
        /// Which shard.
        shard: ShardId,
        /// The epoch that was refused.
        epoch: Epoch,
        /// The highest one that the store has seen.
        seen: Epoch,
    },
    /// The store that had refused the shard takes it after all.
    Fenced {
        /// Which shard.
        shard: ShardId,
        /// The epoch it lives at.
        epoch: Epoch,
    },
    /// Another region says something; or this one, to itself.
    Word {
        /// Who the transport knows it to be.
        from: Uid,
        /// What it says.
        word: Word,
    },
    /// A lane could not pass a barrier on.
    Broken {
        /// Whose barrier it is.
        origin: Uid,
        /// Which of its barriers.
        nonce: u64,
        /// The next hop, which is lost; `None` if there is no record of where the shard went.
        hop: Option<Uid>,
    },
    /// An operator wants that shard there.
    Place {
        /// Which.
        shard: ShardId,
        /// Where.
        to: Uid,
    },
    /// The node leaves: everything moves away.
    Drain,
    /// What still lives here then, while the node leaves, is forced, and dropped if that does not help either: the process is about to end.
    Bound(Timestamp),
    /// All of these, in this order. What there is to report is looked at once, behind the last.
    Many(Vec<Input>),
    /// The moment asked for has come.
    Deadline,
}

/// Something a region wants done. What concerns one shard is done in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// As a sender: hold what is sent to the shard from now on; say [`Input::Closed`] once the last sender by the old way is done.
    Close {
        /// Which shard.
        shard: ShardId,
    },
    /// As a sender: send this in the same stream as the messages of that shard.
    Barrier {
        /// Of which shard.
        shard: ShardId,
        /// To whom; it may be this node.
        to: Uid,
        /// By which tag it is placed there.
        tag: Epoch,
        /// Which barrier of this node it is. The same number is sent again until it is answered.
        nonce: u64,
        /// A straight one: it is answered, or turned into a common one, where the table has come so far.
        min_version: Option<Version>,
    },
    /// As a sender: what is held goes first, in order, then all others.
    Open {
        /// Which shard.
        shard: ShardId,
        /// To whom; it may be this node.
        to: Uid,
        /// The tag of what is sent.
        tag: Epoch,
    },
    /// Order: fence, run, empty.
    Start {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
    },
    /// Order: finish turns, cut, send the transfer of `next`, keep everything, say [`Input::Froze`].
    Freeze {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
        /// To whom it moves.
        to: Uid,
        /// The epoch of the move.
        next: Epoch,
    },
    /// Order: it moves to another instead. Frozen: send the same there. Not frozen yet: send it there once it is.
    Transfer {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
        /// To whom it moves.
        to: Uid,
        /// The epoch of the move.
        next: Epoch,
    },
    /// Order: the move is called off. Run again, the same queue, what came after the cut behind it.
    Resume {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
    },
    /// Order: what was installed at that epoch runs: fence, the carried queue first.
    Run {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
    },
    /// Order: it lives on at a higher epoch, with its state and queue. Finish turns, fence, then run; messages of the epochs before are still its own.
    Raise {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch, until now.
        epoch: Epoch,
        /// The epoch from now on.
        next: Epoch,
    },
    /// Order: drop what was installed, or is being installed, at that epoch.
    Discard {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move that does not take place.
        epoch: Epoch,
    },
    /// Order: frozen at `epoch`, and owned elsewhere now. Drop the state; forward what came after the cut, and what still comes
    /// with that tag, as `next`.
    Release {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch, until now.
        epoch: Epoch,
        /// Who owns it next.
        to: Uid,
        /// Since which epoch.
        next: Epoch,
    },
    /// Order: drop all of it; what is queued is refused.
    Drop {
        /// Which shard.
        shard: ShardId,
        /// Owned here since this epoch.
        epoch: Epoch,
        /// Why.
        why: Dropped,
    },
    /// Order to all lanes of a type: from now on a turn of a shard that is to move is ended by force after a few seconds, although that costs its entity
    /// its state.
    Force {
        /// Which type.
        kind: KindId,
    },
    /// Order: forget one thing of that epoch: whence the shard came, if that is still remembered, else where it went.
    Forget {
        /// Which shard.
        shard: ShardId,
        /// The epoch that the record is of.
        epoch: Epoch,
    },
    /// Say this to the region of that node; it may be this one. It is sent again if it must be.
    Send {
        /// To whom.
        to: Uid,
        /// What.
        word: Word,
    },
    /// What the coordinator is to know; it replaces the last one. An empty one: nothing any more.
    Report(ShardReport),
    /// Tell whoever listens.
    Publish(Event),
    /// Nothing lives here any more, and nobody sends by a way through this node.
    Drained,
}

/// What regions say to each other. Each may come late or twice.
///
/// With the feature `serde` it can be written and read; as for all messages, the order of variants and fields is the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Word {
    /// The barrier has reached the running host: everything sent before it is there.
    BarrierDone {
        /// Which barrier.
        nonce: u64,
    },
    /// The barrier can go no further on this way. A straight one, answered where the table is at this version, will do.
    ChainBroken {
        /// Which barrier.
        nonce: u64,
        /// The version.
        version: Version,
    },
    /// The one who says it owns nothing since that version, and leaves once nobody sends through it.
    Leaving {
        /// The version.
        version: Version,
    },
    /// The answer to [`Word::Leaving`]: nothing that was sent here before that version is under way any more.
    Clear {
        /// The version that was asked about.
        version: Version,
    },
    /// To the owner of a shard, from the node that it moves to: so much has arrived.
    Taken {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move.
        epoch: Epoch,
        /// How many of its parts.
        parts: u32,
    },
}

/// Why what lived in a shard was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The node is no member any more.
    NotAdmitted,
    /// The shard began anew elsewhere.
    BeganAnew,
    /// It is owned elsewhere although it never moved away; this is an alarm.
    Overtaken,
    /// The node leaves, or the type ends there, and no other hosts the type.
    NoOtherHost,
    /// The node leaves, or the type ends there, and the shard had not moved away by the bound that was set for that.
    TooLate,
    /// The whole cluster shuts down.
    Closing,
}

/// What a region has to tell of the shards of the types started here. Versions of the table may be skipped, and what happened in them
/// is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The shard began anew, at that node.
    Allocated {
        /// Which shard.
        shard: ShardId,
        /// Who owns it.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
    },
    /// It is to move.
    Moving {
        /// Which shard.
        shard: ShardId,
        /// Who owns it.
        from: Uid,
        /// To whom.
        to: Uid,
        /// The epoch of the move.
        epoch: Epoch,
    },
    /// It has moved.
    Moved {
        /// Which shard.
        shard: ShardId,
        /// Who owns it now.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
    },
    /// The move does not take place.
    CalledOff {
        /// Which shard.
        shard: ShardId,
        /// The epoch of the move.
        epoch: Epoch,
    },
    /// It runs here now.
    Hosted {
        /// Which shard.
        shard: ShardId,
        /// Since which epoch.
        epoch: Epoch,
        /// Whether it came with its state; else it began anew.
        moved: bool,
    },
    /// What lived here was dropped.
    Dropped {
        /// Which shard.
        shard: ShardId,
        /// It was owned here since this epoch.
        epoch: Epoch,
        /// Why.
        why: Dropped,
    },
    /// The owner has it at a higher epoch, because a store refused the one before.
    Raised {
        /// Which shard.
        shard: ShardId,
        /// Who owns it.
        owner: Uid,
        /// Since which epoch.
        epoch: Epoch,
    },
    /// The store refuses the shard, which is owned here: no turn of it runs.
    Refused {
        /// Which shard.
        shard: ShardId,
        /// The epoch that was refused.
        epoch: Epoch,
        /// The highest one that the store has seen.
        seen: Epoch,
        /// Whether that one is too far in the future to be followed: an operator must correct the store. Otherwise a higher epoch is asked for.
        is_far_ahead: bool,
    },
}
