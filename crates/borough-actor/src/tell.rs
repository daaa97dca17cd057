//! Telling: the future that waits for room, and how a tell can fail.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ask::turn::{self, Turn};
use crate::entity_id::EntityIdError;
use crate::room::{NoRoom, Room, TurnWait};

/// Why a message was not accepted. It was not handled, and is given back.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TellError<M> {
    /// The actor has stopped, or is stopping.
    #[error("the actor has stopped; the message was not handled")]
    Stopped(M),
    /// The mailbox is full and set to refuse rather than to let senders wait.
    #[error("the mailbox is full and refuses; the message was not handled")]
    Full(M),
    /// The actor lives on another node, and that node is lost.
    #[error("the actor's node is lost; the message was not handled")]
    NodeLost(M),
    /// The actor lives on another node, and the message cannot travel there.
    #[error("the message cannot travel to the actor's node: {1}; it was not handled")]
    Unsendable(M, Unsendable),
    /// It was told in a turn, which does not wait for room any longer.
    #[error("{1}; the message was not handled")]
    NoRoom(M, NoRoom),
}

/// Why a message was not accepted at once. It was not handled, and is given back.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TryTellError<M> {
    /// The actor has stopped, or is stopping.
    #[error("the actor has stopped; the message was not handled")]
    Stopped(M),
    /// There is no room in the mailbox now, or on the way to it.
    #[error("the mailbox is full; the message was not handled")]
    Full(M),
    /// The actor lives on another node, and that node is lost.
    #[error("the actor's node is lost; the message was not handled")]
    NodeLost(M),
    /// The actor lives on another node, and the message cannot travel there.
    #[error("the message cannot travel to the actor's node: {1}; it was not handled")]
    Unsendable(M, Unsendable),
    /// The entity's shard has no owner now, and as much waits for owners on this node as may.
    #[error("{1}; the message was not handled")]
    HoldFull(M, HoldFull),
}

/// As many messages of a type of entities wait on this node for shards without an owner as may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "{messages} messages or {bytes} bytes for {kind} wait here already for shards that have no owner; wait by `tell`, or raise `sharding.hold_limit` or `sharding.hold_bytes`"
)]
pub struct HoldFull {
    /// The type of the entities.
    pub kind: String,
    /// How many messages may wait.
    pub messages: usize,
    /// How many bytes they may take.
    pub bytes: usize,
}

impl HoldFull {
    /// For that type, with these limits.
    pub fn new(kind: String, messages: usize, bytes: usize) -> Self {
        Self { kind, messages, bytes }
    }
}

/// Why a message cannot travel to another node, or to an entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsendable {
    /// Its own serialisation failed.
    #[error("it cannot be encoded: {0}")]
    Encode(String),
    /// It is larger than the nodes take.
    #[error("it takes {size} bytes, and {max} are allowed; raise the limit `message_max` on both nodes")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// Its recipient is no entity's id.
    #[error("{0}")]
    BadId(#[from] EntityIdError),
    /// It does not say for which entity it is.
    #[error("it names no entity: its route gave none")]
    NoRoute,
    /// The type of the entity was declared in this cluster with other settings than here.
    #[error(
        "{kind} has {setting} {here} here and {there} in the cluster; start it with the same value on all nodes"
    )]
    Differs {
        /// The type of the entity.
        kind: String,
        /// Which setting.
        setting: &'static str,
        /// Its value here.
        here: String,
        /// Its value in the cluster.
        there: String,
    },
}

macro_rules! gives_back {
    ($error:ident $(, $more:ident)?) => {
        impl<M> $error<M> {
            /// The message that was not accepted.
            pub fn into_message(self) -> M {
                match self {
                    Self::Stopped(message)
                    | Self::Full(message)
                    | Self::NodeLost(message)
                    | Self::Unsendable(message, _) => message,
                    $(Self::$more(message, _) => message,)?
                }
            }

            /// The same, of what `map` makes of the message that was not accepted.
            pub fn map<N>(self, map: impl FnOnce(M) -> N) -> $error<N> {
                match self {
                    Self::Stopped(message) => $error::Stopped(map(message)),
                    Self::Full(message) => $error::Full(map(message)),
                    Self::NodeLost(message) => $error::NodeLost(map(message)),
                    Self::Unsendable(message, why) => $error::Unsendable(map(message), why),
                    $(Self::$more(message, why) => $error::$more(map(message), why),)?
                }
            }

            /// Whether there was no room.
            pub fn is_full(&self) -> bool {
                matches!(self, Self::Full(_) $(| Self::$more(..))?)
            }

            /// Always `false`: a message that was not accepted reaches no handler.
            pub fn may_have_been_handled(&self) -> bool {
                false
            }
        }

        /// Messages need not be `Debug`; the error still is.
        impl<M> fmt::Debug for $error<M> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Stopped(_) => f.write_str(concat!(stringify!($error), "::Stopped(..)")),
                    Self::Full(_) => f.write_str(concat!(stringify!($error), "::Full(..)")),
                    Self::NodeLost(_) => f.write_str(concat!(stringify!($error), "::NodeLost(..)")),
                    Self::Unsendable(_, why) => {
                        write!(f, concat!(stringify!($error), "::Unsendable(.., {:?})"), why)
                    }
                    $(Self::$more(_, why) => {
                        write!(f, concat!(stringify!($error), "::", stringify!($more), "(.., {:?})"), why)
                    })?
                }
            }
        }
    };
}
impl<M> From<TellError<M>> for TryTellError<M> {
    fn from(error: TellError<M>) -> Self {
        match error {
            TellError::Stopped(message) => Self::Stopped(message),
            TellError::Full(message) | TellError::NoRoom(message, _) => Self::Full(message),
            TellError::NodeLost(message) => Self::NodeLost(message),
            TellError::Unsendable(message, why) => Self::Unsendable(message, why),
        }
    }
}

gives_back!(TellError, NoRoom);
gives_back!(TryTellError, HoldFull);

/// The future of [`ActorRef::tell`](crate::ActorRef::tell).
///
/// The call itself made the first attempt: if there was room, the message is accepted already and
/// this is ready at once. Otherwise awaiting it stands in line for room, first come, first served.
///
/// Cancel safety: dropping it before it is ready withdraws a message that still waits for room; a
/// message that was accepted stays accepted.
#[must_use = "a message for which there was no room is lost if this is not awaited"]
pub struct Tell<M>(Option<Box<State<M>>>);

/// Who stands in line.
pub type Waiting<M> = Pin<Box<dyn Queued<M>>>;

/// A message that stands in line for room.
pub trait Queued<M>: Future<Output = Result<(), TellError<M>>> + Send {
    /// Takes it back; none if it was let in before.
    fn withdraw(self: Pin<Box<Self>>) -> Option<M>;

    /// For whose room it waits; none if what it waits for ends by itself.
    fn room(&self) -> Option<Room> {
        None
    }
}

/// Of a message that was not let in at once. Aside, so that all other tells are one word: a larger one would go by memory wherever it is handed on,
/// written in a small piece and read in large ones, which is waited for.
enum State<M> {
    /// Boxed, so that whoever waits has no room for a message beside its own.
    Refused(Option<Box<TellError<M>>>),
    Waiting(Waiting<M>),
    /// A turn waits for it.
    InTurn(Box<InTurn<M>>),
}

struct InTurn<M> {
    line: Waiting<M>,
    wait: TurnWait,
}

impl<M> Tell<M> {
    /// It was let in.
    #[inline]
    pub fn accepted() -> Self {
        Self(None)
    }

    /// It was not.
    #[cold]
    pub fn refused(why: TellError<M>) -> Self {
        Self(Some(Box::new(State::Refused(Some(Box::new(why))))))
    }

    /// It stands in line.
    #[cold]
    pub fn waiting(line: Waiting<M>) -> Self {
        Self(Some(Box::new(State::Waiting(line))))
    }

    /// Takes the message back; false if it was accepted before.
    pub fn withdraw(self) -> bool {
        match self.0.map(|state| *state) {
            None => false,
            Some(State::Refused(_)) => true,
            Some(State::Waiting(line)) => line.withdraw().is_some(),
            Some(State::InTurn(in_turn)) => in_turn.line.withdraw().is_some(),
        }
    }

    /// Takes the message back; none if it was accepted before.
    pub fn reclaim(self) -> Option<M> {
        match *self.0? {
            State::Refused(why) => why.map(|why| why.into_message()),
            State::Waiting(line) => line.withdraw(),
            State::InTurn(in_turn) => in_turn.line.withdraw(),
        }
    }

    /// Whether there is nothing to wait for: the first attempt succeeded.
    #[inline]
    pub(crate) fn is_accepted(&self) -> bool {
        self.0.is_none()
    }

    /// The outcome of the first attempt, if it was one.
    pub fn at_once(self) -> Result<Result<(), TellError<M>>, Self> {
        match self.0.map(|state| *state) {
            None => Ok(Ok(())),
            Some(State::Refused(Some(why))) => Ok(Err(*why)),
            Some(other) => Err(Self(Some(Box::new(other)))),
        }
    }
}

impl<M: Send + 'static> Tell<M> {
    /// The same, with `map` made of a message that is given back.
    pub fn map<N: Send + 'static>(self, map: impl FnOnce(M) -> N + Send + 'static) -> Tell<N> {
        match self.0.map(|state| *state) {
            None => Tell::accepted(),
            Some(State::Refused(Some(why))) => Tell::refused(why.map(map)),
            Some(State::Refused(None)) => Tell(Some(Box::new(State::Refused(None)))),
            Some(State::Waiting(line)) => Tell::waiting(Box::pin(Mapped { line, map: Some(map) })),
            Some(State::InTurn(in_turn)) => {
                Tell::waiting(Box::pin(Mapped { line: in_turn.line, map: Some(map) }))
            }
        }
    }
}

struct Mapped<M, F> {
    line: Waiting<M>,
    /// Until it has given its result.
    map: Option<F>,
}

impl<M: 'static, N, F: FnOnce(M) -> N + Send> Queued<N> for Mapped<M, F> {
    fn withdraw(self: Pin<Box<Self>>) -> Option<N> {
        let Self { line, map } = *Pin::into_inner(self);
        line.withdraw().zip(map).map(|(message, map)| map(message))
    }

    fn room(&self) -> Option<Room> {
        self.line.room()
    }
}

impl<M, N, F: FnOnce(M) -> N> Future for Mapped<M, F> {
    type Output = Result<(), TellError<N>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let polled = this.line.as_mut().poll(cx);
        polled.map_err(|error| error.map(this.map.take().unwrap_or_else(|| polled_again())))
    }
}

/// What it maps by is never pinned.
impl<M, F> Unpin for Mapped<M, F> {}

#[cold]
fn polled_again() -> ! {
    panic!("a tell was polled after it had given its result")
}

impl<M> Future for Tell<M> {
    type Output = Result<(), TellError<M>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut().0.as_deref_mut() {
            None => Poll::Ready(Ok(())),
            Some(State::Refused(why)) => Poll::Ready(Err(*why.take().unwrap_or_else(|| polled_again()))),
            Some(state) => state.poll_line(cx, true),
        }
    }
}

impl<M> Tell<M> {
    /// As `poll`, for an ask, whose own deadline ends the wait.
    pub(crate) fn poll_for_ask(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TellError<M>>> {
        match self.0.as_deref_mut() {
            Some(state @ (State::Waiting(_) | State::InTurn(_))) => state.poll_line(cx, false),
            _ => Pin::new(self).poll(cx),
        }
    }
}

impl<M> State<M> {
    /// Stands in line; in a turn not in a circle, and for as long as an ask may take if the wait `ends`.
    #[cold]
    fn poll_line(&mut self, cx: &mut Context<'_>, ends: bool) -> Poll<Result<(), TellError<M>>> {
        let (line, waited) = match self {
            Self::Waiting(line) => (line, None),
            Self::InTurn(in_turn) => (&mut in_turn.line, Some(&mut in_turn.wait)),
            Self::Refused(_) => polled_again(),
        };
        if let Poll::Ready(outcome) = line.as_mut().poll(cx) {
            // Whatever comes after is no wait any more.
            *self = Self::Refused(None);
            return Poll::Ready(outcome);
        }
        let turn = turn::current();
        let ended = match waited {
            Some(wait) if turn.is_some_and(|turn| wait.is_of(turn)) => match wait.poll_end(cx) {
                Poll::Ready(why) => why,
                Poll::Pending => return Poll::Pending,
            },
            _ => match self.wait_in(turn, cx, ends) {
                Some(why) => why,
                None => return Poll::Pending,
            },
        };
        Poll::Ready(self.give_back(ended))
    }

    /// It is polled in that turn for the first time, or in none any more. Gives why it does not wait.
    fn wait_in(&mut self, turn: Option<Turn>, cx: &mut Context<'_>, ends: bool) -> Option<NoRoom> {
        let line = match mem::replace(self, Self::Refused(None)) {
            Self::Waiting(line) => line,
            Self::InTurn(in_turn) => in_turn.line,
            refused @ Self::Refused(_) => {
                *self = refused;
                return None;
            }
        };
        let begun = turn.and_then(|turn| TurnWait::begin(turn, line.room()?, ends));
        let (mut wait, line) = match begun {
            Some(Ok(wait)) => (wait, line),
            not => {
                *self = Self::Waiting(line);
                return not.and_then(Result::err);
            }
        };
        let polled = wait.poll_end(cx);
        *self = Self::InTurn(Box::new(InTurn { line, wait }));
        match polled {
            Poll::Ready(why) => Some(why),
            Poll::Pending => None,
        }
    }

    fn give_back(&mut self, why: NoRoom) -> Result<(), TellError<M>> {
        let message = match mem::replace(self, Self::Refused(None)) {
            Self::Waiting(line) => line.withdraw(),
            Self::InTurn(in_turn) => in_turn.line.withdraw(),
            Self::Refused(_) => None,
        };
        // None: it was let in at the last moment.
        message.map_or(Ok(()), |message| Err(TellError::NoRoom(message, why)))
    }
}

/// The message is never pinned, it is boxed.
impl<M> Unpin for Tell<M> {}

impl<M> fmt::Debug for Tell<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.as_deref() {
            None => "Tell(accepted)",
            Some(State::Refused(_)) => "Tell(refused)",
            Some(State::Waiting(_) | State::InTurn(_)) => "Tell(waiting)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tell_is_one_word_however_large_its_message() {
        assert_eq!(size_of::<Tell<[u64; 32]>>(), size_of::<usize>());
        assert!(size_of::<State<[u64; 32]>>() <= 3 * size_of::<usize>());
    }

    #[test]
    fn what_was_refused_is_given_back_once_and_may_be_mapped() {
        assert!(matches!(Tell::refused(TellError::Full(7)).at_once(), Ok(Err(TellError::Full(7)))));
        let mapped = Tell::refused(TellError::Stopped(7)).map(|number| number + 1);
        assert!(matches!(mapped.at_once(), Ok(Err(TellError::Stopped(8)))));
        assert!(Tell::refused(TellError::Full(7)).withdraw() && !Tell::<u8>::accepted().withdraw());
    }
}
