//! Bringing an actor to life.

use std::fmt;
use std::sync::Arc;

use super::Core;
use super::registry::Rejected;
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::cell::ActorCell;
use crate::context::Context;
use crate::host;
use crate::id::ActorId;
use crate::mailbox_kind::MailboxKind;
use crate::path::{self, NameError};
use crate::supervision::Supervision;

/// An actor about to be started; see [`SystemHandle::actor`](crate::SystemHandle::actor) and [`Context::actor`].
///
/// ```
/// # use borough_actor::*;
/// # struct Printer;
/// # impl Actor for Printer {
/// #     type Msg = String;
/// #     async fn receive(&mut self, _: String, _: &mut Context<Self>) -> Result<(), Fault> { Ok(()) }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = System::new("doc")?;
/// let printer = system
///     .actor(|| Printer)
///     .name("printer")
///     .mailbox(MailboxKind::dropping_oldest(100))
///     .supervision(Supervision::always(Directive::Resume))
///     .spawn()?;
/// assert_eq!(printer.path(), "/printer");
/// # Ok(()) }
/// ```
#[must_use = "an actor is started by `spawn`"]
pub struct Spawn<A: Actor, F> {
    core: Arc<Core>,
    parent: Option<ActorId>,
    name: Option<String>,
    mailbox: MailboxKind<A::Msg>,
    supervision: Option<Supervision>,
    make: F,
}

/// Why an actor was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The name cannot stand in a path.
    #[error("no actor can be called {name:?}: the name {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: NameError,
    },
    /// An actor of this path is alive.
    #[error("there is an actor at {path} already; stop it first, or choose another name")]
    NameTaken {
        /// The path.
        path: String,
    },
    /// The system shuts down, or the parent is gone.
    #[error("the system takes in no actor any more: it shuts down, or the parent has stopped")]
    Stopping,
}

impl<A: Actor, F: FnMut() -> A + Send + 'static> Spawn<A, F> {
    pub(crate) fn new(core: Arc<Core>, parent: Option<ActorId>, make: F) -> Self {
        Self { core, parent, name: None, mailbox: MailboxKind::default(), supervision: None, make }
    }

    /// A name, one among its siblings; by it the actor can be looked up. Without one its path shows its id.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The kind of mailbox; 1024 messages, then senders wait, unless set.
    pub fn mailbox(mut self, kind: MailboxKind<A::Msg>) -> Self {
        self.mailbox = kind;
        self
    }

    /// How faults are answered; by restarts with backoff, unless set.
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.supervision = Some(supervision);
        self
    }

    /// Starts the actor. Messages can be sent to it at once; `started` runs before the first is handled.
    pub fn spawn(self) -> Result<ActorRef<A::Msg>, SpawnError> {
        if let Some(name) = &self.name {
            path::check(name).map_err(|why| SpawnError::Name { name: name.clone(), why })?;
        }
        let (core, mailbox) = (self.core, self.mailbox.build());
        let make_cell = |id, path: Option<Arc<str>>| {
            if let Some(path) = path {
                mailbox.set_label(path);
            }
            ActorCell { mailbox, id, core: core.clone() }
        };
        let enrolled = core.registry.enrol(self.parent, self.name.as_deref(), make_cell);
        let cell = enrolled.map_err(|rejected| match rejected {
            Rejected::Closed => SpawnError::Stopping,
            Rejected::NameTaken(path) => SpawnError::NameTaken { path },
        })?;
        let context = Context::new(cell.clone(), self.supervision);
        drop(core.runtime.spawn(host::run(context, self.make)));
        Ok(ActorRef::here(cell))
    }
}

/// Starts an actor without a name; into a system that stops, an address that refuses everything.
pub(crate) fn nameless<A: Actor>(
    core: &Arc<Core>,
    parent: Option<ActorId>,
    make: impl FnMut() -> A + Send + 'static,
) -> ActorRef<A::Msg> {
    Spawn::new(core.clone(), parent, make)
        .spawn()
        .unwrap_or_else(|_| ActorRef::here(Arc::new(ActorCell::closed(core.clone()))))
}

impl<A: Actor, F> fmt::Debug for Spawn<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("name", &self.name)
            .field("mailbox", &self.mailbox)
            .finish_non_exhaustive()
    }
}
