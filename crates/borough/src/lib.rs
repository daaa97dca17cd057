//! Cluster-sharded actors for Rust: millions of stateful entities, each one actor with an id.
//!
//! This crate is the one name to depend on. What exists today: local actors with bounded mailboxes, supervision, asks, timers, watch,
//! stash, an event stream and coordinated shutdown ([`System`]); nodes that form a cluster, know who is in it, and whose actors talk to
//! each other by the same refs ([`Node`]); and entities, spread over the nodes, each in one place, found by id from anywhere ([`Region`]).
//!
//! ```
#![doc = include_str!("../examples/account.rs")]
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | writing an actor, its life-cycle | [`Actor`], [`Context`] |
//! | sending, and what an error says | [`ActorRef`], [`TellError`], [`AskError`] |
//! | bounds and what happens at them | [`MailboxKind`] |
//! | what happens after a fault | [`Supervision`], [`Fault`] |
//! | messages that reached nobody | [`DeadLetters`] |
//! | ending a program in order | [`SystemHandle::shutdown`] |
//! | being a node of a cluster | [`Node`], [`NodeBuilder`] |
//! | entities: hosting them, and what they can be set to | [`Node::shard`], [`ShardBuilder`] |
//! | speaking to entities | [`Region`], [`EntityRef`], [`EntityMessage`], [`Node::shard_proxy`] |
//! | where entities live, and why | [`Node::sharding_stats`], [`Node::explain`], [`Node::shard_events`] |
//! | stores and other effects of entities | [`Fence`](cluster::Fence), [`Context::epoch`] |
//! | who is there | [`Topology`], [`TopologySnapshot`] |
//! | actors on other nodes | [`Node::expose`], [`Node::lookup`], [`Node::broadcast`] |
//! | finding the others | [`Discovery`](cluster::Discovery) |
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub use borough_actor::*;
pub use borough_cluster::{
    EntityMessage, EntityRef, Envelope, Node, NodeBuilder, NodeId, Region, Secret, ShardBuilder, Standing,
    Tls, Topology, TopologySnapshot,
};

/// Nodes and their clusters: everything that a node can be set to, say of its cluster, or fail with.
pub mod cluster {
    pub use borough_cluster::*;
}

/// What most programs need: `use borough::prelude::*`.
pub mod prelude {
    pub use borough_actor::{
        Actor, ActorRef, Context, Directive, Fault, MailboxKind, Reply, StopReason, Supervision, System,
        SystemHandle, Terminated,
    };
    pub use borough_cluster::{EntityMessage, EntityRef, Node, Region, Topology, TopologySnapshot};
    pub use serde::{Deserialize, Serialize};
}

/// Any error of this library, for `main` and for tests: every error here converts into it with `?`.
///
/// An error that gives a message back, as [`TellError`], converts only if the message is `Sync`, as it must be to
/// travel in an error; with one that is not, write `.map_err(|error| error.to_string())?`. The same holds for a
/// [`Fault`].
///
/// Code that acts on errors matches on the type of the operation instead, as [`AskError`].
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The programs in the README are compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The programs in the guide are, too: one item a chapter.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/concepts.md")]
    struct Concepts;
    #[doc = include_str!("../../../docs/guide/not-guaranteed.md")]
    struct NotGuaranteed;
    #[doc = include_str!("../../../docs/guide/rolling-updates.md")]
    struct RollingUpdates;
    #[doc = include_str!("../../../docs/guide/production.md")]
    struct Production;
    #[doc = include_str!("../../../docs/guide/how-many-shards.md")]
    struct HowManyShards;
    #[doc = include_str!("../../../docs/guide/coming-from.md")]
    struct ComingFrom;
    #[doc = include_str!("../../../docs/guide/troubleshooting.md")]
    struct Troubleshooting;
}
