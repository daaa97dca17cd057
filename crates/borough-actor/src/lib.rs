//! Local actors on tokio.

mod actor;
mod actor_ref;
mod adapter;
mod ask;
mod cell;
mod context;
mod dead_letters;
mod events;
mod fault;
mod host;
mod id;
mod item;
mod mailbox;
mod mailbox_kind;
mod path;
mod shutdown;
mod supervision;
mod sync;
mod system;
mod tell;
mod watch;

pub use self::actor::Actor;
pub use self::actor_ref::ActorRef;
pub use self::ask::{Ask, AskError, Reply};
pub use self::context::{ActorFailed, Context, StashFull, TimerKey, Timers};
pub use self::dead_letters::{DeadLetter, DeadLetterReason, DeadLetters};
pub use self::events::{Event, EventStream, Subscription};
pub use self::fault::Fault;
pub use self::id::ActorId;
pub use self::mailbox_kind::{DEFAULT_CAPACITY, MailboxKind};
pub use self::path::NameError;
pub use self::shutdown::{OnShutdownError, PhaseReport, ShutdownReport};
pub use self::supervision::{Directive, Supervision};
pub use self::system::{
    DEFAULT_ASK_TIMEOUT, LookupError, Spawn, SpawnError, StartError, System, SystemBuilder, SystemHandle,
};
pub use self::tell::{Tell, TellError, TryTellError};
pub use self::watch::{StopReason, Stopped, Terminated};
