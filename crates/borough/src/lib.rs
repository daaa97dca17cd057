//! Cluster-sharded actors for Rust: millions of stateful entities, each one actor with an id.
//!
//! This crate is the one name to depend on. What exists today is the ground floor: local actors with
//! bounded mailboxes, supervision, asks, timers, watch, stash, an event stream and coordinated
//! shutdown. The cluster, and sharding on top of it, are built on it next.
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
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub use borough_actor::*;

/// What most programs need: `use borough::prelude::*`.
pub mod prelude {
    pub use borough_actor::{
        Actor, ActorRef, Context, Directive, Fault, MailboxKind, Reply, StopReason, Supervision, System,
        SystemHandle, Terminated,
    };
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
