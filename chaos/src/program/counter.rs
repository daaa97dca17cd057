//! The actor that every node exposes: it counts what it is told, and whether the order was kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use borough::{Actor, Context, Fault, Reply};
use serde::{Deserialize, Serialize};

pub(super) const NAME: &str = "counter";
pub(super) const PATH: &str = "/counter";

/// What the counter takes.
#[derive(Serialize, Deserialize)]
pub(super) enum Note {
    /// The next of a stream of messages, from 0, with some weight.
    Add { stream: u64, number: u64, weight: Vec<u8> },
    /// Whether it is there: answered with the same number.
    Echo(u64, Reply<u64>),
}

/// What was counted, for those who look.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) received: AtomicU64,
    pub(super) out_of_order: AtomicU64,
}

pub(super) struct Counter {
    tally: Arc<Tally>,
    /// The number that comes next, by stream.
    expected: HashMap<u64, u64>,
}

impl Counter {
    pub(super) fn new(tally: Arc<Tally>) -> Self {
        Self { tally, expected: HashMap::new() }
    }
}

impl Actor for Counter {
    type Msg = Note;

    async fn receive(&mut self, note: Note, _: &mut Context<Self>) -> Result<(), Fault> {
        match note {
            Note::Add { stream, number, .. } => {
                self.tally.received.fetch_add(1, Ordering::Relaxed);
                let expected = self.expected.entry(stream).or_insert(0);
                if *expected != number {
                    self.tally.out_of_order.fetch_add(1, Ordering::Relaxed);
                }
                *expected = number + 1;
            }
            Note::Echo(number, reply) => reply.send(number),
        }
        Ok(())
    }
}
