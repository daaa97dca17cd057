//! The driver of a machine, written once: it waits for an input or the deadline, calls the machine, has the effects performed.
//!
//! ```text
//!          +--------------------------- nothing to do ------------------------------+
//!          v                                                                        |
//! waiting --input or deadline--> inputs (a few at a time) --> deadline --> flush --+--> ended
//! ```
//! Promise: no flood of inputs holds up a deadline for longer than one round, which is a few dozen calls of the machine. What waits is read
//! before a deadline is: who was held up itself must not judge others by words it has not read.

use std::ops::ControlFlow;
use std::time::Duration;

use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::clock::Clock;

/// How many inputs are handled before the deadline is looked at.
const ROUND: usize = 64;

/// Who wakes this much later than it wanted to lets the readers of the connections run first.
const LATE: Duration = Duration::from_millis(5);

/// Does what a machine wants done.
pub(crate) trait Perform<M: Machine> {
    /// How the machine's life ended.
    type Outcome;

    /// Performs one effect; it must not wait.
    fn perform(&mut self, machine: &M, effect: M::Effect) -> ControlFlow<Self::Outcome>;

    /// A round of inputs is handled and its effects are performed: what was gathered goes out.
    fn flush(&mut self, machine: &M, now: Timestamp);
}

/// A machine and what it needs to run.
pub(crate) struct Driver<M: Machine, P> {
    pub(crate) machine: M,
    pub(crate) performer: P,
    pub(crate) clock: Clock,
    /// What the machine is told when its deadline has come.
    pub(crate) deadline: fn() -> M::Input,
}

/// The ways into a machine. Commands come before the words of others: they are few, and nobody far away can make them many.
pub(crate) struct Inputs<'a, I> {
    pub(crate) commands: &'a mut mpsc::Receiver<I>,
    pub(crate) heard: &'a mut mpsc::Receiver<Heard<I>>,
    /// What the disk says. It comes first: everything else may wait for it, and there is never more of it than was written.
    pub(crate) disk: &'a mut mpsc::UnboundedReceiver<I>,
}

/// What another said, and the room that it takes until it is handled.
#[derive(Debug)]
pub(crate) struct Heard<I> {
    pub(crate) input: I,
    _room: Option<OwnedSemaphorePermit>,
}

impl<I> Heard<I> {
    /// What takes no room worth counting.
    pub(crate) fn new(input: I) -> Self {
        Self { input, _room: None }
    }

    /// What takes that room.
    pub(crate) fn taking(room: OwnedSemaphorePermit, input: I) -> Self {
        Self { input, _room: Some(room) }
    }
}

impl<M: Machine, P: Perform<M>> Driver<M, P> {
    /// Runs the machine until its life ends, or until nobody can tell it anything any more (`None`). It begins with `effects`, those of
    /// the machine's making. Not cancel safe: what it did is done, and what was taken from the inputs is lost.
    pub(crate) async fn run(
        &mut self,
        mut effects: Effects<M::Effect>,
        inputs: Inputs<'_, M::Input>,
    ) -> Option<P::Outcome> {
        let Inputs { commands, heard, disk } = inputs;
        let begun = self.settle(&mut effects);
        self.performer.flush(&self.machine, self.clock.now());
        if let ControlFlow::Break(outcome) = begun {
            return Some(outcome);
        }
        loop {
            let due = self.machine.next_deadline();
            let first = tokio::select! {
                biased;
                Some(input) = disk.recv() => Some(input),
                command = commands.recv() => Some(command?),
                heard = heard.recv() => Some(heard?.input),
                () = self.clock.sleep_towards(due) => None,
            };
            if self.clock.now().since(due) > LATE {
                tokio::task::yield_now().await;
            }
            let (mut next, mut handled, mut ended) = (first, 0, ControlFlow::Continue(()));
            while let Some(input) = next {
                ended = self.handle(input, &mut effects);
                handled += 1;
                if ended.is_break() || handled == ROUND {
                    break;
                }
                next = disk
                    .try_recv()
                    .or_else(|_| commands.try_recv())
                    .or_else(|_| heard.try_recv().map(|heard| heard.input))
                    .ok();
            }
            if ended.is_continue() && self.machine.next_deadline() <= self.clock.now() {
                ended = self.handle((self.deadline)(), &mut effects);
            }
            self.performer.flush(&self.machine, self.clock.now());
            if let ControlFlow::Break(outcome) = ended {
                return Some(outcome);
            }
            tokio::task::yield_now().await;
        }
    }

    fn handle(&mut self, input: M::Input, effects: &mut Effects<M::Effect>) -> ControlFlow<P::Outcome> {
        self.machine.handle(self.clock.now(), input, effects);
        self.settle(effects)
    }

    /// Performs the effects.
    fn settle(&mut self, effects: &mut Effects<M::Effect>) -> ControlFlow<P::Outcome> {
        for effect in effects.drain() {
            self.performer.perform(&self.machine, effect)?;
        }
        ControlFlow::Continue(())
    }
}
