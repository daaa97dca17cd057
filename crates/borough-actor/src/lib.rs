//! Local actors on tokio: the ground floor of Borough.
//!
//! An [`Actor`] is a piece of state that handles one message at a time. A [`System`] owns a tree of them. An
//! [`ActorRef`] is an address: [`tell`](ActorRef::tell) sends and waits for room, [`ask`](ActorRef::ask) waits for the
//! answer too.
//!
//! # The way of one message
//!
//! ```text
//! ActorRef::tell(message)          actor_ref.rs   the call makes the first attempt itself
//!   Mailbox::push                  mailbox/       a bounded queue under one short lock; wakes a parked reader
//!     |- full: Line                cell.rs        stands in line for room, first come, first served
//!   host::run                      host/          the actor's task: takes a batch, about 50 us' worth
//!     Fence::poll                  host/turn.rs   a panic becomes a fault, a kill takes effect
//!       Actor::receive             yours
//! reply.send(answer)               ask/           straight into the asker's slot
//! ```
//!
//! # Promises
//!
//! - Messages of one task to one actor are handled in the order they were accepted.
//! - Accepted means: handled, or a dead letter counted with its reason. Refused means: given back.
//! - Every error says whether the message may have been handled.
//! - Nothing of an actor outlives it: its timers, watches and children end with it.
//! - No task is left when the system is gone.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod actor;
mod actor_ref;
mod adapter;
mod ask;
mod block_on;
mod cell;
mod context;
mod dead_letters;
mod entity_id;
mod events;
mod fault;
mod host;
mod id;
mod item;
mod mailbox;
mod mailbox_kind;
mod path;
pub mod remote;
pub mod resident;
mod room;
mod shutdown;
mod supervision;
mod sync;
mod system;
mod tell;
mod time;
mod watch;

pub use self::actor::Actor;
pub use self::actor_ref::ActorRef;
pub use self::ask::{Ask, AskError, Reply};
pub use self::context::{Context, StashFull, TimerKey, Timers};
pub use self::dead_letters::{DeadLetter, DeadLetterReason, DeadLetters};
pub use self::entity_id::{EntityId, EntityIdError, IntoEntityId};
pub use self::events::{Event, EventStream, Subscription};
pub use self::fault::Fault;
pub use self::id::ActorId;
pub use self::mailbox_kind::{DEFAULT_CAPACITY, MailboxKind};
pub use self::path::NameError;
pub use self::room::{LongWait, NoRoom};
pub use self::shutdown::{OnShutdownError, PhaseError, PhaseReport, ShutdownReport};
pub use self::supervision::{ActorFailed, Directive, Supervision};
pub use self::system::{
    DEFAULT_ASK_TIMEOUT, LookupError, Spawn, SpawnError, StartError, System, SystemBuilder, SystemHandle,
};
pub use self::tell::{HoldFull, Tell, TellError, TryTellError, Unsendable};
pub use self::watch::{StopReason, Stopped, Terminated};
