//! The seam for those who host actors that have no task and no mailbox of their own: `borough-cluster`, for entities.
//!
//! ```text
//! host                                       this crate
//! Mailbox, Batch, Letter                     the queue of a task that hosts many (its letters are the host's own)
//! Station  ---------------------------->     the task's place in the registry: it is asked to end like any actor
//! Context::settle -> turn -> unsettle        one resident's turn: actor and context go in and come back
//! Belongings                                 what few residents have between turns: timers, stash, watches, children
//! Recipient, Route                           ways to a resident, for asks and for refs
//! ```
//!
//! Promises: a resident sees the same [`Actor`](crate::Actor) and [`Context`](crate::Context) as any other actor. A panic in its turn gives it back,
//! with everything it has. Children, watches and adapters end with the resident they belong to.

mod annex;
mod belongings;
mod lodger;
mod recipient;
mod station;
mod turn;

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

pub(crate) use self::annex::Annex;
pub use self::annex::{Annexed, Summons};
pub use self::belongings::Belongings;
pub(crate) use self::lodger::Resident;
pub use self::lodger::{House, Lodger};
pub use self::recipient::Recipient;
pub use self::station::Station;
pub use self::turn::{Ended, Turned, arrive, begin, end, message, terminated};
use crate::actor_ref::ActorRef;
pub use crate::actor_ref::{Asked, Route, SystemRef};
pub use crate::ask::AskId;
use crate::ask::{Ask, AskTable, turn as turns};
pub use crate::ask::{discard, travelled};
use crate::entity_id::EntityId;
pub use crate::entity_id::IdView;
use crate::fault::Fault;
use crate::id::ActorId;
pub use crate::mailbox::{Batch, Letter, Mailbox, Refusal, Taken, Ticket, WhenFull};
pub use crate::remote::passage::{taken as taken_replies, with_scratch};
pub use crate::room::Room;
use crate::supervision::{ActorFailed, Directive};
use crate::system::SystemHandle;
pub use crate::tell::{Queued, Waiting};

/// The address that leads by that way.
pub fn through<M>(route: Arc<dyn Route<M>>) -> ActorRef<M> {
    ActorRef::through(route)
}

/// The runtime that a system's actors run on.
pub fn runtime(system: &SystemHandle) -> tokio::runtime::Handle {
    system.core().runtime.clone()
}

/// Asks somebody who is no [`ActorRef`]. Without a timeout the system's own holds.
#[inline]
pub fn ask<R: Recipient, T, F>(recipient: R, timeout: Option<Duration>, message: F) -> Ask<R, T, F>
where
    T: Send + 'static,
    F: FnOnce(crate::Reply<T>) -> R::Message,
{
    let timeout = timeout.unwrap_or(recipient.system().0.settings.ask_timeout);
    Ask::new(recipient, timeout, message)
}

/// What was encoded does not travel after all: those [taken](taken_replies) for its replies are given back.
pub fn take_back_replies(system: SystemRef<'_>, taken: Vec<u64>) {
    crate::ask::take_back(&system.0.asks, taken);
}

/// Runs user code; a panic in it becomes a fault.
#[inline]
pub fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Fault> {
    Fault::catch(code)
}

/// Makes a message, by user code that may panic; asks in what it drops of it learn that no handler saw them.
#[inline]
pub fn decoding<T>(code: impl FnOnce() -> T) -> Result<T, Fault> {
    Fault::catch(|| crate::ask::discarding(code))
}

/// Tells whoever listens that a resident failed, and what is done about it.
pub fn report_failure(system: &SystemHandle, path: String, fault: &Fault, directive: Directive) {
    let failed = ActorFailed { path, fault: fault.to_string(), directive };
    tracing::warn!(actor = %failed.path, fault = %failed.fault, ?directive, "an entity failed");
    system.events().publish(failed);
}

/// A moment by the clock of a system's asks, in milliseconds. Whoever looks at many asks of other nodes reads it once for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskClock(u32);

impl AskClock {
    /// Reads it.
    pub fn now(system: SystemRef<'_>) -> Self {
        Self(system.0.asks.clock())
    }

    /// Names the ask of another node, of that incarnation if it is known, whose asker waits for so long from then on.
    #[inline]
    pub fn ask_from_abroad(self, left: Duration, uid: Option<u64>) -> AskId {
        AskTable::name_abroad(self.0, left, uid)
    }
}

/// Whether the asker of that ask has given up, by `now`; without it the clock is read.
#[inline]
pub fn is_given_up(system: SystemRef<'_>, ask: AskId, now: Option<AskClock>) -> bool {
    match (ask.deadline_abroad(), now) {
        (Some(deadline), Some(now)) => AskTable::is_past(deadline, now.0),
        _ => system.0.asks.is_given_up(ask),
    }
}

/// Names the ask of another node whose asker waits for so long from now on.
pub fn ask_from_abroad(system: SystemRef<'_>, left: Duration) -> AskId {
    AskClock::now(system).ask_from_abroad(left, None)
}

/// How long the asker of another node's ask still waits; `None` if it is an ask of this node.
pub fn time_left(system: SystemRef<'_>, ask: AskId) -> Option<Duration> {
    ask.deadline_abroad().map(|deadline| system.0.asks.until(deadline))
}

/// The words of an id, by which another thread can tell it; see [`id_of_words`].
#[inline]
pub fn id_words(id: &EntityId) -> [u64; 3] {
    IdView::of(id).words()
}

/// The id of these words; `None` if it is longer than what fits there.
#[inline]
pub fn id_of_words(words: [u64; 3]) -> Option<EntityId> {
    EntityId::of_words(words)
}

/// A number that depends on every byte of the id and on its type's, and on chance that this process drew as it began: who chooses ids
/// cannot choose it.
#[inline]
pub fn hash(kind: u64, id: &EntityId) -> u64 {
    hash_of(kind, IdView::of(id))
}

/// As [`hash`].
#[inline]
pub fn hash_of(kind: u64, id: IdView<'_>) -> u64 {
    static CHANCE: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("entities"));
    let seed = kind ^ *CHANCE;
    let [a, b, c] = id.words();
    let mut hash = fold(a ^ seed, b ^ 0x9E37_79B9_7F4A_7C15);
    hash = fold(hash ^ c, seed ^ 0xD6E8_FEB8_6659_FD93);
    match id.long() {
        None => hash,
        Some(bytes) => hash_long(hash, bytes),
    }
}

#[cold]
fn hash_long(mut hash: u64, bytes: &[u8]) -> u64 {
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = fold(hash ^ u64::from_le_bytes(word), 0xA076_1D64_78BD_642F);
    }
    hash
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let folded = wide as u64 ^ (wide >> 64) as u64;
    folded
}

/// Whether this thread is in a turn of that actor, which would wait for itself.
pub fn is_turn_of(system: SystemRef<'_>, actor: ActorId) -> bool {
    turns::is_of(system.0.asks.number, actor)
}

/// As who the entity of that [`hash`] counts in its system: in chains of asks, and where refs are compared.
#[inline]
pub fn actor_id(hash: u64) -> ActorId {
    ActorId::of_entity(hash)
}

/// Who is found to ask in a circle, though it has no place in the registry.
pub fn note_awaiting(system: &SystemHandle, entity: ActorId, path: impl FnOnce() -> String) {
    system.core().registry.note_awaiting(entity, path());
}

/// It awaits no more.
pub fn forget_awaiting(system: &SystemHandle, entity: ActorId) {
    system.core().registry.forget_awaiting(entity);
}
