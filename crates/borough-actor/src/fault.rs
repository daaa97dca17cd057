//! What went wrong in an actor's turn: an error it returned, or a panic it did not catch.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The reason a turn failed; supervision decides by it what happens next.
///
/// Any error becomes a fault with `?`. [`Fault::downcast_ref`] gives it back, so that a supervisor
/// can tell one kind from another. A fault is one pointer in size.
///
/// A panic can be a fault only where it unwinds: in a program built with `panic = "abort"` it ends the process.
///
/// ```
/// use borough_actor::Fault;
///
/// fn parse(text: &str) -> Result<u64, Fault> {
///     Ok(text.parse::<u64>()?)
/// }
/// let fault = parse("seven").unwrap_err();
/// assert!(fault.downcast_ref::<std::num::ParseIntError>().is_some());
/// assert!(!fault.is_panic());
/// ```
pub struct Fault(Box<Cause>);

enum Cause {
    Error(Box<dyn Error + Send + Sync>),
    Panic(String),
    Child { path: String, fault: Fault },
}

impl Fault {
    /// A fault that is only words.
    pub fn new(what: impl fmt::Display) -> Self {
        Self(Box::new(Cause::Error(what.to_string().into())))
    }

    /// A fault of an error whose type is not known any more.
    pub fn from_boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        Self(Box::new(Cause::Error(error)))
    }

    /// The error of type `E` this fault was made from, if it was.
    ///
    /// An escalated fault gives the error of the child that failed first.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match &*self.0 {
            Cause::Error(error) => error.downcast_ref(),
            Cause::Panic(_) => None,
            Cause::Child { fault, .. } => fault.downcast_ref(),
        }
    }

    /// Whether the turn panicked.
    pub fn is_panic(&self) -> bool {
        match &*self.0 {
            Cause::Error(_) => false,
            Cause::Panic(_) => true,
            Cause::Child { fault, .. } => fault.is_panic(),
        }
    }

    /// The child that failed and could not be helped, if this fault was escalated by one.
    pub fn child(&self) -> Option<&str> {
        match &*self.0 {
            Cause::Child { path, .. } => Some(path),
            Cause::Error(_) | Cause::Panic(_) => None,
        }
    }

    /// Runs user code; a panic in it becomes a fault.
    #[inline]
    pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(code)).map_err(Self::from_panic)
    }

    pub(crate) fn from_panic(payload: Box<dyn Any + Send>) -> Self {
        let words = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is no text".to_owned());
        // A payload may panic once more as it is dropped; that must not pass for the actor's own.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        Self(Box::new(Cause::Panic(words)))
    }

    pub(crate) fn escalated(path: String, fault: Self) -> Self {
        Self(Box::new(Cause::Child { path, fault }))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(Box::new(Cause::Error(Box::new(error))))
    }
}

/// The error it was made from; a panic or a child that failed is an error that has its text. With it `?` makes an error of a fault.
impl From<Fault> for Box<dyn Error + Send + Sync> {
    fn from(fault: Fault) -> Self {
        match *fault.0 {
            Cause::Error(error) => error,
            cause => Box::new(Failed(Fault(Box::new(cause)))),
        }
    }
}

/// A fault that is no error of the program's own. [`Fault`] itself cannot be an error, because every error becomes one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(Fault);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Error(error) => {
                write!(f, "{error}")?;
                let mut source = error.source();
                while let Some(cause) = source {
                    write!(f, ": {cause}")?;
                    source = cause.source();
                }
                Ok(())
            }
            Cause::Panic(words) => write!(f, "panicked: {words}"),
            Cause::Child { path, fault } => write!(f, "child {path} failed: {fault}"),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({self})")
    }
}
