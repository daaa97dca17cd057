//! What a resident has between its turns beside its actor: most have nothing, and then it is one empty word.

use std::collections::VecDeque;
use std::fmt;
use std::task::{self, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::annex::Summons;
use crate::ask::AskId;
use crate::context::{Extras, TimerKey};
use crate::fault::Fault;
use crate::supervision::Supervision;
use crate::watch::{StopReason, Terminated, WatchId};

/// See the module.
pub struct Belongings<M: Send + 'static>(pub(crate) Option<Box<Extras<M>>>);

impl<M: Send + 'static> Default for Belongings<M> {
    fn default() -> Self {
        Self(None)
    }
}

impl<M: Send + 'static> Belongings<M> {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn extras(&mut self) -> &mut Extras<M> {
        self.0.get_or_insert_default()
    }

    /// When the next timer is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.timers.next_deadline()
    }

    /// The message of a timer that is due. It runs user code: `make` of a timer that repeats.
    pub fn take_due(&mut self) -> Option<M> {
        let extras = self.0.as_mut()?;
        extras.timers.batch_begins(false);
        extras.timers.take_due()
    }

    /// A message was handled: the receive timeout begins anew.
    pub fn note_activity(&mut self) {
        if let Some(extras) = &mut self.0 {
            extras.timers.note_activity();
        }
    }

    /// How long to wait before a restart after this fault, which the next instance is told; `None` if it would be one too many.
    pub fn next_restart(&mut self, supervision: &Supervision) -> Option<Duration> {
        self.extras().restarts.next(supervision, Instant::now())
    }

    /// A new instance follows: its timers and watches end, what was stashed is given back, in order.
    pub fn forget_instance(&mut self) -> VecDeque<(M, Option<AskId>)> {
        let Some(extras) = &mut self.0 else { return VecDeque::new() };
        extras.end_arrangements(|| "an entity".to_owned());
        extras.annex = None;
        extras.take_stash()
    }

    /// Takes what was stashed, in order.
    pub fn take_stash(&mut self) -> VecDeque<(M, Option<AskId>)> {
        self.0.as_mut().map(|extras| extras.take_stash()).unwrap_or_default()
    }

    /// Puts messages aside that were aside elsewhere.
    pub fn restash(&mut self, messages: impl IntoIterator<Item = (M, Option<AskId>)>) {
        for (message, ask) in messages {
            self.extras().restash(message, ask);
        }
    }

    /// The timers that send once: key, time left and message. Others are made of code, which cannot be carried.
    pub fn timers(&self) -> impl Iterator<Item = (&TimerKey, Duration, &M)> {
        let now = Instant::now();
        self.0.iter().flat_map(move |extras| extras.timers.each_once(now))
    }

    /// What is stashed, in order.
    pub fn stashed(&self) -> impl Iterator<Item = (&M, Option<AskId>)> {
        self.0.iter().flat_map(|extras| extras.stashed())
    }

    /// Sets a timer that was set elsewhere.
    pub fn set_timer(&mut self, key: TimerKey, left: Duration, message: M) {
        self.extras().timers.once(key, left, message);
    }

    /// Somebody who was watched is gone: gives the message that the watch asked for, or that `terminated` is to be called. `None`: the
    /// watch was ended before.
    pub fn watch_ended(&mut self, watch: WatchId, who: Terminated) -> Option<Result<M, Terminated>> {
        self.extras().watch_ended(watch, who)
    }

    /// Whether it has a mailbox of its own.
    pub fn has_annex(&self) -> bool {
        self.0.as_ref().is_some_and(|extras| extras.annex.is_some())
    }

    /// What came by its own mailbox.
    pub fn poll_annex(&mut self, cx: &mut task::Context<'_>) -> Poll<Summons<M>> {
        match self.0.as_mut().and_then(|extras| extras.annex.as_mut()) {
            Some(annex) => annex.poll(cx),
            None => Poll::Pending,
        }
    }

    /// The resident ends for this reason: everything ends with it, but what was stashed is given back.
    pub fn close(&mut self, reason: StopReason) -> VecDeque<(M, Option<AskId>)> {
        if let Some(annex) = self.0.as_mut().and_then(|extras| extras.annex.as_mut()) {
            annex.reason = reason;
        }
        let stashed = self.forget_instance();
        self.0 = None;
        stashed
    }

    /// The fault the next instance is told of.
    pub fn set_followed(&mut self, fault: Fault) {
        self.extras().followed = Some(fault);
    }

    /// Takes that.
    pub fn take_followed(&mut self) -> Option<Fault> {
        self.0.as_mut()?.followed.take()
    }
}

impl<M: Send + 'static> fmt::Debug for Belongings<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Belongings(..)" } else { "Belongings" })
    }
}
