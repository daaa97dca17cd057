//! What several tests use: an actor that records, and a bounded wait for a condition.

use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};

/// Waits until `condition` holds; panics with `what` after ten seconds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(10), async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    });
    assert!(waited.await.is_ok(), "not within ten seconds: {what}");
}

/// What may be said to a [`Recorder`].
pub(crate) enum Record {
    Note(u64),
    Notes(Reply<Vec<u64>>),
}

/// Keeps every number it is sent, in order.
#[derive(Default)]
pub(crate) struct Recorder {
    notes: Vec<u64>,
}

impl Actor for Recorder {
    type Msg = Record;
    async fn receive(&mut self, msg: Record, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Record::Note(n) => self.notes.push(n),
            Record::Notes(reply) => reply.send(self.notes.clone()),
        }
        Ok(())
    }
}
