//! An entity that is more than idle: in a turn, waiting to be restarted, or with messages waiting.
//!
//! ```text
//! (vacant) --message--> Turn(Begin) --> Turn(Handle) <--> Idle --nothing waits--> (live, without this)
//!                          | fault         | fault          | passivated, stopped: Turn(End) --> Ended --something waits--> Turn(Begin)
//!                          v               v                                                        --nothing waits----> (vacant)
//!                        Rest --after the backoff--> Turn(Begin)
//! ```

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use borough_actor::resident::AskId;
use borough_actor::{Actor, Fault, StopReason, Terminated, TimerKey};

use super::table::Body;
use super::turns::{Turning, Turns};

/// See the module.
pub(super) struct Busy<A: Actor, T: Turns<A>> {
    pub(super) doing: Doing<A, T>,
    /// What waits, the next first.
    pub(super) queue: VecDeque<Waits<A::Msg>>,
    /// Its senders stand in line.
    pub(super) is_crowded: bool,
    /// It is to end because it was idle, or there are too many.
    pub(super) leaves: bool,
}

pub(super) enum Doing<A: Actor, T: Turns<A>> {
    /// Nothing.
    Idle(A),
    /// A turn that awaits something.
    Turn(Turning<A, T>),
    /// It failed, and a new instance follows after a while.
    Rest,
    /// There is no instance; the next message makes one.
    Ended,
    /// It is being looked at.
    Lent,
}

/// Something that waits for an entity.
pub(super) enum Waits<M> {
    Message(M, Option<AskId>),
    /// A message to an adapter; making one of the entity's own of it is user code.
    Adapted(Box<dyn FnOnce() -> M + Send>, Option<AskId>),
    /// The last message before it ends.
    Last(M),
    /// It came with its shard, and is to be told so.
    Arrived,
    /// It is to begin, without a message.
    Wake,
    Terminated(Terminated),
    /// Timers that came with it are set.
    Timers(Vec<(TimerKey, Duration, M)>),
    /// It fails, though in no turn of its own: a child did, or a timer.
    Fault(Fault),
    /// It is to end.
    End(StopReason),
}

impl<A: Actor, T: Turns<A>> Busy<A, T> {
    pub(super) fn new(doing: Doing<A, T>) -> Self {
        Self { doing, queue: VecDeque::new(), is_crowded: false, leaves: false }
    }
}

/// What makes a slot's entity busy, if it is not yet. Of one that is being looked at it is not known yet what it does.
pub(super) fn busy<A: Actor, T: Turns<A>>(body: &mut Body<A, T>) -> &mut Busy<A, T> {
    if !matches!(body, Body::Busy(_)) {
        let doing = match mem::replace(body, Body::Lent) {
            Body::Live(actor) => Doing::Idle(actor),
            Body::Vacant => Doing::Ended,
            Body::Lent | Body::Busy(_) => Doing::Lent,
        };
        *body = Body::Busy(Box::new(Busy::new(doing)));
    }
    match body {
        Body::Busy(busy) => busy,
        Body::Vacant | Body::Live(_) | Body::Lent => unreachable!("it was made busy"),
    }
}
