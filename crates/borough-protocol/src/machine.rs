//! The boundary between the core and the world: inputs go in, effects come out, and nothing else.

use alloc::vec::Vec;

use crate::time::Timestamp;

/// A pure state machine.
///
/// Waiting is a state of the machine, and its deadlines are its own: a driver calls [`handle`](Machine::handle) for each
/// input and once [`next_deadline`](Machine::next_deadline) has come, and performs the effects in their order. Given the
/// same inputs at the same moments it has the same effects.
pub trait Machine {
    /// What can happen to it: a closed enum that has a deadline among its variants.
    type Input;
    /// What it can want done: a closed enum.
    type Effect;

    /// Handles one input; the effects are added to the buffer, which is the caller's.
    fn handle(&mut self, now: Timestamp, input: Self::Input, effects: &mut Effects<Self::Effect>);

    /// When it wants to be called with a deadline, if nothing happens before; `NEVER` if it waits for others alone.
    fn next_deadline(&self) -> Timestamp;

    /// Checks everything that must hold between two inputs, however long it takes: for the simulator and tests.
    ///
    /// # Panics
    /// If something does not hold. A machine that found itself broken must not go on.
    fn assert_invariants(&self, now: Timestamp);
}

/// What a machine wants done, in order.
#[derive(Clone, Debug)]
pub struct Effects<E> {
    list: Vec<E>,
}

impl<E> Default for Effects<E> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<E> Effects<E> {
    /// One more effect, after those before.
    pub fn push(&mut self, effect: E) {
        self.list.push(effect);
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes them out, first come first; the buffer keeps its room.
    pub fn drain(&mut self) -> impl Iterator<Item = E> + '_ {
        self.list.drain(..)
    }
}
