//! The one error type for `main` and for tests.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;

use borough_actor::Fault;

type Boxed = Box<dyn StdError + Send + Sync>;

/// Any error, for `main` and for tests: every error of this library becomes one with `?`, and so does every error of yours, a text, a [`Fault`], and
/// what becomes a `Box<dyn Error + Send + Sync>`.
///
/// Returned from `main` it is printed as a person can read it: the text of the error, then each of its causes that the text does not repeat.
///
/// ```no_run
/// #[tokio::main]
/// async fn main() -> Result<(), borough::Error> {
///     let node = borough::Node::builder("shop").listen("10.0.0.1:25520").start().await?;
///     node.run_until_signal().await?;
///     Ok(())
/// }
/// // Error: 10.0.0.1:25520 can be reached from other machines, and anybody who reaches it could join the cluster: set ..
/// ```
///
/// It leads to the error that it was made from, so all methods of `dyn Error` are there: [`source`](StdError::source), and for those who want to
/// know what went wrong `is`, `downcast_ref`, and [`downcast`](Error::downcast). Code that acts on errors better matches on the type of the operation, as
/// [`AskError`](crate::AskError).
///
/// ```
/// fn count(text: &str) -> Result<u64, borough::Error> {
///     Ok(text.parse::<u64>()?)
/// }
///
/// let error = count("seven").unwrap_err();
/// assert!(error.is::<std::num::ParseIntError>());
/// assert_eq!(format!("{error:?}"), "invalid digit found in string");
/// ```
///
/// As any type that takes every error it is none itself. With `?` it becomes a `Box<dyn Error>` and a [`Fault`]; for a `Box<dyn Error + Send + Sync>` there is
/// [`into_boxed`](Error::into_boxed). An error that gives a message back, as [`TellError`](crate::TellError), becomes one only if the message is `Sync`, as it must be
/// to travel in an error; with one that is not, write `.map_err(|error| error.to_string())?`.
pub struct Error(Boxed);

impl Error {
    /// The error that this was made from.
    pub fn into_boxed(self) -> Box<dyn StdError + Send + Sync> {
        self.0
    }

    /// The error that this was made from, if it is of that type; otherwise this one again.
    pub fn downcast<E: StdError + 'static>(self) -> Result<E, Self> {
        self.0.downcast().map(|error| *error).map_err(Self)
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Error {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        error.0
    }
}

/// So that a handler can use `?` on what functions of the program return. [`Fault::downcast_ref`] finds the error that it was made from.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::from_boxed(error.0)
    }
}

impl Deref for Error {
    type Target = dyn StdError + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What `main` prints: text and causes; with `{:#?}` the fields of the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return fmt::Debug::fmt(&self.0, f);
        }
        let mut text = self.0.to_string();
        f.write_str(&text)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            let own = cause.to_string();
            // Many texts end with that of their cause.
            if !text.contains(&own) {
                write!(f, "\n  caused by: {own}")?;
            }
            text = own;
            next = cause.source();
        }
        Ok(())
    }
}
