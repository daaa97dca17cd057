//! Nodes of a Borough cluster on a real network: the shells around the rules of `borough-protocol`.
//!
//! Nothing is decided here. A shell carries bytes, keeps time, and does what a machine says.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod chance;
mod clock;
mod config;
mod control;
mod discovery;
mod door;
mod durability;
mod link;
mod myself;
mod node;
mod security;
mod sharding;
#[doc(hidden)]
pub mod stored;
mod topology;
mod transport;

pub use borough_actor::remote::{ExposeError, Message};
pub use borough_actor::{EntityId, EntityIdError, IntoEntityId};
pub use borough_protocol::formation::FoundWith;
pub use borough_protocol::incarnation::{Address, Incarnation, NodeId, Uid};
pub use borough_protocol::node::{GaveUp, NoRecovery};
pub use borough_protocol::settings::{DetectorKind, Refusal as SettingsRefusal, Settings, Strategy, Unsafe};
pub use borough_protocol::sharding::allocation::{HostLoad, Spread, Strategy as AllocationStrategy};
pub use borough_protocol::sharding::passivation::{Levels as PassivationLevels, Window as PassivationWindow};
pub use borough_protocol::sharding::region::Dropped;
pub use borough_protocol::sharding::{Allocation, Epoch};
pub use borough_protocol::table::Cluster as ClusterId;
pub use borough_protocol::version::{Term, Version};
pub use borough_protocol::voters::{VoterId, Voters};
#[cfg(feature = "json")]
pub use borough_wire::codec::Json;
#[cfg(feature = "message-pack")]
pub use borough_wire::codec::MessagePack;
pub use borough_wire::codec::{Codec, CodecId, Postcard};
pub use borough_wire::handshake::{Secret, SecretTooShort};
pub use borough_wire::limits::{LimitError, Limits};

pub use self::config::{
    Config, ConfigError, DEFAULT_MANAGEMENT_LISTEN, Setting, SettingKind, SettingOrigin, SettingRow,
    settings_page,
};
pub use self::control::{ControlCounts, DataDirectoryState, DataDirectoryStats};
pub use self::discovery::{Discovery, DiscoveryError, DnsSeeds, FileSeeds, Seeds, StaticSeeds};
pub use self::door::refusals::{Refusal, RefusalCounts};
pub use self::durability::DurabilityError;
pub use self::node::{
    Broadcast, BroadcastError, DEFAULT_LEAVE_TIMEOUT, DEFAULT_LISTEN, DataError, DownError, DrainError,
    Gathered, LeaveError, Lookup, ManagementSettings, NamedError, Node, NodeBuilder, NodeHandle,
    RecoverError, RecoveryMember, RecoveryPlan, RemoteLookupError, RunError, StartError,
};
pub use self::security::{SecretError, SecurityError, secret_from_env, secret_from_file};
pub use self::sharding::{
    Asking, DEFAULT_HANDOFF_TIMEOUT, DEFAULT_HOLD_BYTES, DEFAULT_HOLD_LIMIT, DEFAULT_SHARDS,
    DEFAULT_TRANSFER_TIMEOUT, DroppedState, ENTITY_START_TIMEOUT, EntitiesError, EntityMessage, EntityPage,
    EntityRef, EntityStartError, Envelope, EpochRefused, ExplainError, Explanation, Extractor, Fence, Fenced,
    Hindrance, KindStats, Mail, MoveError, NodeStats, Passivation, Policy, ProxyBuilder, Region, RegionError,
    ShardBuilder, ShardDeadLetters, ShardError, ShardEvent, ShardMap, ShardMoves, ShardNews, ShardPlace,
    ShardRefusals, ShardStats, StateLoss, StateLossCount, StateLosses, Stuck, TurnTimes, WedgedWorker,
};
pub use self::topology::{Ended, Failure, Member, MemberState, Standing, Topology, TopologySnapshot};
pub use self::transport::tls::{Tls, TlsDoor, TlsError};

#[doc(hidden)]
pub use self::transport::tls::is_about_certificates;

/// For tests and simulations of whole nodes; no part of the interface that is kept stable.
#[doc(hidden)]
pub mod testing {
    pub use crate::transport::memory::{MemoryNetwork, MemoryTransport};
}
