//! Takes those who connect, one after the other, and never stops.
//!
//! Promise: neither a flood of connections nor a process without free file descriptors makes it spin or end, and the tasks
//! beside it go on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::refusals::Refusal;
use super::seldom::Seldom;
use super::turns::Turns;
use super::waiting::Waiting;
use super::{Door, Doorman};
use crate::transport::{Listener, Stream};

/// How long to wait after accepting failed the first time.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// How long to wait after accepting failed again and again.
const PAUSE_MAX: Duration = Duration::from_secs(1);

impl Door {
    /// Lets others in until it is dropped; those who are at the door then are dropped with it.
    pub(crate) async fn listen(self: Arc<Self>, mut listener: Box<dyn Listener>, doorman: Arc<dyn Doorman>) {
        let mut waiting = Waiting::new(self.limits.handshakes_at_once);
        let mut pause = Pause::default();
        let turns = Turns::default();
        let mut giving = JoinSet::new();
        giving.spawn(turns.clone().give());
        loop {
            tokio::select! {
                biased;
                () = waiting.done() => {}
                accepted = pause.then(&mut listener) => match accepted {
                    Ok((stream, from)) => {
                        pause.over();
                        let handshake = self.clone().receive(stream, from.clone(), doorman.clone());
                        self.note_crowded_out(waiting.add(from, turns.pace(handshake)));
                    }
                    Err(error) => {
                        pause.note(&error);
                        // Who waits holds what is short, most likely file descriptors. If nobody does, only time helps.
                        match waiting.end_oldest() {
                            Some(from) => {
                                self.note_crowded_out(Some(from));
                                tokio::task::yield_now().await;
                            }
                            None => pause.begin(),
                        }
                    }
                },
            }
        }
    }

    fn note_crowded_out(&self, from: Option<String>) {
        if let Some(from) = from {
            self.refusals.add(Refusal::CrowdedOut, &from, "");
        }
    }
}

/// Keeps a listener that fails from spinning.
#[derive(Default)]
struct Pause {
    length: Duration,
    until: Option<Instant>,
    log: Seldom,
}

impl Pause {
    /// Accepts once the pause is over. Cancel safe: the pause is not begun anew.
    async fn then(&self, listener: &mut Box<dyn Listener>) -> io::Result<(Box<dyn Stream>, String)> {
        if let Some(until) = self.until {
            tokio::time::sleep_until(until).await;
        }
        listener.accept().await
    }

    fn begin(&mut self) {
        self.length = (self.length * 2).clamp(PAUSE_MIN, PAUSE_MAX);
        self.until = Some(Instant::now() + self.length);
    }

    fn note(&self, error: &io::Error) {
        if let Some(left_out) = self.log.happened() {
            tracing::warn!(%error, left_out, "cannot accept connections, trying again");
        }
    }

    fn over(&mut self) {
        self.length = Duration::ZERO;
        self.until = None;
    }
}
