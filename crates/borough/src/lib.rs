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
//! # In short
//!
//! - An **entity** is an actor with an id: an enum says what may be said to it, a struct is its state, [`Actor::receive`] is what it does, one
//!   message at a time. Its first message makes it.
//! - Ids hash to **shards**, shards live on **nodes**. Which node owns which shard is agreed on by a quorum and known to all, so a message needs no
//!   directory: [`Region::tell`] and [`Region::ask`] find the entity wherever it lives.
//! - Nodes come and go: [`Node::builder`] with the same seeds everywhere, [`Node::leave`] or [`Node::run_until_signal`] to go in order.
//!   Shards **move**, with state ([`ShardBuilder::migrate_state`]), queues and timers, and nothing is lost, doubled or reordered.
//! - After a **crash** the shards of the lost node begin anew elsewhere, about 3 s later: never before its lease is over, so no entity ever runs in
//!   two places. What was only in the dead process is lost.
//! - `Ok` of a **tell** means accepted, in order; who needs to know that it was handled **asks**. Every [`AskError`] says whether the message may
//!   have been handled.
//! - A node that cannot reach a quorum runs nothing until it can ([`Standing::Suspended`]). Three nodes bear the loss of one;
//!   [`TopologySnapshot::tolerates`] says how many more may be lost.
//!
//! Two nodes of one cluster, and an entity that moves from one to the other with what it knows:
//!
//! ```
//! use borough::prelude::*;
//!
//! #[derive(Serialize, Deserialize)]
//! enum Meter {
//!     Add(u64, Reply<u64>),
//! }
//!
//! #[derive(Default, Serialize, Deserialize)]
//! struct MeterEntity {
//!     total: u64,
//! }
//!
//! impl Actor for MeterEntity {
//!     type Msg = Meter;
//!     async fn receive(&mut self, Meter::Add(used, reply): Meter, _ctx: &mut Context<Self>) -> Result<(), Fault> {
//!         self.total += used;
//!         reply.send(self.total);
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), borough::Error> {
//! let first = Node::builder("city").listen("127.0.0.1:0").start().await?;
//! let meters = first.shard("meters", |_id| MeterEntity::default()).migrate_state().start().await?;
//! assert_eq!(meters.ask("main-street", |reply| Meter::Add(3, reply)).await?, 3);
//!
//! let second = Node::builder("city").listen("127.0.0.1:0").seed(first.address().as_str()).start().await?;
//! second.wait_for(2).await?;
//! let meters = second.shard("meters", |_id| MeterEntity::default()).migrate_state().start().await?;
//! first.leave().await?; // and all its meters move
//! assert_eq!(meters.ask("main-street", |reply| Meter::Add(4, reply)).await?, 7);
//! # second.leave().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [guide](https://github.com/borough-rs/borough/blob/main/docs/guide/first-hour.md) has the first hour, concepts with pictures, what is not
//! guaranteed, production, rolling updates and troubleshooting; `cargo xtask guide` makes a book of it. The
//! [examples](https://github.com/borough-rs/borough/blob/main/crates/borough/examples/README.md) tell a story each, from two nodes that share an account
//! to a web front end and a database.
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
//! | settings from a file and the environment | [`Config`] |
//! | finding the others | [`Discovery`](cluster::Discovery) |
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod error;

pub use borough_actor::*;
pub use borough_cluster::{
    Config, EntityMessage, EntityRef, Envelope, Node, NodeBuilder, NodeId, Region, Secret, ShardBuilder,
    Standing, Tls, Topology, TopologySnapshot,
};

pub use self::error::Error;

/// Nodes and their clusters: everything that a node can be set to, say of its cluster, or fail with.
pub mod cluster {
    pub use borough_cluster::*;
}

/// What most programs need: `use borough::prelude::*`.
pub mod prelude {
    pub use borough_actor::{
        Actor, ActorRef, Context, Directive, EntityId, Fault, IntoEntityId, MailboxKind, Reply, StopReason,
        Supervision, System, SystemHandle, Terminated,
    };
    pub use borough_cluster::{EntityMessage, EntityRef, Node, Region, Topology, TopologySnapshot};
    pub use serde::{Deserialize, Serialize};
}

/// The programs in the README are compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The programs in the guide are, too: one item a chapter.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/first-hour.md")]
    struct FirstHour;
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
    #[doc = include_str!("../../../docs/settings.md")]
    struct Settings;
    #[doc = include_str!("../../../docs/management.md")]
    struct Management;
    #[doc = include_str!("../../../docs/security.md")]
    struct Security;
    #[doc = include_str!("../../borough-management/README.md")]
    struct ManagementReadme;
}
