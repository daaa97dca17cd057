//! Why a type of entities was not started or found.

use borough_protocol::sharding::{Hashing, Kind};
use borough_protocol::table::{NoRoom, Table};
use borough_wire::codec::CodecId;

use crate::node::NamedError;

/// Why a type of entities was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// The name of a type is empty or too long.
    #[error("the name of a type of entities has {length} bytes; it may have 1 to {max}")]
    Name {
        /// How many it has.
        length: usize,
        /// How many it may have.
        max: usize,
    },
    /// The type has no shards, or too many.
    #[error("{kind} is to have {shards} shards; 1 to {max} are possible")]
    Shards {
        /// The type.
        kind: String,
        /// How many it is to have.
        shards: u32,
        /// How many it may have.
        max: u32,
    },
    /// The role of a type is empty or too long.
    #[error("the role of {kind} has {length} bytes; it may have 1 to {max}")]
    Role {
        /// The type.
        kind: String,
        /// How many it has.
        length: usize,
        /// How many it may have.
        max: usize,
    },
    /// The cluster has as many types as it may. It forgets none, so this stays so.
    #[error(
        "{kind} is one type too many: the cluster has {max}, and forgets none; tell entities apart by their ids"
    )]
    TooManyTypes {
        /// The type.
        kind: String,
        /// How many there may be.
        max: usize,
    },
    /// The types of the cluster would have more shards than they may, all together. It forgets no type, so this stays so.
    #[error(
        "{kind} is to have {shards} shards, and the other types of the cluster have {declared}; all together may have {max}, and the cluster forgets none"
    )]
    TooManyShards {
        /// The type.
        kind: String,
        /// How many it is to have.
        shards: u32,
        /// How many the other types have.
        declared: u64,
        /// How many all may have.
        max: u64,
    },
    /// The type is started on this node already.
    #[error("{kind} is started on this node already, with messages of type {takes}; `node.region` finds it")]
    Taken {
        /// The type.
        kind: String,
        /// The type of its messages.
        takes: &'static str,
    },
    /// The codec of the type is not built in.
    #[error(
        "{kind} is to have the codec {codec}, which is not built in: switch on its feature (`message-pack`, `json`) of borough, on every node, or choose another"
    )]
    Codec {
        /// The type.
        kind: String,
        /// The codec.
        codec: CodecId,
    },
    /// The cluster has agreed on other settings for the type.
    #[error("{kind} has {setting} {ours} here and {theirs} in the cluster; all nodes must say the same")]
    Differs {
        /// The type.
        kind: String,
        /// Which setting.
        setting: &'static str,
        /// What it is here.
        ours: String,
        /// What the cluster agreed on.
        theirs: String,
    },
    /// The node has ended.
    #[error("the node has ended; no type can be started on it")]
    Ended,
}

/// Why a region was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// No type of that name was started on this node.
    #[error("no type {kind} was started on this node; start it with `node.shard` or `node.shard_proxy`")]
    NotStarted {
        /// The type.
        kind: String,
    },
    /// It takes other messages.
    #[error("{kind} takes messages of type {takes}, not {wanted}")]
    OtherMessages {
        /// The type.
        kind: String,
        /// What it takes.
        takes: &'static str,
        /// What was wanted.
        wanted: &'static str,
    },
}

impl ShardError {
    /// The first setting in which a type differs from what the cluster agreed on.
    pub(super) fn differing(ours: &Kind, theirs: &Kind) -> Option<Self> {
        let none = || "none".to_owned();
        let role = |kind: &Kind| kind.role.as_ref().map_or_else(none, ToString::to_string);
        // A newer version may have declared the type with a codec that this one has no name for.
        let codec = |kind: &Kind| {
            let named = CodecId::from_number(kind.codec).map(|codec| codec.to_string());
            named.unwrap_or_else(|| format!("number {}", kind.codec))
        };
        let (setting, ours_said, theirs_said) = if ours.shards != theirs.shards {
            ("shard count", ours.shards.to_string(), theirs.shards.to_string())
        } else if ours.hashing != theirs.hashing {
            match (ours.hashing, theirs.hashing) {
                (Hashing::Custom(a), Hashing::Custom(b)) => {
                    ("shard function", format!("{a:016x}"), format!("{b:016x}"))
                }
                (a, b) => ("hash", format!("{a:?}"), format!("{b:?}")),
            }
        } else if ours.role != theirs.role {
            ("role", role(ours), role(theirs))
        } else if ours.codec != theirs.codec {
            ("codec", codec(ours), codec(theirs))
        } else if ours.allocation != theirs.allocation {
            ("allocation", format!("{:?}", ours.allocation), format!("{:?}", theirs.allocation))
        } else if ours.min_hosts != theirs.min_hosts {
            ("minimum of regions", ours.min_hosts.to_string(), theirs.min_hosts.to_string())
        } else {
            return None;
        };
        Some(Self::Differs { kind: ours.name.to_string(), setting, ours: ours_said, theirs: theirs_said })
    }
}

impl ShardError {
    /// Why the cluster never gets to know a type that it does not know yet; `None` if it may.
    pub(super) fn undeclarable(kind: &Kind, table: &Table) -> Option<Self> {
        let name = kind.name.to_string();
        Some(match table.room_for(kind).err()? {
            NoRoom::Kinds { max } => Self::TooManyTypes { kind: name, max },
            NoRoom::Shards { declared, max } => {
                Self::TooManyShards { kind: name, shards: kind.shards, declared, max }
            }
        })
    }
}

/// Why an entity was not started; see [`Region::start`](super::Region::start).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntityStartError {
    /// The id is none.
    #[error(transparent)]
    Id(#[from] borough_actor::EntityIdError),
    /// It failed as it began, or ended at once. Its supervision goes on as for any fault.
    #[error("{entity} failed or ended as it began; the log of its node says why")]
    Failed {
        /// The type and the id.
        entity: String,
    },
    /// It was not known to live in time; it may all the same be started.
    #[error("{entity} was not known to live within {time:?}: {why}")]
    Timeout {
        /// The type and the id.
        entity: String,
        /// How long it had.
        time: std::time::Duration,
        /// Where its shard is by this node's table, and why.
        why: String,
    },
    /// This node takes nothing for the type; the entity was not started.
    #[error("{entity} is not started from here: {why}")]
    Refused {
        /// The type and the id.
        entity: String,
        /// Why.
        why: String,
    },
}

/// Why the entities of a shard cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntitiesError {
    /// The cluster does not know the type, or this node is in no cluster.
    #[error("this node knows of no type {kind} in its cluster")]
    Unknown {
        /// The type.
        kind: String,
    },
    /// The type has no such shard.
    #[error("{kind} has no shard {shard}: it has {shards}, counted from 0")]
    Shard {
        /// The type.
        kind: String,
        /// Which was named.
        shard: u32,
        /// How many there are.
        shards: u32,
    },
    /// The shard has no owner at the moment, or is just about to run at the next one.
    #[error("shard {shard} of {kind} is between two owners; ask again")]
    Between {
        /// The type.
        kind: String,
        /// The shard.
        shard: u32,
    },
    /// The owner of the shard did not answer in time.
    #[error("{node_id} owns shard {shard} of {kind} and did not answer in time; ask again")]
    Silent {
        /// The type.
        kind: String,
        /// The shard.
        shard: u32,
        /// The owner.
        node_id: borough_protocol::incarnation::NodeId,
    },
}

/// Why nothing can be said of an entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// No type of that name was started on this node.
    #[error("no type {kind} was started on this node; start it with `node.shard` or `node.shard_proxy`")]
    NotStarted {
        /// The type.
        kind: String,
    },
    /// The id is none.
    #[error(transparent)]
    Id(#[from] borough_actor::EntityIdError),
}

/// Why a shard is not asked to move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The name leads to no node.
    #[error(transparent)]
    Node(#[from] NamedError),
    /// The cluster does not know the type.
    #[error("the cluster knows no type {kind}")]
    Unknown {
        /// The type.
        kind: String,
    },
    /// The type has no such shard.
    #[error("{kind} has no shard {shard}: it has {shards}, counted from 0")]
    Shard {
        /// The type.
        kind: String,
        /// Which was named.
        shard: u32,
        /// How many there are.
        shards: u32,
    },
    /// The node does not host the type.
    #[error("{node_id} does not host {kind}")]
    NoHost {
        /// The type.
        kind: String,
        /// The node.
        node_id: String,
    },
}
